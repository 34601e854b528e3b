#include "app/topology_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace tutti::app {
namespace {

constexpr auto kFar = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kMostSteps = std::size_t{1} << 31;

/// Hops from one node, or (with reversed links) to it, by breadth-first search.
class Hops {
  public:
    explicit Hops(const Topology& topology) : topology_(topology) { queue_.reserve(topology.nodes()); }

    const std::vector<std::uint32_t>& from(NodeId source, bool turned_round = false) {
        hops_.assign(topology_.nodes(), kFar);
        hops_[source.index()] = 0;
        queue_.assign(1, source);
        for (std::size_t next = 0; next < queue_.size(); ++next) {
            const NodeId node = queue_[next];
            for (const LinkId link : turned_round ? topology_.in_links(node) : topology_.out_links(node)) {
                const NodeId other = turned_round ? topology_.link(link).src : topology_.link(link).dst;
                if (hops_[other.index()] != kFar) continue;
                hops_[other.index()] = hops_[node.index()] + 1;
                queue_.push_back(other);
            }
        }
        return hops_;
    }

  private:
    const Topology& topology_;
    std::vector<std::uint32_t> hops_;
    std::vector<NodeId> queue_;
};

std::string unreachable_npu(const Topology& topology, Hops& hops) {
    for (const bool turned_round : {false, true}) {
        const auto& from_first = hops.from(NodeId(0), turned_round);
        const auto end = from_first.begin() + topology.npus();
        const auto far = std::find(from_first.begin(), end, kFar);
        if (far == end) continue;
        const auto npu = far - from_first.begin();
        return turned_round ? fmt::format("NPU 0 cannot be reached from NPU {}", npu)
                            : fmt::format("NPU {} cannot be reached from NPU 0", npu);
    }
    return {};
}

}  // namespace

TopologyFacts facts_of(const Topology& topology) {
    TopologyFacts facts;
    const std::size_t none = topology.links().size() + 1;
    facts.out_degree = facts.in_degree = {none, 0};
    const auto widen = [](auto& range, std::size_t degree) {
        range = {std::min(range.first, degree), std::max(range.second, degree)};
    };
    for (std::size_t npu = 0; npu < topology.npus(); ++npu) {
        widen(facts.out_degree, topology.out_links(NodeId(npu)).size());
        widen(facts.in_degree, topology.in_links(NodeId(npu)).size());
    }
    Hops hops(topology);
    facts.unreachable = unreachable_npu(topology, hops);
    const std::size_t steps = topology.npus() * (topology.links().size() + topology.nodes());
    if (!facts.unreachable.empty() || steps > kMostSteps) return facts;
    std::uint32_t diameter = 0;
    for (std::size_t npu = 0; npu < topology.npus(); ++npu) {
        const auto& reached = hops.from(NodeId(npu));
        diameter = std::max(diameter, *std::max_element(reached.begin(), reached.begin() + topology.npus()));
    }
    facts.diameter = diameter;
    return facts;
}

}  // namespace tutti::app
