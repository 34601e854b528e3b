#pragma once

#include "plan/ids.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tutti::plan {

/// A schedule of TE-CCL as its JSON has it (docs/step-formats.md): flows of chunks over links in epochs, and
/// for each demand its paths. Nodes are numbered as in the file: switches have numbers too, so those of GPUs
/// may have gaps. A chunk is identified by its origin node and its number there.

/// A share of a chunk in units of 10^-18; whole chunks are kWholeVolume.
using Volume = std::int64_t;
inline constexpr Volume kWholeVolume = 1'000'000'000'000'000'000;
/// TE-CCL rounds volumes to six decimals, so each may be off by one unit of the sixth; and it omits parts of
/// up to 0.00001.
inline constexpr Volume kVolumeTolerance = kWholeVolume / 1'000'000;
inline constexpr Volume kVolumeLeftOut = kWholeVolume / 100'000;

struct EpochHop {
    PlanNode from{}, to{};
    std::int64_t epoch = 0;
    Volume volume = kWholeVolume;
    std::vector<PlanNode> switches{};  ///< passed on the way
    friend bool operator==(const EpochHop&, const EpochHop&) = default;
    friend auto operator<=>(const EpochHop&, const EpochHop&) = default;
};

struct EpochFlow {
    PlanNode origin{};
    std::int64_t chunk = 0;
    EpochHop hop{};
    friend bool operator==(const EpochFlow&, const EpochFlow&) = default;
    friend auto operator<=>(const EpochFlow&, const EpochFlow&) = default;
};

struct EpochDemand {
    PlanNode node{}, origin{};
    std::int64_t chunk = 0;
    std::optional<std::int64_t> met{};           ///< by the end of that epoch, as stated
    std::vector<std::vector<EpochHop>> paths{};  ///< their volumes should sum to one chunk
    friend bool operator==(const EpochDemand&, const EpochDemand&) = default;
};

struct EpochSchedule {
    std::optional<double> epoch_duration{}, finish_time{};  ///< seconds, or what the producer took as such
    std::optional<std::int64_t> epochs{};                   ///< as stated
    std::vector<EpochFlow> flows{};
    std::vector<EpochDemand> demands{};  ///< of "Chunk paths", in the file's order
    /// Of "Demand_Met", which only all-gathers have: node, origin and chunk, without paths.
    std::optional<std::vector<EpochDemand>> all_gathered{};
    bool has_paths = false;
    friend bool operator==(const EpochSchedule&, const EpochSchedule&) = default;
};

/// Whether a volume is one chunk, as far as TE-CCL's rounding tells.
[[nodiscard]] bool is_whole(Volume volume);
/// The demands of "6-Demand_Met"; none where the file has none.
[[nodiscard]] std::span<const EpochDemand> gathered(const EpochSchedule& schedule);
/// The ranks of the collective: the nodes that own or demand chunks, ascending.
[[nodiscard]] std::vector<PlanNode> ranks_of(const EpochSchedule& schedule);

}  // namespace tutti::plan
