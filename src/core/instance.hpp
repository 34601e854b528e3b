#pragma once

#include "core/collective.hpp"
#include "core/demand.hpp"
#include "core/topology.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti {

/// The parts of an instance as given by a user. Instance's constructor checks them.
struct InstanceParts {
    std::string name;
    TopologyParts topology;
    std::vector<Group> groups;
    std::vector<Collective> collectives;
};

/// A topology, process groups and collectives, and the demands that follow from them. Validated once, then
/// immutable.
class Instance {
  public:
    /// Throws InputError whose place is a JSON path into the instance ("/groups/tp0/2",
    /// "/collectives/1/root").
    explicit Instance(InstanceParts parts);

    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] const Topology& topology() const { return topology_; }
    [[nodiscard]] const std::vector<Group>& groups() const { return groups_; }
    [[nodiscard]] const std::vector<Collective>& collectives() const { return collectives_; }
    [[nodiscard]] const Collective& collective(CollectiveId id) const { return collectives_[id.index()]; }
    [[nodiscard]] const Collective& collective_of(ChunkId chunk) const {
        return collective(demands_.collective(chunk));
    }
    [[nodiscard]] const Group& group_of(ChunkId chunk) const {
        return groups_[collective_of(chunk).group.index()];
    }

    [[nodiscard]] std::size_t chunks() const { return demands_.size(); }
    [[nodiscard]] Demand demand(ChunkId chunk) const { return demands_[chunk]; }
    [[nodiscard]] const DemandList& demands() const { return demands_; }

    /// When the first holder of a chunk may send it (of a reduction: its contribution), and when the last.
    [[nodiscard]] Ticks release(ChunkId chunk) const {
        return first_release_.empty() ? collective_of(chunk).release
                                      : first_release_[demands_.holder_set(chunk)];
    }
    [[nodiscard]] Ticks last_release(ChunkId chunk) const {
        return last_release_.empty() ? collective_of(chunk).release
                                     : last_release_[demands_.holder_set(chunk)];
    }
    /// When this holder may. Precondition: it is one. O(log ranks) where releases differ.
    [[nodiscard]] Ticks release(ChunkId chunk, NodeId holder) const {
        return is_staggered(chunk) ? release_of(demands_.collective(chunk), holder) : release(chunk);
    }
    /// Whether the holders of the chunk have different releases.
    [[nodiscard]] bool is_staggered(ChunkId chunk) const { return release(chunk) != last_release(chunk); }
    /// When a member of the collective's group may send what it holds or contributes.
    [[nodiscard]] Ticks release_of(CollectiveId collective, NodeId member) const;
    /// Whether the forwarding rule lets this node hold chunks of this collective.
    [[nodiscard]] bool may_carry(NodeId node, CollectiveId collective) const {
        return carriers_[collective.index()].empty() || carriers_[collective.index()][node.index()];
    }

    [[nodiscard]] Ticks alpha(LinkId link) const { return topology_.link(link).wire.alpha; }
    [[nodiscard]] Ticks beta(LinkId link, ChunkId chunk) const {
        const std::size_t size = demands_.size_class(chunk);
        return betas_.empty() ? topology_.beta(link, demands_.sizes()[size])
                              : betas_[size * topology_.links().size() + link.index()];
    }
    /// How long a transfer of that beta keeps the link busy.
    [[nodiscard]] Ticks busy(LinkId link, Ticks beta) const {
        return topology_.busy() == Busy::Beta ? beta : alpha(link) + beta;
    }

  private:
    void set_up_releases();

    std::string name_;
    Topology topology_;
    std::vector<Group> groups_;
    std::vector<Collective> collectives_;
    DemandList demands_;
    std::vector<Ticks> betas_;  ///< per size and link; empty where that would take too much memory
    /// Per collective with different releases: those of its members, in order of NPU. Per set of holders the
    /// first and the last of them. All empty where no collective has different ones.
    std::vector<std::vector<std::pair<NodeId, Ticks>>> member_releases_;
    std::vector<Ticks> first_release_, last_release_;
    std::vector<std::vector<bool>> carriers_;  ///< per collective; empty where everybody may carry
};

/// The predefined group: every NPU, in order.
inline constexpr std::string_view kAllGroup = "all";

}  // namespace tutti
