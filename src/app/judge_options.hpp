#pragma once

#include "core/variation.hpp"
#include "verify/plan/plan_verifier.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti::app {

/// How plans of other tools are read, judged and timed.
struct PlanOptions {
    bool operand_is_destination = false;   ///< of reducing receives
    bool copies_first = false;             ///< <copy> is executed
    std::optional<CollectiveKind> goal{};  ///< whatever the file says
    std::optional<Rank> root{};
    bool strict_dependencies = false;
    bool strict_descriptors = false;
    /// Paths: of all files, or one for each. Without any, and without a goal, the one that lies beside a plan
    /// counts if the file does not say what the plan is for.
    std::vector<std::string> conditions{};
    std::optional<plan::Target> target{};
    std::vector<std::vector<std::int32_t>> groups{};  ///< NPUs by rank: of all files, or one for each
    std::optional<std::string> topology{};
    std::optional<std::int64_t> bytes{};  ///< of the call; only with a topology
    /// Several sizes of the call, in ascending order, to time and compare plans at; in place of `bytes`.
    std::vector<std::int64_t> sizes{};
    friend bool operator==(const PlanOptions&, const PlanOptions&) = default;
};

/// The files to judge, and how.
struct JudgeOptions {
    /// An instance and its schedules, unless `instance` names it; plans of other tools; folders.
    std::vector<std::string> files{};
    std::optional<std::string> instance{};
    Variation variation{};  ///< of the instance, in place of what it says
    std::size_t max_violations = 20;
    bool expand = false;  ///< generator forms are judged send by send
    PlanOptions plan{};
    unsigned threads = 0;  ///< files at a time; 0: as many as the machine has cores
    friend bool operator==(const JudgeOptions&, const JudgeOptions&) = default;
};

}  // namespace tutti::app
