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
using EpochChunkName = std::pair<plan::PlanNode, std::int64_t>;

struct EpochChunk {
    bool split = false;                   ///< some flow or path carries less than all of it
    std::set<plan::PlanNode> demanded{};  ///< by these nodes, in dense numbers
};

/// The nodes and chunks that a schedule of TE-CCL names. Nodes get dense numbers; those that own or demand
/// chunks are the ranks of the collective.
class EpochChunks {
  public:
    explicit EpochChunks(const plan::EpochSchedule& schedule);

    [[nodiscard]] const std::vector<plan::PlanNode>& numbers() const { return numbers_; }
    [[nodiscard]] const std::vector<plan::PlanNode>& ranks() const { return ranks_; }
    [[nodiscard]] const std::map<EpochChunkName, EpochChunk>& chunks() const { return chunks_; }
    /// Precondition: the schedule names the node.
    [[nodiscard]] plan::PlanNode dense(plan::PlanNode node) const;
    [[nodiscard]] EpochChunkName name(plan::PlanNode origin, std::int64_t chunk) const {
        return {dense(origin), chunk};
    }
    [[nodiscard]] plan::PlanNode number(plan::PlanNode dense) const { return numbers_[dense.index()]; }
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

    std::vector<plan::PlanNode> numbers_;  ///< sorted: a node's dense number is its place here
    std::vector<plan::PlanNode> ranks_;    ///< dense numbers, sorted
    std::map<EpochChunkName, EpochChunk> chunks_;
};

}  // namespace tutti::verify
