#pragma once

#include "compile/messages.hpp"

#include <cstdint>
#include <vector>

namespace tutti::compile {

/// A message as it goes into a step.
struct StepMessage {
    Message message{};
    bool sums = false;      ///< its chunk is a reduction
    bool replaces = false;  ///< the destination has a value, which it replaces
    std::uint32_t step = 0;
};

/// Puts messages into steps: in a step all read what was there before it, and arrive at its end. Each gets a
/// step in which it reads exactly what it read in the schedule. Messages must be in order of start; steps are
/// 0, 1, … without gaps. With `one_by_one` no two contributions arrive at one node's sum in one step. Throws
/// InputError where no steps do that: when sums on their way overtake each other. O(messages log messages), a
/// few times.
void put_into_steps(std::vector<StepMessage>& messages, bool one_by_one);

}  // namespace tutti::compile
