#pragma once

#include "app/bench_plan.hpp"
#include "run/executable.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tutti::app {

/// What is timed in turns: the first is the yardstick.
struct Contender {
    std::string name{};
    std::function<double()> call{};  ///< microseconds of one call
};

/// Rounds in which all contenders are called equally often, one after the other; each round gives a ratio.
/// `calls`: in a round, the same in all processes. Fills yardstick_us and variants.
void run_rounds(const std::vector<Contender>& contenders, std::uint32_t rounds, std::uint32_t calls,
                bool own_over_yardstick, const std::function<void()>& check, BenchRow& row);

/// Calls of so many microseconds that make a round long enough to be measured.
[[nodiscard]] std::uint32_t calls_in_round(double microseconds);

/// Elements of a share in a call of so many bytes of a rank's larger buffer.
[[nodiscard]] std::int64_t count_for(const run::Executable& executable, std::int64_t bytes, std::size_t size);

/// What a call may take.
struct Room {
    std::uint64_t free = 0;  ///< bytes; a part is left so that the machine does not begin to swap
    std::size_t times = 1;   ///< how often all memories of the call are there
};
/// Throws LimitError if a call does not fit.
void expect_room(const std::string& file, const run::Executable& executable, std::int64_t count,
                 run::ElementType type, const Room& room);

}  // namespace tutti::app
