#pragma once

#include "plan/msccl_plan.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::compile {

/// The passes of the compiler from programs to MSCCL plans, in their order, as `--dump-after` names them.
enum class Pass { Trace, Clock, Lanes, Blocks, Order, Sums, Channels, Steps, Replicate };
/// "trace", "clock", …: all names, in the order of the enumeration.
[[nodiscard]] std::vector<std::string_view> pass_names();

/// What there is after a pass: text, or for the last two and with `dot` unset the plan.
struct PassDump {
    std::string text{};
    std::optional<plan::MscclPlan> plan{};
};

}  // namespace tutti::compile
