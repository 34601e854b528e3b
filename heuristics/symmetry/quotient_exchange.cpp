// All-reduces under symmetry that are not a reduce-scatter followed by an all-gather. Each representative
// chunk has a tree over all places. Every edge carries one message each way, which waits for all messages
// that come to its tail over other edges: the sum of one side. Chains are as long as the tree is wide, not
// twice as long as it is high, and some receivers are served while others still sum up.
//
// The trees of all images must not meet on a link. In the quotient this says that each orbit of links carries
// the messages of the representatives one after the other, so that a torus of any size has a few machines and
// a few messages to a machine: thousands of trees are tried in a tenth of a second.
//
// Times: Giffler and Thompson's active schedules, which include the best ones. Of all messages that could be
// sent, take the machine on which one could end first; of those that could start on it before that end, send
// the one with the longest way to go behind it, plus some noise. As soon as the way to go does not fit into
// the time allowed, the try is given up.
//
// Search: replace an edge of a tree, or the noise of a message, sometimes several; keep what is not longer
// (now and then, what is a little longer). Begin anew with other trees when this leads nowhere.
//
// Measured (torus 4x4, 1 MiB shares, 50 GB/s, 0.5 us): 8 beta + 6 alpha in a tenth of a second, where the
// best reduce-scatter with the best all-gather takes 8 beta + 8 alpha. A million more tries find nothing
// shorter. Neither does a square in the middle that exchanges in two rounds, with trees around it: in eight
// slots its messages cannot be kept apart (CP-SAT proved that for this torus).

#include "heuristics/symmetry/quotient_exchange.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace tutti::heuristics {
namespace {

constexpr std::size_t kMostEdges = 1024;     ///< of all trees
constexpr std::uint64_t kPatience = 20'000;  ///< tries without success before other trees are grown
constexpr std::int64_t kFailed = std::numeric_limits<std::int64_t>::max();

/// A link out of a place.
struct Arc {
    std::uint32_t tail, head, machine;
};
/// Two links that join the same places.
using Edge = std::array<Arc, 2>;

struct Message {
    std::uint32_t spread = 0;
    Arc arc{};
    std::int64_t rest = 0;   ///< the least time from its start until all that waits for it has arrived
    std::int64_t ready = 0;  ///< what it waits for is there
    std::int64_t start = 0;
    std::uint32_t waits = 0;  ///< for how many messages still
};

class ExchangeSearch {
  public:
    ExchangeSearch(const QuotientNetwork& network, std::size_t spreads, Rng& rng)
        : network_(network),
          places_(network.places()),
          edges_per_tree_(places_ - 1),
          trees_(spreads * edges_per_tree_),
          noise_(2 * trees_.size()),
          messages_(2 * trees_.size()),
          out_(spreads * places_),
          free_(network.machines.size()),
          rng_(rng) {
        find_edges();
    }

    std::optional<QuotientExchange> run(std::int64_t below, std::int64_t target, std::uint64_t effort,
                                        const Stop& stop) {
        if (!grow()) return std::nullopt;
        // To choose the next of m messages takes longer where many could be sent.
        const std::uint64_t cost = messages_.size() * (1 + messages_.size() / 64);
        std::int64_t best = below, now = evaluate(kFailed);
        std::uint64_t idle = 0;
        std::optional<QuotientExchange> found;
        const auto keep = [&] {
            if (now >= best) return;
            best = now;
            found = result(now);
        };
        keep();
        for (std::uint64_t tries = effort / cost; tries > 0 && best > target; --tries) {
            if (tries % 64 == 0 && stop.requested()) break;
            if (++idle > kPatience) {
                (void)grow();
                now = evaluate(kFailed);
                idle = 0;
            }
            change();
            const std::int64_t allowed = now + (rng_.below(50) == 0 ? now / 300 : 0);
            const std::int64_t next = evaluate(allowed);
            if (next > allowed) {
                undo();
                continue;
            }
            if (next < now) idle = 0;
            now = next;
            keep();
        }
        return found;
    }

  private:
    void find_edges() {
        std::vector<std::vector<Arc>> leaving(places_);
        for (std::uint32_t m = 0; m < network_.machines.size(); ++m) {
            const auto& machine = network_.machines[m];
            for (std::uint32_t e = 0; e < network_.group; ++e) {
                const std::uint32_t tail = machine.tails * network_.group + e;
                if (machine.heads[e] != tail) leaving[tail].push_back({tail, machine.heads[e], m});
            }
        }
        for (std::uint32_t place = 0; place < places_; ++place) {
            for (const Arc& there : leaving[place]) {
                if (there.head < place) continue;
                for (const Arc& back : leaving[there.head]) {
                    if (back.head == place) edges_.push_back({there, back});
                }
            }
        }
    }

    /// New trees: places join at random, those near the root before others. False: not all can.
    bool grow() {
        std::vector<std::uint32_t> depth(places_);
        for (std::size_t spread = 0; spread < out_.size() / places_; ++spread) {
            std::vector<bool> inside(places_, false);
            const std::size_t root = rng_.below(places_);
            inside[root] = true;
            depth[root] = 0;
            for (std::size_t i = 0; i < edges_per_tree_; ++i) {
                const Edge* best = nullptr;
                std::uint64_t least = 0;
                for (const Edge& edge : edges_) {
                    const auto [a, b] = std::pair(edge[0].tail, edge[0].head);
                    if (inside[a] == inside[b]) continue;
                    const std::uint64_t price =
                        (3 * depth[inside[a] ? a : b] + rng_.below(4)) * 64 + rng_.below(64);
                    if (best != nullptr && price >= least) continue;
                    best = &edge;
                    least = price;
                }
                if (best == nullptr) return false;
                trees_[spread * edges_per_tree_ + i] = *best;
                const auto [a, b] = std::pair((*best)[0].tail, (*best)[0].head);
                depth[inside[a] ? b : a] = depth[inside[a] ? a : b] + 1;
                inside[a] = inside[b] = true;
            }
        }
        std::ranges::fill(noise_, 0);
        return true;
    }

    /// A few edges or priorities.
    void change() {
        edges_before_.clear();
        noise_before_.clear();
        for (std::uint64_t i = rng_.below(4) == 0 ? 2 : 1; i > 0; --i) {
            if (rng_.below(4) == 0) {
                const std::size_t m = rng_.below(noise_.size());
                noise_before_.emplace_back(m, noise_[m]);
                const auto range = static_cast<std::uint64_t>(busy(messages_[m]));
                noise_[m] = static_cast<std::int64_t>(rng_.below(4 * range + 1)) -
                            2 * static_cast<std::int64_t>(range);
            } else {
                replace_edge(rng_.below(trees_.size()));
            }
        }
    }

    void replace_edge(std::size_t slot) {
        const std::size_t first = slot / edges_per_tree_ * edges_per_tree_;
        // One side of the edge, without it: edges are few, so they are gone through until nothing joins.
        std::vector<std::vector<std::uint32_t>> near(places_);
        for (std::size_t i = first; i < first + edges_per_tree_; ++i) {
            if (i == slot) continue;
            near[trees_[i][0].tail].push_back(trees_[i][0].head);
            near[trees_[i][0].head].push_back(trees_[i][0].tail);
        }
        std::vector<bool> inside(places_, false);
        std::vector<std::uint32_t> queue{trees_[slot][0].tail};
        inside[queue[0]] = true;
        while (!queue.empty()) {
            const std::uint32_t place = queue.back();
            queue.pop_back();
            for (const std::uint32_t next : near[place]) {
                if (inside[next]) continue;
                inside[next] = true;
                queue.push_back(next);
            }
        }
        // The old edge crosses, so this ends.
        while (true) {
            const Edge& edge = edges_[rng_.below(edges_.size())];
            if (inside[edge[0].tail] == inside[edge[0].head]) continue;
            edges_before_.emplace_back(slot, trees_[slot]);
            trees_[slot] = edge;
            return;
        }
    }

    void undo() {
        for (auto change = edges_before_.rbegin(); change != edges_before_.rend(); ++change)
            trees_[change->first] = change->second;
        for (auto change = noise_before_.rbegin(); change != noise_before_.rend(); ++change)
            noise_[change->first] = change->second;
    }

    [[nodiscard]] std::int64_t busy(const Message& m) const {
        return network_.machines[m.arc.machine].busy.count();
    }
    [[nodiscard]] std::int64_t transit(const Message& m) const {
        return network_.machines[m.arc.machine].transit.count();
    }
    /// The messages that leave a message's head. One of them is its own answer, number m ^ 1.
    [[nodiscard]] const std::vector<std::uint32_t>& after(const Message& m) const {
        return out_[m.spread * places_ + m.arc.head];
    }

    std::int64_t rest(std::uint32_t number) {
        Message& m = messages_[number];
        if (m.rest > 0) return m.rest;
        std::int64_t longest = 0;
        for (const std::uint32_t next : after(m)) {
            if (next != (number ^ 1U)) longest = std::max(longest, rest(next));
        }
        return m.rest = longest + transit(m);
    }

    void prepare() {
        for (auto& leaving : out_) leaving.clear();
        for (std::uint32_t number = 0; number < messages_.size(); ++number) {
            Message& m = messages_[number];
            m = {};
            m.spread = static_cast<std::uint32_t>(number / 2 / edges_per_tree_);
            m.arc = trees_[number / 2][number % 2];
            out_[m.spread * places_ + m.arc.tail].push_back(number);
        }
        open_.clear();
        for (std::uint32_t number = 0; number < messages_.size(); ++number) {
            Message& m = messages_[number];
            m.waits = static_cast<std::uint32_t>(out_[m.spread * places_ + m.arc.tail].size() - 1);
            if (m.waits == 0) open_.push_back(number);
            (void)rest(number);
        }
        std::ranges::fill(free_, 0);
    }

    [[nodiscard]] std::int64_t earliest(const Message& m) const {
        return std::max(m.ready, free_[m.arc.machine]);
    }

    /// The makespan, or kFailed if it is more than allowed.
    std::int64_t evaluate(std::int64_t allowed) {
        prepare();
        std::int64_t makespan = 0;
        while (!open_.empty()) {
            std::int64_t end = kFailed;
            std::uint32_t machine = 0;
            for (const std::uint32_t number : open_) {
                const Message& m = messages_[number];
                if (earliest(m) + busy(m) >= end) continue;
                end = earliest(m) + busy(m);
                machine = m.arc.machine;
            }
            std::size_t chosen = open_.size();
            std::int64_t most = 0;
            for (std::size_t i = 0; i < open_.size(); ++i) {
                const Message& m = messages_[open_[i]];
                if (m.arc.machine != machine || earliest(m) >= end) continue;
                const std::int64_t priority = m.rest + noise_[open_[i]];
                if (chosen < open_.size() && priority <= most) continue;
                chosen = i;
                most = priority;
            }
            const std::uint32_t number = open_[chosen];
            open_[chosen] = open_.back();
            open_.pop_back();
            Message& m = messages_[number];
            m.start = earliest(m);
            if (m.rest > allowed - m.start) return kFailed;
            free_[machine] = m.start + busy(m);
            const std::int64_t arrival = m.start + transit(m);
            makespan = std::max(makespan, arrival);
            for (const std::uint32_t next : after(m)) {
                if (next == (number ^ 1U)) continue;
                messages_[next].ready = std::max(messages_[next].ready, arrival);
                if (--messages_[next].waits == 0) open_.push_back(next);
            }
        }
        return makespan;
    }

    /// Of the last evaluation.
    [[nodiscard]] QuotientExchange result(std::int64_t makespan) const {
        QuotientExchange exchange{Ticks(makespan), {}, {}};
        for (std::uint32_t number = 0; number < messages_.size(); ++number) {
            const Message& m = messages_[number];
            const Message& answer = messages_[number ^ 1U];
            exchange.transfers.push_back({m.spread, m.arc.machine, m.arc.tail, Ticks(m.start)});
            // With the other side's sum it is the whole sum.
            exchange.ops.push_back(answer.start + transit(answer) <= m.start ? Op::Copy : Op::Reduce);
        }
        return exchange;
    }

    const QuotientNetwork& network_;
    const std::size_t places_, edges_per_tree_;
    std::vector<Edge> edges_;                      ///< all there are
    std::vector<Edge> trees_;                      ///< of each spread
    std::vector<std::int64_t> noise_;              ///< per message
    std::vector<Message> messages_;                ///< two for each edge of a tree
    std::vector<std::vector<std::uint32_t>> out_;  ///< per spread and place
    std::vector<std::int64_t> free_;               ///< per machine
    std::vector<std::uint32_t> open_;              ///< messages that wait for nothing but their machine
    std::vector<std::pair<std::size_t, Edge>> edges_before_;
    std::vector<std::pair<std::size_t, std::int64_t>> noise_before_;
    Rng& rng_;
};

}  // namespace

std::optional<QuotientExchange> quotient_exchange(const QuotientNetwork& network, std::size_t spreads,
                                                  Ticks below, Ticks target, std::uint64_t effort, Rng& rng,
                                                  const Stop& stop) {
    if (network.places() < 2 || spreads == 0 || spreads > kMostEdges / network.places()) return std::nullopt;
    return ExchangeSearch(network, spreads, rng).run(below.count(), target.count(), effort, stop);
}

}  // namespace tutti::heuristics
