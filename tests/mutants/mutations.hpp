#pragma once

#include "core/instance.hpp"
#include "core/rng.hpp"
#include "core/schedule.hpp"
#include "core/verdict.hpp"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tutti::mutants {

/// One way to break a valid schedule.
struct Mutation {
    std::string_view name;
    /// The rules that name the fault; at least one of them must be reported when the mutant is broken.
    std::vector<Rule> rules;
    /// Whether every mutant is broken; else the change may happen to do no harm.
    bool always = false;
    /// The mutant, with the makespan as it was unless the mutation is about that; none where the schedule
    /// offers no occasion.
    std::optional<Schedule> (*apply)(const Instance& instance, const Schedule& schedule, Rng& rng);
    bool about_makespan = false;
};

[[nodiscard]] std::span<const Mutation> catalogue();

}  // namespace tutti::mutants
