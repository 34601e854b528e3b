#pragma once

#include "core/collective.hpp"
#include "core/ticks.hpp"

#include <cstdint>
#include <optional>

namespace tutti {

/// A call of a collective as nccl-tests counts it (docs/plan-costs.md): its size is the larger of a rank's
/// two buffers, of gather and scatter the root's.

/// Largest size of a call: a thousand terabytes.
inline constexpr Bytes kMaxCallBytes{std::int64_t{1} << 50};

/// Chunks that this buffer is cut into. None for custom demands, which have no such buffer. Any content will
/// do: whether counts fit the ranks is not asked here.
[[nodiscard]] std::optional<std::uint64_t> chunks_of_call(const Collective& collective, std::size_t ranks);

/// ceil(call / chunks). Precondition: chunks >= 1. Throws InputError unless 1 <= call <= kMaxCallBytes.
[[nodiscard]] Bytes chunk_bytes(Bytes call, std::uint64_t chunks);

/// The other way round: the size of the call, where its chunks have a size.
[[nodiscard]] std::optional<Bytes> call_bytes(const Collective& collective, std::size_t ranks);

/// Bytes per time in GB/s, with ticks of 1 ps. None if no time passes.
[[nodiscard]] std::optional<double> bandwidth_GBps(Bytes call, Ticks time);
/// By what the algorithm bandwidth is multiplied to get the bus bandwidth; none where nccl-tests has no word.
[[nodiscard]] std::optional<double> bus_factor(CollectiveKind kind, std::size_t ranks);

}  // namespace tutti
