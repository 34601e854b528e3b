#pragma once

#include "core/collective.hpp"
#include "plan/epoch_schedule.hpp"
#include "verify/plan/send_goal.hpp"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tutti::verify {

/// A chunk by its origin (a dense number) and its number there.
using EpochChunkName = std::pair<std::int32_t, std::int64_t>;

struct EpochChunk {
    bool split = false;                 ///< some flow or path carries less than all of it
    std::set<std::int32_t> demanded{};  ///< by these nodes, in dense numbers
};

/// The nodes and chunks that a schedule of TE-CCL names. Nodes get dense numbers; those that own or demand
/// chunks are the ranks of the collective.
class EpochChunks {
  public:
    explicit EpochChunks(const plan::EpochSchedule& schedule);

    [[nodiscard]] const std::vector<std::int32_t>& numbers() const { return numbers_; }
    [[nodiscard]] const std::vector<std::int32_t>& ranks() const { return ranks_; }
    [[nodiscard]] const std::map<EpochChunkName, EpochChunk>& chunks() const { return chunks_; }
    /// Precondition: the schedule names the node.
    [[nodiscard]] std::int32_t dense(std::int32_t node) const;
    [[nodiscard]] EpochChunkName name(std::int32_t origin, std::int64_t chunk) const {
        return {dense(origin), chunk};
    }
    [[nodiscard]] std::int32_t number(std::int32_t dense) const {
        return numbers_[static_cast<std::size_t>(dense)];
    }
    /// "chunk 0 of node 12".
    [[nodiscard]] std::string words(const EpochChunkName& chunk) const;

    /// The collective that the demands form, among the ranks.
    [[nodiscard]] ChunkShape shape() const;
    /// Every rank demands every chunk. False, with nothing changed, if those are too many.
    [[nodiscard]] bool demand_all();
    /// Why the demands are no all-to-all.
    [[nodiscard]] std::string missing_pair() const;

  private:
    void number_nodes(const plan::EpochSchedule& schedule);

    std::vector<std::int32_t> numbers_;  ///< sorted: a node's dense number is its place here
    std::vector<std::int32_t> ranks_;    ///< dense numbers, sorted
    std::map<EpochChunkName, EpochChunk> chunks_;
};

}  // namespace tutti::verify
