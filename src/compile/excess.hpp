#pragma once

#include "compile/msccl_lowering.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace tutti::compile {

/// A limit of a runtime that a plan does not keep.
struct Excess {
    enum class Of { Steps, Blocks, Channels, Nodes, Offset, WaitedBlock } of = Of::Steps;
    std::int64_t needed = 0, limit = 0;
    std::uint32_t rank = 0;
};

/// "the plan needs 70 steps of a thread block on rank 3; rccl has room for 64".
[[nodiscard]] std::string text_of(const Excess& excess, plan::Target target);

/// The first limit that a GPU of a plan, or a plan, does not keep. O(steps).
[[nodiscard]] std::optional<Excess> excess_of(const plan::Gpu& gpu, const MscclLimits& limits);
[[nodiscard]] std::optional<Excess> excess_of(const plan::MscclPlan& plan, const MscclLimits& limits);

}  // namespace tutti::compile
