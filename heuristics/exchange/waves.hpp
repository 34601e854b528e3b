#pragma once

#include "core/instance.hpp"
#include "core/schedule.hpp"
#include "core/stop.hpp"

#include <optional>
#include <span>
#include <vector>

namespace tutti::heuristics {

/// One send of a wave, counted from the start of the wave.
struct WaveSend {
    LinkId link;
    Ticks offset;   ///< of its start
    Ticks arrival;  ///< also an offset
    Ticks busy;
    bool adds = false;      ///< it ends at a switch where several of the wave meet
    bool delivers = false;  ///< it ends at an NPU
};

/// Sends that belong together: what some NPUs send through switches meets there, is added, and is copied to
/// others, without waiting anywhere. All its sends have fixed offsets.
struct WavePath {
    std::vector<WaveSend> sends;
    Ticks length;  ///< from its start to its last arrival
};
struct Wave {
    std::vector<NodeId> sources, targets;
    std::vector<WavePath> paths;  ///< to choose from, shortest first
};

/// Finds waves through the switches of a network, for chunks of one size.
class WaveFinder {
  public:
    /// The instance must outlive this.
    WaveFinder(const Instance& instance, ChunkId chunk) : instance_(instance), chunk_(chunk) {}

    /// A wave from all sources to all targets, over each top switch that can be reached. The sources meet at
    /// switches that reduce, and the targets are served by switches that copy. None: there is no such tree of
    /// shortest paths. O(switches * links).
    [[nodiscard]] std::optional<Wave> find(std::span<const NodeId> sources,
                                           std::span<const NodeId> targets) const;

  private:
    struct Tree;
    [[nodiscard]] Tree paths(NodeId top, bool towards) const;
    [[nodiscard]] std::optional<WavePath> through(NodeId top, std::span<const NodeId> sources,
                                                  std::span<const NodeId> targets) const;

    const Instance& instance_;
    const ChunkId chunk_;
};

/// A wave of a chunk, and how what it brings changes what the targets have.
struct ChunkWave {
    ChunkId chunk;
    const Wave* wave;
    Op op;
};

/// Times for waves: each takes the path on which it ends first, and starts when all earlier waves of its
/// chunk that end at its sources have arrived, as soon as its links are free. Earlier waves come first in the
/// list. `in_turn`: waves are placed in the order of the list; else in order of the times at which they can
/// start. None: stopped.
[[nodiscard]] std::optional<Schedule> schedule_waves(const Instance& instance,
                                                     const std::vector<ChunkWave>& waves, bool in_turn,
                                                     const Stop& stop);

}  // namespace tutti::heuristics
