#pragma once

#include "core/instance.hpp"
#include "core/schedule.hpp"
#include "plan/chakra_trace.hpp"

namespace tutti::compile {

/// The schedule as one Chakra trace per NPU: messages from NPU to NPU (switches that forward are folded away)
/// that wait for what they pass on and keep their order on a link. Throws InputError where a chunk has no
/// size, a switch copies or reduces, or a release cannot be said in time. Precondition: the schedule is
/// valid. O(sends log sends + dependencies).
[[nodiscard]] plan::ChakraTraces lower_to_chakra(const Instance& instance, const Schedule& schedule);

}  // namespace tutti::compile
