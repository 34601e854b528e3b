#pragma once

#include "plan/buffer.hpp"
#include "plan/ids.hpp"

#include <optional>
#include <string>

namespace tutti::plan {

/// A place in a plan: a GPU, a thread block, a step or operation of it, a chunk of a buffer, as far as known.
/// Small, because every op of a program has one. An operation inside a pipeline of MSCCL++ has its position
/// there in `inner`. In plans of sends between nodes the GPU is the node, and the step is the list (step,
/// link or tree) that contains the send.
struct Place {
    OptionalId<Rank> gpu{};
    OptionalId<BlockId> block{};
    OptionalId<StepId> step{}, inner{};
    OptionalId<ChunkOffset> offset{};
    std::optional<Buffer> buffer{};
    friend bool operator==(const Place&, const Place&) = default;
};
/// "gpu 3, tb 2, step 5, o[7]".
[[nodiscard]] std::string text_of(const Place& place);

}  // namespace tutti::plan
