#pragma once

#include "core/instance.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tutti {

/// What became of one collective of an instance: when it was finished, and how fast that is. Each has its own
/// bandwidths, also where collectives of several kinds and sizes share the links.
struct CollectiveResult {
    std::string id;
    CollectiveKind kind = CollectiveKind::AllGather;
    std::string group;
    std::uint64_t ranks = 0;
    Ticks release;
    Ticks finish;                          ///< the last arrival of any of its chunks; 0 if nothing is sent
    std::optional<std::uint64_t> bytes{};  ///< the size of the call (core/call.hpp); none if it has no size
    /// bytes / (finish - release), and that times nccl-tests' factor. None in abstract units, where nothing
    /// is sent, and where a call has no size or nccl-tests no factor.
    std::optional<double> algbw_GBps{}, busbw_GBps{};
    friend bool operator==(const CollectiveResult&, const CollectiveResult&) = default;
};

/// Of all collectives, in order; `finish` is Verdict::finish, of which there is one for each. `asked` is the
/// size of the calls where somebody asked for one: chunks are whole, so theirs may come to a bit more.
[[nodiscard]] std::vector<CollectiveResult> collective_results(const Instance& instance,
                                                               std::span<const Ticks> finish,
                                                               std::optional<Bytes> asked = std::nullopt);

/// The size of a call: the one that was asked for, or the instance's, where all its collectives are of one
/// kind and size.
[[nodiscard]] std::optional<Bytes> call_bytes(const Instance& instance,
                                              std::optional<Bytes> asked = std::nullopt);

/// Bandwidths of an instance as a whole, from tick 0 to its makespan.
struct Bandwidths {
    std::optional<double> algbw_GBps{};  ///< none in abstract units, or if the call has no size
    std::optional<double> busbw_GBps{};  ///< none also where kinds or numbers of ranks differ
};
[[nodiscard]] Bandwidths bandwidths_of(const Instance& instance, Ticks makespan,
                                       std::optional<Bytes> asked = std::nullopt);

}  // namespace tutti
