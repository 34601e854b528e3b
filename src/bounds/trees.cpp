// Lengths, as in `flow`, but a chunk pays for a whole tree.
//
// Where no switch copies or adds, everything moves in messages from one NPU to the next, and each message has
// its links to itself. Let links have lengths >= 0 per busy tick. A message costs at least the cheapest way
// between its ends. Take any x > 0 and join all NPUs between which, in one direction or the other, a message
// costs less than x. Messages between two components cost x or more. How many must there be?
// - A plain chunk comes into every component that has a receiver but no holder. On the receiver's chain of
//   messages from a holder take the last one that enters; they are different, as they enter different
//   components.
// - A reduction. For each contribution and receiver take one chain of messages that brought it there. Say
// that
//   a component knows a contribution once a chain has carried it into the component (or it is of there).
//   Let t* be the first time at which some component, P, knows all. Every other component with a holder has
//   by then sent a message out, on the way to P: different ones, all ended in P by t*, or elsewhere before t*
//   (some further message follows). Every other component with a receiver completes at t* or later, with an
//   arrival outside P. So these are others. Together (components with holders - 1) + (components with
//   receivers - 1).
// A chunk's messages cost at least the integral of that number over x, because a message of cost y counts for
// all x <= y. The integral is Kruskal's algorithm: all components merge along a minimum spanning tree, and a
// merge at cost w that saves d messages adds w * d. A chunk with one holder and one receiver costs at least
// the cheapest chain of messages; that holds with every kind of switch.
//
// All these messages lie on chains that end at a receiver. So each of them starts on link e no sooner than a
// chunk can be there, and ends its busy time early enough for the way from there to a receiver: the busy
// times of e fit into a window, and are disjoint. The sum of length * window must be at least the sum of
// costs. Where all chunks are of one size and all busy times on e are multiples of the least, the window is
// rounded down to one.
//
// Finding lengths: a game. One player mixes link classes (symmetric links share a length, link_classes), the
// other answers with the cheapest trees; the answers so far make a matrix, whose best mix gives the next
// lengths (column generation; the simplex method of matrix_game on some tens of rows). All of that is
// rounded; lengths then become integers, and what they prove is computed in integers. The best round counts.
// Where all NPUs take part this ends at the best lengths. Where some only relay, components without holder
// and receiver merge for nothing, costs are no longer concave in the lengths, and it may end early: so the
// game is played twice, with classes of the network alone (a rail is a rail, whoever is on it), then with
// those of the demands too; and before, lengths are tried that are equal on all links between the parts of a
// cluster (4 nodes of 8 GPUs with one failed NIC: 1.54 ms by the game alone, 2.08 ms with these).
//
// Complexity: a round takes a search per NPU (and size), O(NPUs^2) for the spanning tree and O(NPUs) for each
// class of chunks. Measured: 3 to 30 rounds; 64 NPUs behind a fat tree 0.1 s.

#include "bounds/border_trees.hpp"
#include "bounds/busy_windows.hpp"
#include "bounds/families.hpp"
#include "bounds/link_classes.hpp"
#include "bounds/matrix_game.hpp"
#include "bounds/message_costs.hpp"
#include "bounds/parts.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace tutti::bounds {
namespace {

constexpr std::size_t kMostTreeWork = 150'000'000;  ///< links relaxed and the like
constexpr std::size_t kMostRoundWork = 50'000'000;  ///< a second; beyond, only borders (border_trees)
constexpr int kMostTreeRounds = 60;
constexpr std::size_t kMostLinkClasses = 120;
constexpr std::int64_t kLongestLength = 1'000'000'000;

/// What the chunks of one size (and one set of carriers) need at the least.
class TreePrices {
  public:
    TreePrices(const Traffic& traffic, const Passage& passage, std::vector<const ChunkClass*> trees,
               std::vector<const ChunkClass*> chains)
        : traffic_(traffic),
          costs_(passage),
          trees_(std::move(trees)),
          chains_(std::move(chains)),
          npus_(traffic.topology().npus()) {
        for (std::size_t n = 0; n < npus_; ++n) {
            if (passage.admits(NodeId(n))) carriers_.emplace_back(n);
        }
        std::ranges::stable_sort(chains_, {}, [&](const ChunkClass* c) { return holder(*c); });
    }

    [[nodiscard]] std::int64_t longest_length() const { return costs_.longest_length(); }
    [[nodiscard]] std::size_t work() const {
        const std::size_t searches =
            (trees_.empty() ? 0 : 2 * carriers_.size()) + (chains_.empty() ? 0 : npus_);
        return searches * costs_.work() + trees_.size() * npus_ + 10 * chains_.size() + npus_ * npus_;
    }

    /// The sum of all costs; adds the busy times of the cheapest messages to the loads. None: out of reach.
    std::optional<Wide> price(const std::vector<std::int64_t>& length, std::vector<double>& load) {
        costs_.set_lengths(length);
        Wide sum = 0;
        if (!trees_.empty()) {
            const auto tree_cost = price_trees(load);
            if (!tree_cost) return std::nullopt;
            sum += *tree_cost;
        }
        std::optional<NodeId> searched;
        for (const ChunkClass* c : chains_) {
            if (searched != holder(*c)) costs_.search(*(searched = holder(*c)), true);
            const NodeId to = traffic_.demand(*c).receivers.front();
            if (costs_.cost(to) >= MessageCosts::kFar) return std::nullopt;
            sum += Wide{costs_.cost(to)} * Wide{c->count};
            costs_.add_path(to, static_cast<double>(c->count), load);
        }
        return sum;
    }

  private:
    struct Edge {
        NodeId from, to;  ///< in the cheaper direction
        std::int64_t cost = MessageCosts::kFar;
        double uses = 0;
    };

    [[nodiscard]] NodeId holder(const ChunkClass& c) const { return traffic_.demand(c).holders.front(); }

    std::optional<Wide> price_trees(std::vector<double>& load) {
        std::vector<Edge> tree = spanning_tree();
        std::ranges::stable_sort(tree, {}, &Edge::cost);
        Wide sum = 0;
        for (const ChunkClass* c : trees_) {
            const auto cost = price_class(*c, tree);
            if (!cost) return std::nullopt;
            sum += *cost;
        }
        std::ranges::stable_sort(tree, {}, &Edge::from);
        std::optional<NodeId> searched;
        for (const Edge& edge : tree) {
            if (edge.uses == 0) continue;
            if (searched != edge.from) costs_.search(*(searched = edge.from), false);
            costs_.add_path(edge.to, edge.uses, load);
        }
        return sum;
    }

    /// Prim's algorithm; the costs of messages from an NPU are searched when it joins, those to it before.
    std::vector<Edge> spanning_tree() {
        const std::size_t count = carriers_.size();
        std::vector<std::int64_t> cost(count * count, MessageCosts::kFar);
        for (std::size_t i = 0; i < count; ++i) {
            costs_.search(carriers_[i], false);
            for (std::size_t j = 0; j < count; ++j) cost[i * count + j] = costs_.cost(carriers_[j]);
        }
        std::vector<Edge> nearest(count), tree;
        std::vector<bool> in(count, false);
        std::size_t last = 0;
        for (std::size_t round = 1; round < count; ++round) {
            in[last] = true;
            std::size_t next = count;
            for (std::size_t j = 0; j < count; ++j) {
                if (in[j]) continue;
                const std::int64_t there = cost[last * count + j], back = cost[j * count + last];
                if (std::min(there, back) < nearest[j].cost) {
                    nearest[j] = there <= back ? Edge{carriers_[last], carriers_[j], there}
                                               : Edge{carriers_[j], carriers_[last], back};
                }
                if (next == count || nearest[j].cost < nearest[next].cost) next = j;
            }
            tree.push_back(nearest[next]);
            last = next;
        }
        return tree;
    }

    /// Components merge along the tree, the cheapest edge first; each merge that spares messages costs.
    std::optional<Wide> price_class(const ChunkClass& c, std::vector<Edge>& tree) {
        const Demand demand = traffic_.demand(c);
        up_.resize(npus_);
        std::iota(up_.begin(), up_.end(), 0U);
        holds_.assign(npus_, false);
        wants_.assign(npus_, false);
        for (const NodeId node : demand.holders) holds_[node.index()] = true;
        for (const NodeId node : demand.receivers) wants_[node.index()] = true;
        Wide sum = 0;
        for (Edge& edge : tree) {
            const std::uint32_t a = root(edge.from.value()), b = root(edge.to.value());
            if (edge.cost >= MessageCosts::kFar) break;
            const int spared = messages_spared(demand.reduction, a, b);
            sum += Wide{edge.cost} * spared;
            edge.uses += static_cast<double>(c.count) * spared;
            up_[a] = b;
            holds_[b] = holds_[a] || holds_[b];
            wants_[b] = wants_[a] || wants_[b];
        }
        return sum * Wide{c.count};
    }

    [[nodiscard]] int messages_spared(bool reduction, std::uint32_t a, std::uint32_t b) const {
        if (reduction) return (holds_[a] && holds_[b] ? 1 : 0) + (wants_[a] && wants_[b] ? 1 : 0);
        const auto lacks = [&](bool wants, bool holds) { return wants && !holds ? 1 : 0; };
        return lacks(wants_[a], holds_[a]) + lacks(wants_[b], holds_[b]) -
               lacks(wants_[a] || wants_[b], holds_[a] || holds_[b]);
    }

    std::uint32_t root(std::uint32_t i) {
        while (up_[i] != i) i = up_[i] = up_[up_[i]];
        return i;
    }

    const Traffic& traffic_;
    MessageCosts costs_;
    std::vector<const ChunkClass*> trees_, chains_;
    std::size_t npus_;
    std::vector<NodeId> carriers_;
    std::vector<std::uint32_t> up_;
    std::vector<bool> holds_, wants_;
};

/// The game between lengths and trees.
class LengthGame {
  public:
    LengthGame(const Traffic& traffic, std::vector<TreePrices> prices, const Stop& stop)
        : traffic_(traffic),
          prices_(std::move(prices)),
          windows_(traffic),
          stop_(stop),
          effort_(kMostTreeWork, stop),
          longest_(kLongestLength) {
        for (const TreePrices& price : prices_) longest_ = std::min(longest_, price.longest_length());
    }

    Bound run() {
        Bound best{"trees", Ticks(0), {}, 0};
        for (const Partition& partition : natural_partitions(traffic_, stop_)) price_borders(partition, best);
        classes_ = link_classes(traffic_, Looks::Network, kMostLinkClasses);
        play(best);
        LinkClasses finer = link_classes(traffic_, Looks::NetworkAndDemands, kMostLinkClasses);
        if (finer != classes_) {
            classes_ = std::move(finer);
            play(best);
        }
        if (auto* trees = std::get_if<TreesCertificate>(&best.certificate)) reduce(trees->length);
        return best;
    }

  private:
    /// Equal lengths on all links that leave or enter a part.
    void price_borders(const Partition& partition, Bound& best) {
        const Topology& topology = traffic_.topology();
        const std::vector<std::uint32_t> part = parts_of_nodes(topology, partition);
        std::vector<std::int64_t> length;
        for (const Link& link : topology.links())
            length.push_back(part[link.src.index()] == part[link.dst.index()] ? 0 : 1);
        std::vector<double> load(length.size(), 0);
        if (longest_ > 0 && effort_.spend(work())) (void)improve(length, load, best);
    }

    /// What these lengths prove; adds the loads of the trees. False if that is nothing that can be used.
    bool improve(const std::vector<std::int64_t>& length, std::vector<double>& load, Bound& best) {
        const auto cost = price(length, load);
        if (!cost) return false;
        // Trees may avoid all links with a length. They prove nothing, but are an answer.
        if (*cost == 0) return true;
        const auto end = windows_.least_end(length, *cost);
        if (end && *end > best.value) best = {"trees", *end, TreesCertificate{length}, 0};
        return end.has_value();
    }

    void play(Bound& best) {
        std::vector<std::int64_t> length(classes_.of.size(), 1);
        std::vector<std::vector<double>> answers;  // per round and class: how long its links are busy
        for (int round = 0; round < kMostTreeRounds && longest_ > 0; ++round) {
            if (!effort_.spend(work())) break;
            std::vector<double> load(length.size(), 0);
            if (!improve(length, load, best)) break;
            answers.push_back(by_class(load));
            if (std::ranges::max(answers.back()) == 0) break;
            auto next = lengths(answers, best.value);
            if (next == length) break;
            length = std::move(next);
        }
    }

    [[nodiscard]] std::size_t work() const {
        std::size_t sum = 0;
        for (const TreePrices& price : prices_) sum += price.work();
        return sum;
    }

    std::optional<Wide> price(const std::vector<std::int64_t>& length, std::vector<double>& load) {
        Wide sum = 0;
        for (TreePrices& each : prices_) {
            const auto cost = each.price(length, load);
            if (!cost) return std::nullopt;
            sum += *cost;
        }
        return sum;
    }

    [[nodiscard]] std::vector<double> by_class(const std::vector<double>& load) const {
        std::vector<double> sums(classes_.count, 0);
        for (std::size_t l = 0; l < load.size(); ++l) sums[classes_.of[l]] += load[l];
        return sums;
    }

    /// The best answer to all trees so far, if the schedule ended at about `end`.
    [[nodiscard]] std::vector<std::int64_t> lengths(const std::vector<std::vector<double>>& answers,
                                                    Ticks end) const {
        std::vector<double> room(classes_.count, 0);
        for (std::size_t l = 0; l < classes_.of.size(); ++l)
            room[classes_.of[l]] += static_cast<double>(windows_.windows[l].length(end.count()));
        std::vector<std::vector<double>> payoff = answers;
        for (auto& column : payoff) {
            for (std::size_t k = 0; k < column.size(); ++k) column[k] /= std::max(room[k], 1.0);
        }
        const std::vector<double> mix = best_mix(payoff);
        std::vector<double> ideal(mix.size());
        for (std::size_t k = 0; k < mix.size(); ++k) ideal[k] = mix[k] / std::max(room[k], 1.0);
        const double top = *std::ranges::max_element(ideal);
        std::vector<std::int64_t> length;
        for (const std::uint32_t k : classes_.of)
            length.push_back(std::llround(ideal[k] / top * static_cast<double>(longest_)));
        return length;
    }

    static void reduce(std::vector<std::int64_t>& lengths) {
        std::int64_t divisor = 0;
        for (const std::int64_t length : lengths) divisor = std::gcd(divisor, length);
        for (std::int64_t& length : lengths) length /= std::max<std::int64_t>(divisor, 1);
    }

    const Traffic& traffic_;
    std::vector<TreePrices> prices_;
    BusyWindows windows_;
    LinkClasses classes_;
    const Stop stop_;
    Effort effort_;
    std::int64_t longest_;
};

bool is_chain(const Demand& demand) { return demand.holders.size() == 1 && demand.receivers.size() == 1; }

}  // namespace

std::optional<Bound> trees(Traffic& traffic, const Stop& stop) {
    const Topology& topology = traffic.topology();
    const Bound none{"trees", Ticks(0), {}, 0};
    if (traffic.classes().empty() || topology.links().empty()) return none;
    std::map<const Passage*, std::pair<std::vector<const ChunkClass*>, std::vector<const ChunkClass*>>>
        sorted;
    for (const ChunkClass* c : countable_chunks(traffic)) {
        auto& [of_trees, of_chains] = sorted[&traffic.passage(*c)];
        (is_chain(traffic.demand(*c)) ? of_chains : of_trees).push_back(c);
    }
    if (sorted.empty()) return none;
    std::vector<TreePrices> prices;
    std::size_t work = 0;
    for (auto& [passage, classes] : sorted) {
        if (PacedNetwork(traffic.instance(), passage->bytes).work() > kMostRoundWork / 10)
            return std::nullopt;
        prices.emplace_back(traffic, *passage, std::move(classes.first), std::move(classes.second));
        work += prices.back().work();
    }
    if (work > kMostRoundWork) return border_trees(traffic, stop);
    return LengthGame(traffic, std::move(prices), stop).run();
}

}  // namespace tutti::bounds
