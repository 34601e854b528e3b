// Stops and hops. A stop is a node where a chunk may wait: an NPU or a switch that stores. A hop leads from
// one stop to others through switches that cannot hold it; they are followed depth first in the network's own
// direction, and every set of ways out of a switch that may branch makes another hop. Its times then follow
// from the rules for cut-through switches (src/verify/README.md): the onward send starts alpha after the
// inbound one, beta is paid once, by the slowest link, and a link is busy as long as the slowest send that
// takes its data onward.
//
// For sums every switch is passed without waiting, storing ones too (the onward send starts at the arrival):
// the value on a wire is then fixed when it leaves an NPU.

#include "models/routing.hpp"

#include <algorithm>

namespace tutti::models {
namespace {

constexpr std::size_t kMostHops = 20'000;
constexpr std::size_t kMostSteps = 100'000;
constexpr const char* kTooManyPaths = "there are too many paths through its cut-through switches";

/// A leg of a hop in the making.
struct Step {
    LinkId link;
    std::optional<std::size_t> before;  ///< the leg from which it goes on, in the network's direction
};
using Tree = std::vector<Step>;

class NetworkMaker {
  public:
    NetworkMaker(const Instance& instance, ChunkId chunk, bool backwards, Use use, Units64 unit,
                 const Stop& stop)
        : instance_(instance),
          topology_(instance.topology()),
          chunk_(chunk),
          collective_(instance.demand(chunk).collective),
          use_(use),
          unit_(unit),
          stop_(stop) {
        network_.backwards = backwards;
    }

    Network make() {
        const std::size_t nodes = topology_.nodes();
        for (std::size_t n = 0; n < nodes; ++n) {
            network_.rule.push_back(rule_of(NodeId(n)));
            network_.exclusive.push_back(!is_stop(NodeId(n)) && branches(NodeId(n)));
        }
        for (std::size_t n = 0; n < nodes; ++n) {
            const NodeId from(n);
            if (!is_stop(from) || !carries(from)) continue;
            for (const LinkId link : onward(from)) grow({{link, {}}}, {0});
        }
        index();
        judge();
        return std::move(network_);
    }

  private:
    [[nodiscard]] bool carries(NodeId node) const { return instance_.may_carry(node, collective_); }
    [[nodiscard]] bool is_stop(NodeId node) const {
        return topology_.is_npu(node) || (use_ != Use::Sum && !topology_.rule(node).cut_through);
    }
    [[nodiscard]] bool branches(NodeId node) const {
        if (topology_.is_npu(node)) return true;
        const SwitchRule& rule = topology_.rule(node);
        return use_ == Use::Branch && (network_.backwards ? rule.reduce : rule.copy);
    }
    [[nodiscard]] StopRule rule_of(NodeId node) const {
        if (topology_.is_npu(node)) return StopRule::Keeps;
        if (!branches(node)) return StopRule::Passes;
        return topology_.rule(node).buffer ? StopRule::Repeats : StopRule::Keeps;
    }
    [[nodiscard]] std::span<const LinkId> onward(NodeId node) const {
        return network_.backwards ? topology_.in_links(node) : topology_.out_links(node);
    }
    [[nodiscard]] NodeId head(LinkId link) const {
        return network_.backwards ? topology_.link(link).src : topology_.link(link).dst;
    }
    [[nodiscard]] NodeId tail(LinkId link) const {
        return network_.backwards ? topology_.link(link).dst : topology_.link(link).src;
    }
    [[nodiscard]] Units64 alpha(LinkId link) const { return instance_.alpha(link).count() / unit_; }
    [[nodiscard]] Units64 beta(LinkId link) const { return instance_.beta(link, chunk_).count() / unit_; }

    /// Follows the legs at the tips of the tree until all have come to a stop.
    void grow(Tree tree, std::vector<std::size_t> tips) {
        if ((steps_ & 255U) == 0 && stop_.requested()) network_.incomplete = kRoutingStopped;
        if (network_.incomplete == kRoutingStopped) return;
        if (network_.hops.size() >= kMostHops || ++steps_ > kMostSteps) {
            network_.incomplete = kTooManyPaths;
            return;
        }
        while (!tips.empty() && is_stop(head(tree[tips.back()].link))) {
            if (!carries(head(tree[tips.back()].link))) return;
            tips.pop_back();
        }
        if (tips.empty()) {
            add(tree);
            return;
        }
        const std::size_t tip = tips.back();
        tips.pop_back();
        const NodeId node = head(tree[tip].link);
        for (std::size_t i = 0; i < tree.size(); ++i) {
            if (i != tip && head(tree[i].link) == node) return;  // been there
        }
        std::vector<LinkId> ways;
        for (const LinkId link : onward(node)) {
            if (head(link) != tail(tree.front().link) ||
                network_.rule[head(link).index()] != StopRule::Keeps) {
                ways.push_back(link);
            }
        }
        if (!branches(node)) {
            for (const LinkId way : ways) {
                Tree next = tree;
                next.push_back({way, tip});
                std::vector<std::size_t> next_tips = tips;
                next_tips.push_back(next.size() - 1);
                grow(std::move(next), std::move(next_tips));
            }
            return;
        }
        if (ways.size() > 14) {
            network_.incomplete = kTooManyPaths;
            return;
        }
        for (std::size_t mask = 1; mask < (std::size_t{1} << ways.size()); ++mask) {
            Tree next = tree;
            std::vector<std::size_t> next_tips = tips;
            for (std::size_t i = 0; i < ways.size(); ++i) {
                if (((mask >> i) & 1U) == 0) continue;
                next.push_back({ways[i], tip});
                next_tips.push_back(next.size() - 1);
            }
            grow(std::move(next), std::move(next_tips));
        }
    }

    /// Whether the leg goes on from a cut-through switch, whose timing is rigid; else it starts afresh.
    [[nodiscard]] bool cuts_through(const Tree& tree, std::size_t leg) const {
        return tree[leg].before && topology_.is_cut_through(tail(tree[leg].link));
    }

    void add(const Tree& tree) {
        const std::size_t legs = tree.size();
        std::vector<bool> is_end(legs, true);
        for (const Step& step : tree) {
            if (step.before) is_end[*step.before] = false;
        }
        // Where the chunk is kept one arrival is enough.
        std::vector<NodeId> ends;
        for (std::size_t i = 0; i < legs; ++i) {
            if (!is_end[i] || network_.rule[head(tree[i].link).index()] != StopRule::Keeps) continue;
            ends.push_back(head(tree[i].link));
        }
        std::ranges::sort(ends);
        if (std::ranges::adjacent_find(ends) != ends.end()) return;

        // The pace of each leg and how long it is busy; `start` is the actual start, counted from the hop's
        // first leg. Later legs stand behind earlier ones in the tree.
        std::vector<Units64> pace(legs), busy(legs), start(legs, 0);
        const auto slow_down = [](Units64& a, Units64 b) { a = std::max(a, b); };
        for (std::size_t i = 0; i < legs; ++i) pace[i] = beta(tree[i].link);
        if (network_.backwards) {
            for (std::size_t i = legs; i-- > 0;) {
                if (cuts_through(tree, i)) slow_down(pace[*tree[i].before], pace[i]);
            }
            busy = pace;
            for (std::size_t i = 0; i < legs; ++i) {
                if (cuts_through(tree, i)) slow_down(busy[i], busy[*tree[i].before]);
                if (tree[i].before) {
                    start[i] =
                        start[*tree[i].before] - alpha(tree[i].link) - (cuts_through(tree, i) ? 0 : pace[i]);
                }
            }
        } else {
            for (std::size_t i = 0; i < legs; ++i) {
                if (!tree[i].before) continue;
                const std::size_t b = *tree[i].before;
                if (cuts_through(tree, i)) slow_down(pace[i], pace[b]);
                start[i] = start[b] + alpha(tree[b].link) + (cuts_through(tree, i) ? 0 : pace[b]);
            }
            busy = pace;
            for (std::size_t i = legs; i-- > 0;) {
                if (cuts_through(tree, i)) slow_down(busy[*tree[i].before], busy[i]);
            }
        }
        Hop hop;
        hop.from = tail(tree.front().link);
        std::vector<Network::Passage> passages;
        const Units64 arrival = alpha(tree.front().link) + pace.front();  // at `from`, backwards
        const bool in_flight = topology_.busy() == Busy::AlphaPlusBeta;
        for (std::size_t i = 0; i < legs; ++i) {
            const LinkId link = tree[i].link;
            const Units64 length = busy[i] + (in_flight ? alpha(link) : 0);
            hop.legs.push_back({link, network_.backwards ? arrival - start[i] - length : start[i], length});
            if (is_end[i]) {
                hop.ends.push_back(
                    {head(link), network_.backwards ? arrival - start[i] : start[i] + alpha(link) + pace[i]});
            }
            if (tree[i].before) {
                const LinkId in = tree[*tree[i].before].link;
                // Backwards the switch is passed when the inbound (actual) send is due.
                const Units64 due = network_.backwards ? arrival - start[*tree[i].before] : start[i];
                passages.push_back({tail(link), in, link, due});
            }
        }
        network_.has_trees = network_.has_trees || hop.ends.size() > 1;
        network_.hops.push_back(std::move(hop));
        network_.passages.push_back(std::move(passages));
    }

    void index() {
        network_.out.resize(topology_.nodes());
        network_.in.resize(topology_.nodes());
        for (std::size_t h = 0; h < network_.hops.size(); ++h) {
            const Hop& hop = network_.hops[h];
            network_.out[hop.from.index()].push_back(static_cast<std::uint32_t>(h));
            for (const HopEnd& end : hop.ends) {
                auto& in = network_.in[end.node.index()];
                if (in.empty() || in.back() != h) in.push_back(static_cast<std::uint32_t>(h));
            }
        }
    }

    /// Whether some cut-through switches form a circle: then a hop could go round as often as it likes.
    /// `instant`: over links of alpha 0, where hops that pass each other at one tick can be taken for one.
    [[nodiscard]] bool circle_of_crossbars(bool instant) const {
        const auto joins = [&](LinkId link, NodeId other) {
            return topology_.is_cut_through(other) && (!instant || alpha(link) == 0);
        };
        // Take away who has no crossbar before it, again and again; who is left is on a circle or behind one.
        std::vector<std::size_t> before(topology_.nodes(), 0);
        std::vector<NodeId> free_now;
        std::size_t left = 0;
        for (std::size_t n = topology_.npus(); n < topology_.nodes(); ++n) {
            if (!topology_.is_cut_through(NodeId(n))) continue;
            ++left;
            for (const LinkId link : topology_.in_links(NodeId(n))) {
                if (joins(link, topology_.link(link).src)) ++before[n];
            }
            if (before[n] == 0) free_now.emplace_back(n);
        }
        while (!free_now.empty()) {
            const NodeId node = free_now.back();
            free_now.pop_back();
            --left;
            for (const LinkId link : topology_.out_links(node)) {
                const NodeId next = topology_.link(link).dst;
                if (joins(link, next) && --before[next.index()] == 0) free_now.push_back(next);
            }
        }
        return left > 0;
    }

    /// What could be missing, and what must be watched.
    void judge() {
        bool joins = false, branching = false, waits = false, meets = false;
        std::optional<Units64> common_beta;
        for (std::size_t l = 0; l < topology_.links().size(); ++l) {
            const Units64 b = beta(LinkId(l));
            if (common_beta && *common_beta != b) network_.order_matters = true;
            common_beta = b;
        }
        if (use_ == Use::Sum) network_.order_matters = true;
        // A branch cannot change places with a whole hop, so circles must not arise.
        if (network_.has_trees && circle_of_crossbars(true)) network_.order_matters = true;
        for (std::size_t n = topology_.npus(); n < topology_.nodes(); ++n) {
            const NodeId node(n);
            const SwitchRule& rule = topology_.rule(node);
            if (onward(node).empty()) continue;
            if (!rule.cut_through) {
                waits = true;
                continue;
            }
            branching = branching || branches(node) || (use_ == Use::Sum && (rule.copy || rule.reduce));
            const auto inward = network_.backwards ? topology_.out_links(node) : topology_.in_links(node);
            meets = meets || (branches(node) && inward.size() > 1);
            const auto from_others = std::ranges::count_if(
                inward, [&](LinkId link) { return topology_.is_cut_through(tail(link)); });
            joins = joins || from_others > 1;
        }
        if (!network_.incomplete.empty()) return;
        if (use_ == Use::Sum && (waits || branching)) {
            network_.incomplete =
                "the model of sums with several receivers knows no waiting, copying or adding in switches";
        } else if (circle_of_crossbars(false)) {
            network_.incomplete = "a chunk might circle through cut-through switches to lose time";
        } else if (meets && network_.order_matters) {
            network_.incomplete =
                "two copies of unlike pace might meet in a cut-through switch that branches";
        } else if (branching && joins) {
            network_.incomplete = "several branches of one multicast might meet in a cut-through switch";
        }
    }

    const Instance& instance_;
    const Topology& topology_;
    const ChunkId chunk_;
    const CollectiveId collective_;
    const Use use_;
    const Units64 unit_;
    const Stop& stop_;
    std::size_t steps_ = 0;
    Network network_;
};

}  // namespace

Network network_for(const Instance& instance, ChunkId chunk, bool backwards, Use use, Units64 unit,
                    const Stop& stop) {
    return NetworkMaker(instance, chunk, backwards, use, unit, stop).make();
}

}  // namespace tutti::models
