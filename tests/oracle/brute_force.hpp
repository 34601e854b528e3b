#pragma once

#include "core/instance.hpp"
#include "core/schedule.hpp"

#include <cstdint>
#include <optional>

namespace tutti::oracle {

enum class BruteForceAnswer {
    Found,       ///< `optimum` and `schedule` are given
    NoSchedule,  ///< no schedule has a makespan <= at_most
    WorkLimit    ///< not known; no schedule has a makespan < proven
};

/// Whether to leave out what some best schedule never does (D2 to D5 in brute_force.cpp). Without, far
/// smaller instances are in reach; tests compare the two.
enum class Shortcuts { None, All };

struct BruteForceResult {
    BruteForceAnswer answer = BruteForceAnswer::WorkLimit;
    std::optional<Ticks> optimum;  ///< the least makespan of any valid schedule
    Schedule schedule;             ///< one of that makespan
    Ticks proven;                  ///< no schedule has a smaller makespan
    std::uint64_t work = 0;        ///< visited states
};

/// The least makespan of any schedule that src/verify/README.md calls valid, by trying everything. For TINY
/// instances: every tick up to the optimum is played. Stops after `work_limit` visited states (some
/// microseconds each).
/// Preconditions: at most 16 holders per reduction, and no circle of cut-through switches whose links all
/// have alpha 0 (such a circle has no first send).
[[nodiscard]] BruteForceResult brute_force_optimum(const Instance& instance, Ticks at_most,
                                                   std::uint64_t work_limit,
                                                   Shortcuts shortcuts = Shortcuts::All);

}  // namespace tutti::oracle
