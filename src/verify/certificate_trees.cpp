// Trees: links have lengths per busy tick, every chunk pays for the messages that it needs, and link e cannot
// be busy for longer than its window.
//
// What a chunk needs. A message leads from one NPU to the next, through switches only; without switches that
// copy or add, it has its transfers to itself. Join the NPUs between which a message costs less than x: every
// component with a receiver and no holder of a plain chunk is entered by a message of cost x or more. For a
// reduction, look at the component that is the first to know all contributions: every other one with a
// holder has sent a message before, every other one with a receiver gets one after. Added up over all x, that
// is a sum over the merges of Kruskal's algorithm. A chunk from one NPU to one other pays the cheapest chain
// of messages, whatever switches do.

#include "core/expects.hpp"
#include "verify/certificate_checks.hpp"
#include "verify/certificate_segments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace tutti::verify {
namespace {

/// Which components of NPUs have a holder, or a receiver, of a chunk.
class Components {
  public:
    Components(std::size_t npus, const Demand& demand)
        : reduction_(demand.reduction), parent_(npus), holder_(npus, 0), receiver_(npus, 0) {
        std::iota(parent_.begin(), parent_.end(), std::size_t{0});
        for (const NodeId node : demand.holders) holder_[node.index()] = 1;
        for (const NodeId node : demand.receivers) receiver_[node.index()] = 1;
    }

    /// By how much the merge of two components lowers the number of messages between components.
    int merge(NodeId a, NodeId b) {
        const std::size_t x = find(a.index()), y = find(b.index());
        if (x == y) return 0;
        const int before = needed(x) + needed(y);
        const int both = holder_[x] * holder_[y] + receiver_[x] * receiver_[y];
        parent_[x] = y;
        holder_[y] |= holder_[x];
        receiver_[y] |= receiver_[x];
        return reduction_ ? both : before - needed(y);
    }
    [[nodiscard]] bool together(NodeId a, NodeId b) { return find(a.index()) == find(b.index()); }

  private:
    [[nodiscard]] int needed(std::size_t root) const { return receiver_[root] == 1 && holder_[root] == 0; }
    std::size_t find(std::size_t i) {
        while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
        return i;
    }
    bool reduction_;
    std::vector<std::size_t> parent_;
    std::vector<int> holder_, receiver_;
};

class TreesCheck {
  public:
    TreesCheck(const Instance& instance, const TreesCertificate& trees)
        : instance_(instance), topology_(instance.topology()), trees_(trees), needs_(needs_of(instance)) {
        for (const SwitchRule& rule : topology_.parts().switches) {
            copies_ = copies_ || rule.copy;
            adds_ = adds_ || rule.reduce;
        }
    }

    Objection operator()(Ticks value) {
        if (too_large()) return "the lengths are too large to add up";
        Wide needed = 0;
        for (const auto& [kind, members] : by_kind(instance_, needs_)) {
            const auto cost = cost_of(kind.first, kind.second, members);
            if (!cost) return std::nullopt;  // a receiver cannot be reached: every bound holds
            needed += *cost;
        }
        const Wide possible = busy_by(value.count() - 1);
        if (possible >= needed) {
            return fmt::format("by tick {} the links can be busy for {} in lengths, and {} are needed",
                               value.count() - 1, text_of(possible), text_of(needed));
        }
        return std::nullopt;
    }

  private:
    struct Edge {
        Wide cost;
        NodeId a, b;
    };

    /// Whether the sum of all costs, or of all windows, might not fit.
    [[nodiscard]] bool too_large() const {
        long double longest = 0, slowest = 0;
        for (const std::int64_t length : trees_.length)
            longest = std::max(longest, static_cast<long double>(length));
        for (const Link& link : topology_.links())
            slowest = std::max(slowest, static_cast<long double>(link.wire.alpha.count()));
        for (const Bytes bytes : instance_.demands().sizes()) {
            for (const Ticks beta : topology_.betas(bytes))
                slowest = std::max(slowest, static_cast<long double>(beta.count()));
        }
        const auto nodes = static_cast<long double>(topology_.nodes());
        const auto chunks = static_cast<long double>(instance_.chunks());
        return longest * 2 * slowest * nodes * 2 * nodes * chunks > 1e36L ||
               longest * static_cast<long double>(topology_.links().size()) * 9.3e18L > 1e37L;
    }

    [[nodiscard]] SegmentPrices prices() const {
        return {[this](LinkId link, Ticks pace) {
                    return Wide{trees_.length[link.index()]} * instance_.busy(link, pace).count();
                },
                [](Ticks) { return Wide{0}; }};
    }

    [[nodiscard]] SegmentPaths from(NodeId source, CollectiveId collective, Bytes bytes, bool relays) const {
        std::vector<Wide> start(topology_.nodes(), kNever);
        start[source.index()] = 0;
        return {instance_,
                bytes,
                Direction::Forwards,
                start,
                [this, collective, relays](NodeId node) {
                    return (relays || topology_.is_switch(node)) && instance_.may_carry(node, collective);
                },
                prices()};
    }

    std::optional<Wide> cost_of(CollectiveId collective, Bytes bytes,
                                const std::vector<std::size_t>& members) {
        Wide sum = 0;
        const std::pair kind{representative(instance_, collective), bytes};
        std::optional<std::pair<NodeId, SegmentPaths>> chains;
        for (const std::size_t i : members) {
            const Demand demand = instance_.demand(needs_[i].chunk);
            Wide each = 0;
            if (demand.holders.size() == 1 && demand.receivers.size() == 1) {
                const NodeId source = demand.holders.front();
                if (!chains || chains->first != source)
                    chains.emplace(source, from(source, collective, bytes, true));
                each = chains->second.at(demand.receivers.front());
                if (each >= kNever) return std::nullopt;
            } else if (!copies_ && !(demand.reduction && adds_)) {
                if (!merges_.contains(kind)) merges_[kind] = kruskal(collective, bytes);
                Components components(topology_.npus(), demand);
                for (const Edge& edge : merges_[kind]) each += edge.cost * components.merge(edge.a, edge.b);
            }
            sum += each * needs_[i].count;
        }
        return sum;
    }

    /// The merges of all NPUs that may carry the collective, the cheapest first; a merge's cost is that of a
    /// message between the two, in whichever direction is cheaper.
    [[nodiscard]] std::vector<Edge> kruskal(CollectiveId collective, Bytes bytes) const {
        std::vector<Edge> edges;
        for (std::size_t u = 0; u < topology_.npus(); ++u) {
            if (!instance_.may_carry(NodeId(u), collective)) continue;
            const SegmentPaths paths = from(NodeId(u), collective, bytes, false);
            for (std::size_t v = 0; v < topology_.npus(); ++v) {
                if (v == u || !instance_.may_carry(NodeId(v), collective)) continue;
                Wide least = kNever;
                for (const LinkId link : topology_.in_links(NodeId(v)))
                    least = std::min(least, paths.whole(link).first);
                if (least < kNever) edges.push_back({least, NodeId(u), NodeId(v)});
            }
        }
        std::ranges::stable_sort(edges, {}, &Edge::cost);
        Components components(topology_.npus(), instance_.demand(needs_.front().chunk));
        std::erase_if(edges, [&](const Edge& edge) {
            const bool useless = components.together(edge.a, edge.b);
            components.merge(edge.a, edge.b);
            return useless;
        });
        return edges;
    }

    /// The lengths times the time for which each link can be busy with chunks on their way to a receiver, in
    /// a schedule of that makespan.
    [[nodiscard]] Wide busy_by(Wide makespan) const {
        Bytes bytes = instance_.demand(needs_.front().chunk).bytes;
        bool one_size = true;
        std::vector<Wide> sources(topology_.nodes(), kNever), sinks(topology_.nodes(), kNever);
        for (const Need& need : needs_) {
            const Demand demand = instance_.demand(need.chunk);
            one_size = one_size && demand.bytes == bytes;
            bytes = std::min(bytes, demand.bytes);
            for (const NodeId node : demand.holders) {
                const Wide release = instance_.release_of(demand.collective, node).count();
                sources[node.index()] = std::min(sources[node.index()], release);
            }
            for (const NodeId node : demand.receivers) sinks[node.index()] = 0;
        }
        const auto anywhere = [](NodeId) { return true; };
        const SegmentPaths before(instance_, bytes, Direction::Forwards, sources, anywhere,
                                  times_of_segments(instance_));
        const SegmentPaths after(instance_, bytes, Direction::Backwards, sinks, anywhere,
                                 times_of_segments(instance_));
        Wide sum = 0;
        for (std::size_t e = 0; e < trees_.length.size(); ++e) {
            if (trees_.length[e] == 0) continue;
            const Wide window = window_of(LinkId(e), before, after, makespan);
            const Wide unit = one_size ? unit_of(LinkId(e), bytes) : Wide{1};
            sum += window / unit * unit * trees_.length[e];
        }
        return sum;
    }

    /// From the first start to the end of the last busy time. That is the pace after the start, and the way
    /// to a receiver needs all alphas, the pace, and what follows the segment.
    [[nodiscard]] Wide window_of(LinkId link, const SegmentPaths& before, const SegmentPaths& after,
                                 Wide makespan) const {
        Wide first = kNever, tail = kNever;
        for (const auto& there : before.before(link)) {
            for (const auto& here : after.before(link)) {
                if (there.pace != here.pace) continue;
                first = std::min(first, there.price);
                tail = std::min(tail, here.price - here.pace.count());
            }
        }
        if (first >= kNever) return 0;
        if (topology_.busy() == Busy::Beta) tail += instance_.alpha(link).count();
        return std::max(Wide{0}, makespan - first - tail);
    }

    /// A number that divides every busy time of the link, if all chunks are of this size.
    [[nodiscard]] Wide unit_of(LinkId link, Bytes bytes) const {
        const Ticks own = topology_.beta(link, bytes);
        const Link& ends = topology_.link(link);
        if (!topology_.is_cut_through(ends.src) && !topology_.is_cut_through(ends.dst))
            return instance_.busy(link, own).count();
        if (topology_.busy() != Busy::Beta) return 1;
        for (const Ticks other : topology_.betas(bytes)) {
            if (other > own && other.count() % own.count() != 0) return 1;
        }
        return own.count();
    }

    const Instance& instance_;
    const Topology& topology_;
    const TreesCertificate& trees_;
    std::vector<Need> needs_;
    bool copies_ = false, adds_ = false;
    std::map<std::pair<CollectiveId, Bytes>, std::vector<Edge>> merges_;
};

}  // namespace

Objection check_trees(const Instance& instance, const TreesCertificate& trees, Ticks value) {
    expects(value > Ticks(0));
    const std::size_t links = instance.topology().links().size();
    if (trees.length.size() != links) {
        return fmt::format("expected {} lengths, one per link, found {}", links, trees.length.size());
    }
    if (std::ranges::any_of(trees.length, [](std::int64_t length) { return length < 0; })) {
        return "a length is negative";
    }
    if (needs_of(instance).empty()) return "no chunk has to move";
    return TreesCheck(instance, trees)(value);
}

}  // namespace tutti::verify
