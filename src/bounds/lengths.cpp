// The multicommodity bound without a solver. Give every link a length. Each chunk's way to its most expensive
// receiver costs at least the shortest length, and by T a link has room for so many sends only; so the
// lengths of all ways together are at most the sum of length times room. Any lengths prove something, and the
// best (linear programming duality) prove as much as a fractional routing of the most expensive paths can.
//
// They are found by multiplicative weights (Garg and Koenemann 1998, but all demands are routed at once in
// each phase): route everything over shortest paths, make links longer the more all phases so far have loaded
// them, and repeat. The lengths are rounded to integers, and what they prove is computed from the integers;
// the best phase is kept. The first phase has every link as long as it is slow, which is best already on
// symmetric networks.
//
// Complexity: a phase takes a shortest-path tree per different set of holders (of a reduction: per receiver).

#include "bounds/families.hpp"
#include "bounds/link_window.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>

namespace tutti::bounds {
namespace {

constexpr std::size_t kMostRelaxing = 30'000'000;         ///< links relaxed
constexpr std::size_t kMostRelaxingForTrees = 5'000'000;  ///< they seldom prove much there
constexpr int kMostPhases = 100;
constexpr int kPhasesForTrees = 8;  ///< where chunks have many receivers, only one of which counts
constexpr double kLongest = 1e6;

/// Shortest paths by length, and what is routed over them.
class Router {
  public:
    Router(const Topology& topology, const std::vector<std::int64_t>& length)
        : topology_(topology), length_(length) {}

    /// Trees from the set (forwards), or to it.
    void grow(const Passage& passage, std::span<const NodeId> set, Direction direction) {
        direction_ = direction;
        distance.assign(topology_.nodes(), kFar);
        via_.assign(topology_.nodes(), kNoLink);
        flow_.assign(topology_.nodes(), 0);
        order_.clear();
        for (const NodeId node : set) {
            distance[node.index()] = 0;
            queue_.emplace(0, node.value());
        }
        while (!queue_.empty()) {
            const auto [far, n] = queue_.top();
            queue_.pop();
            if (far != distance[n] || (!order_.empty() && order_.back() == n)) continue;
            order_.push_back(n);
            const NodeId node(n);
            for (const LinkId id :
                 direction == Direction::Forwards ? topology_.out_links(node) : topology_.in_links(node)) {
                const NodeId to = other_end(id, true);
                const std::int64_t reached = far + length_[id.index()];
                if (reached >= distance[to.index()] || !passage.admits(to)) continue;
                distance[to.index()] = reached;
                via_[to.index()] = id.value();
                queue_.emplace(reached, to.value());
            }
        }
    }

    void route(NodeId node, double chunks) { flow_[node.index()] += chunks; }

    /// Adds what was routed since grow() to the loads of the links.
    void unload(std::vector<double>& load) {
        for (std::size_t i = order_.size(); i-- > 0;) {
            const std::uint32_t node = order_[i];
            if (flow_[node] == 0 || via_[node] == kNoLink) continue;
            load[via_[node]] += flow_[node];
            flow_[other_end(LinkId(via_[node]), false).index()] += flow_[node];
            flow_[node] = 0;
        }
    }

    std::vector<std::int64_t> distance;
    static constexpr std::int64_t kFar = INT64_MAX / 4;

  private:
    static constexpr std::uint32_t kNoLink = UINT32_MAX;
    [[nodiscard]] NodeId other_end(LinkId id, bool outer) const {
        const bool dst = (direction_ == Direction::Forwards) == outer;
        return dst ? topology_.link(id).dst : topology_.link(id).src;
    }

    const Topology& topology_;
    const std::vector<std::int64_t>& length_;
    Direction direction_ = Direction::Forwards;
    std::vector<std::uint32_t> via_, order_;
    std::vector<double> flow_;
    using Entry = std::pair<std::int64_t, std::uint32_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
};

std::vector<std::int64_t> in_lowest_terms(std::vector<std::int64_t> lengths) {
    std::int64_t divisor = 0;
    for (const std::int64_t length : lengths) divisor = std::gcd(divisor, length);
    for (std::int64_t& length : lengths) length /= std::max<std::int64_t>(divisor, 1);
    return lengths;
}

class Lengths {
  public:
    Lengths(Traffic& traffic, const Stop& stop)
        : traffic_(traffic), effort_(kMostRelaxing, stop), windows_(rooms_of_all_links(traffic)) {
        bool trees = false;
        for (const ChunkClass& c : traffic.classes()) {
            const Demand demand = traffic.demand(c);
            trees = trees || demand.receivers.size() > 1 || (demand.reduction && demand.holders.size() > 1);
        }
        phases_ = trees ? kPhasesForTrees : kMostPhases;
        if (trees) effort_ = Effort(kMostRelaxingForTrees, stop);
    }

    Bound run() {
        Bound best{"flow", Ticks(0), {}, 0};
        const std::size_t links = windows_.size();
        std::vector<double> total(links, 0), ideal(links);
        for (int phase = 0; phase < phases_; ++phase) {
            const double worst = std::max(*std::ranges::max_element(total), 1e-300);
            // Early phases have seen little, so they must not tell links apart too sharply.
            const double sharpness = phase == 0 ? 0 : 2 + 30.0 * phase / kMostPhases;
            for (std::size_t l = 0; l < links; ++l) {
                ideal[l] = busy(l) * std::exp(sharpness * (total[l] / worst - 1));
            }
            const double longest = *std::ranges::max_element(ideal);
            length_.resize(links);
            for (std::size_t l = 0; l < links; ++l) {
                length_[l] = std::max<std::int64_t>(1, std::llround(ideal[l] / longest * kLongest));
            }
            std::vector<double> load(links, 0);
            const auto dear = route_all(load);
            if (!dear) break;
            if (*dear == 0) break;
            for (std::size_t l = 0; l < links; ++l) {
                windows_[l].weight = length_[l];
                total[l] += load[l] * busy(l);
            }
            if (enough(windows_, *dear, best.value)) continue;
            const auto end = least_end(windows_, *dear);
            if (end) best = {"flow", *end, LengthsCertificate{in_lowest_terms(length_)}, 0};
        }
        return best;
    }

  private:
    [[nodiscard]] double busy(std::size_t link) const {
        return static_cast<double>(windows_[link].busy.count());
    }

    /// The sum of all chunks' most expensive shortest paths; none when the effort has ended.
    std::optional<Wide> route_all(std::vector<double>& load) {
        Router router(traffic_.topology(), length_);
        Wide dear = 0;
        const ChunkClass* last = nullptr;  // whose holders' tree the router holds
        for (const ChunkClass& c : traffic_.classes()) {
            const Demand demand = traffic_.demand(c);
            if (!effort_.spend(demand.receivers.size())) return std::nullopt;
            if (demand.reduction) {
                router.unload(load);
                last = nullptr;
                const auto length = route_reduction(c, demand, router, load);
                if (!length) return std::nullopt;
                dear += *length;
                continue;
            }
            if (last == nullptr || last->passage != c.passage ||
                traffic_.demand(*last).holders.data() != demand.holders.data()) {
                if (!effort_.spend(length_.size())) return std::nullopt;
                router.unload(load);
                router.grow(traffic_.passage(c), demand.holders, Direction::Forwards);
            }
            last = &c;
            NodeId farthest = demand.receivers.front();
            for (const NodeId receiver : demand.receivers) {
                if (router.distance[receiver.index()] > router.distance[farthest.index()])
                    farthest = receiver;
            }
            dear += Wide{router.distance[farthest.index()]} * Wide{c.count};
            router.route(farthest, static_cast<double>(c.count));
        }
        router.unload(load);
        return dear;
    }

    std::optional<Wide> route_reduction(const ChunkClass& c, const Demand& demand, Router& router,
                                        std::vector<double>& load) {
        std::int64_t most = -1;
        for (const NodeId receiver : demand.receivers) {
            if (!effort_.spend(length_.size() + demand.holders.size())) return std::nullopt;
            router.grow(traffic_.passage(c), std::span(&receiver, 1), Direction::Backwards);
            NodeId farthest = demand.holders.front();
            for (const NodeId holder : demand.holders) {
                if (router.distance[holder.index()] > router.distance[farthest.index()]) farthest = holder;
            }
            most = std::max(most, router.distance[farthest.index()]);
            router.route(farthest, static_cast<double>(c.count));
            router.unload(load);
        }
        return Wide{most} * Wide{c.count};
    }

    Traffic& traffic_;
    Effort effort_;
    std::vector<LinkWindow> windows_;
    int phases_ = 0;
    std::vector<std::int64_t> length_;
};

}  // namespace

Bound lengths(Traffic& traffic, const Stop& stop) {
    if (traffic.classes().empty() || traffic.topology().links().empty()) return {"flow", Ticks(0), {}, 0};
    return Lengths(traffic, stop).run();
}

}  // namespace tutti::bounds
