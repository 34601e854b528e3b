#pragma once

#include "core/collective.hpp"
#include "core/rng.hpp"
#include "plan/msccl_plan.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace tutti::test {

struct Spot {
    std::int32_t gpu = 0;
    plan::Buffer buffer = plan::Buffer::Input;
    std::int32_t offset = 0;
    friend bool operator==(const Spot&, const Spot&) = default;
};

/// to = from, or to = operand + from, for `count` consecutive chunks; the operand is on the gpu of `to`.
struct ChunkOp {
    Spot from{}, to{};
    std::int32_t count = 1;
    std::optional<Spot> operand{};
};

/// A collective algorithm in the order in which one would write it down; every operation sees all that came
/// before it.
struct ChunkProgram {
    CollectiveKind goal = CollectiveKind::Custom;
    std::int32_t ranks = 2, chunks = 1;  ///< ngpus, nchunksperloop
    std::int32_t root = 0;
    bool in_place = false, out_of_place = true;
    std::int32_t input = 1, output = 1, scratch = 0;  ///< declared, of every gpu
    std::vector<ChunkOp> ops{};
};

/// A small known algorithm (direct, chain, ring, through scratch) for any collective, in or out of place,
/// right in at least the mode that it says; or, for CollectiveKind::Custom, any operations at all.
[[nodiscard]] ChunkProgram random_chunk_program(Rng& rng);

/// Operations without sense under any label.
[[nodiscard]] ChunkProgram senseless_program(Rng& rng);

struct LoweringOptions {
    int max_channels = 2;
    /// Leave out a needed dependency with this chance, in percent.
    int lose_dependency = 0;
};

/// Thread blocks, steps and the dependencies that keep the order of the operations where they conflict: as
/// few as happens-before asks for, or more. Adjacent receives and sends are fused, here and there.
[[nodiscard]] plan::MscclPlan lowered(const ChunkProgram& program, Rng& rng,
                                      const LoweringOptions& options = {});

}  // namespace tutti::test
