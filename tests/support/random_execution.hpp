#pragma once

#include "tests/support/execution_builder.hpp"

#include <cstdint>
#include <string>

namespace tutti::test {

struct RandomExecution {
    ExecutionBuilder plan;
    std::string text;  ///< the plan, line by line, to be pasted into a test
    /// Several thread blocks raise a counter, or lower one: an order may be missed there, never invented.
    bool shared_counters = false;
};

/// A tiny out-of-place execution plan of one or two gpus and two or three thread blocks. Most of them can run
/// to their end in one order at least; whether in all of them, and with races or not, is for others to find
/// out.
[[nodiscard]] RandomExecution random_execution(std::uint64_t seed);

}  // namespace tutti::test
