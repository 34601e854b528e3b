#pragma once

#include "core/instance.hpp"
#include "io/result_jsonl.hpp"

#include <cstdint>
#include <optional>

namespace tutti::batch {

/// The chunks that the buffer is cut into whose size is the size of a call, as nccl-tests has it
/// (docs/plan-costs.md): the larger of a rank's two buffers, of gather and scatter the root's. None for
/// custom demands, which have no such buffer.
[[nodiscard]] std::optional<std::uint64_t> chunks_of_call(const Collective& collective, std::size_t ranks);

/// The size of a call, where all collectives are of one kind and size and say how large their chunks are.
[[nodiscard]] std::optional<std::uint64_t> bytes_of_call(const Instance& instance);

/// Enters the instance in numbers: collective, npus, …, bytes.
void enter(io::ResultLine& line, const Instance& instance);

/// Enters algbw and busbw, where the line has bytes and a makespan, and ticks are of 1 ps.
void enter_bandwidths(io::ResultLine& line);

}  // namespace tutti::batch
