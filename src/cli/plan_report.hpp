#pragma once

#include "app/plan_judge.hpp"
#include "cli/exit_code.hpp"
#include "cli/streams.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace tutti::cli {

/// "VALID-IF-BUFFERED" in its colour.
[[nodiscard]] text::SafeText verdict_word(plan::PlanClass verdict, bool colours);

/// What the text of a plan needs besides the verdict.
struct PlanView {
    std::span<const std::int32_t> group{};  ///< places name the NPU of each rank too
    const Topology* topology = nullptr;     ///< there where costs are
    bool colours = false;
};

/// One judged file as text: verdict, facts, cost, violations, warnings.
[[nodiscard]] text::SafeText plan_page(const app::JudgedPlan& judged, const PlanView& view);
/// The same as one line of JSON, with its newline.
[[nodiscard]] text::SafeText plan_line(const app::JudgedPlan& judged, const PlanView& view);

/// Why the verdict is what it is, in a few words, and by which condition; empty for other valid plans.
[[nodiscard]] std::string reason_of(const app::JudgedPlan& judged);

/// 0 if acceptable, 1 if invalid, 2 if malformed.
[[nodiscard]] ExitCode exit_code_of(const plan::PlanVerdict& verdict);

/// How many files had which verdict.
class PlanTally {
  public:
    void add(const app::JudgedPlan& judged);
    [[nodiscard]] std::uint64_t judged() const;
    [[nodiscard]] std::uint64_t skipped() const { return skipped_; }
    /// Invalid or malformed.
    [[nodiscard]] std::uint64_t wrong() const;
    /// "3 files: 1 valid, 2 invalid; 4 skipped".
    [[nodiscard]] std::string text() const;

  private:
    std::array<std::uint64_t, 5> verdicts_{};
    std::uint64_t skipped_ = 0;
};

}  // namespace tutti::cli
