#pragma once

#include "app/condition_file.hpp"
#include "app/judge_options.hpp"
#include "app/plan_cost.hpp"
#include "app/plan_kinds.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tutti::verify {
struct JudgedProgram;
}

namespace tutti::app {

/// What a plan takes at one of several sizes of the call.
struct SizedCost {
    Bytes bytes{};
    std::optional<PlanCost> cost{};
    std::string not_timed{};  ///< why it has no cost
};

/// The result for one file.
struct JudgedPlan {
    std::string file{};
    plan::PlanVerdict verdict{};
    std::string place{};            ///< of what is malformed: "line:column" or a JSON path
    std::string skipped{};          ///< what it is if it is no plan at all, then nothing was judged
    std::optional<AnyPlan> plan{};  ///< where it was read and asked for
    std::optional<PlanCost> cost{};
    std::string not_timed{};         ///< why it has no cost, where that was asked for
    std::vector<SizedCost> sizes{};  ///< where several sizes were asked for: one for each
    /// The collective as which the plan is valid, if it is invalid as the one it names, or names none.
    std::optional<CollectiveKind> right_as{};
    NamedCondition condition{};  ///< by which it was judged
};

/// Reads and judges files of one call. Errors in a file are in its verdict; only bugs and limits are thrown.
class PlanJudge {
  public:
    enum class OtherFiles {
        Malformed,  ///< the user named the file, so it should have been a plan
        Skipped     ///< it lay in a folder
    };
    /// Reads the conditions that the options name: throws InputError.
    PlanJudge(const JudgeOptions& options, OtherFiles other_files, bool keep_plans);

    /// `position` is that of the file among all, which says which condition is its own. Thread-safe. Throws
    /// LimitError when stopped while the file is read.
    [[nodiscard]] JudgedPlan judge(const std::string& file, std::size_t position,
                                   const Stop& stop = {}) const;

    /// What it was judged as, for who executes it; empty for kinds of plans without thread blocks. The
    /// programs refer to the judged plan's condition. Precondition: it was kept.
    [[nodiscard]] std::vector<verify::JudgedProgram> programs_of(const JudgedPlan& judged) const;

  private:
    [[nodiscard]] JudgedPlan judge_plan(const std::string& file, const AnyPlan& plan,
                                        std::size_t position) const;
    void judge_by_condition_beside(JudgedPlan& judged, const AnyPlan& plan) const;

    [[nodiscard]] JudgedPlan judge_other_file(const std::string& file, io::Source& source,
                                              const Sniffed& sniffed) const;

    [[nodiscard]] std::optional<CollectiveKind> right_as(const AnyPlan& plan, const JudgedPlan& judged) const;

    verify::PlanReading reading_;  ///< without a condition
    std::vector<NamedCondition> conditions_{};
    OtherFiles other_files_;
    bool keep_plans_;
};

}  // namespace tutti::app
