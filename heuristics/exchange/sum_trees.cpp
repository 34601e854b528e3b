// All-reduce as an exchange along trees.
//
// A reduce-scatter followed by an all-gather gathers each chunk along a tree to its root and spreads it along
// another one. If both are the same tree, no root is needed: every edge carries one message each way, and the
// message from u to v waits only for what the other neighbours of u send to u. It holds all contributions on
// u's side of the edge. So a chunk takes 2(n-1) messages, and its time is the tree's diameter, not twice its
// height. Whichever of an edge's two messages starts after the other arrived carries the whole sum and is a
// copy; otherwise it is added.
//
// Every contribution arrives once: u's side reaches v over this edge only. A message that would carry
// nothing, because no holder is on its side, or that nobody beyond needs, is left out; so the same code does
// reduce-scatters, broadcasts and relays. Most textbook algorithms are such trees (exchange_trees.cpp).
//
// Times are by list scheduling: each NPU keeps its waiting messages in one heap for each port (the first link
// of the message) and starts the most urgent one that finds all its links free. Only the first few of a heap
// are looked at; with switches many may wait for the same busy target. Justification improves a schedule: all
// messages are moved as late as they can go, and their order then is the order of the next list schedule.

#include "heuristics/exchange/sum_trees.hpp"

#include "core/busy_intervals.hpp"
#include "heuristics/event_queue.hpp"
#include "heuristics/exchange/message_booking.hpp"
#include "heuristics/releases.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

namespace tutti::heuristics {
namespace {

constexpr std::uint32_t kNoMessage = UINT32_MAX;
constexpr std::size_t kLookAhead = 16;

struct TreeMessage {
    ChunkId chunk;
    NodeId from, to;
    std::uint32_t source, target;        ///< places of trees
    std::uint32_t reverse = kNoMessage;  ///< the message of the same edge the other way
    bool meets = false;                  ///< there are contributions on the target's side
    std::uint32_t batch = 0;
    Ticks rest;              ///< until all that depends on it has arrived
    std::uint32_t turn = 0;  ///< for SumTreeTies::Opposed
    HopId hop = {};
    Ticks start = Ticks(-1), arrival = {};
};

/// Makes the messages of trees.
class TreeMessages {
  public:
    explicit TreeMessages(const MessageGraph& graph)
        : graph_(graph), local_(graph.instance().topology().npus(), kNoMessage) {}

    std::vector<TreeMessage> all;
    std::uint32_t places = 0;

    /// False: the tree does not serve the demand.
    bool add(const SumTree& tree, std::uint32_t batch) {
        const Demand demand = graph_.instance().demand(tree.chunk);
        if (tree.edges.empty()) return is_served(demand);
        lay_out(tree);
        const bool fits = count_members(demand) && is_tree(tree);
        if (fits) add_messages(tree, batch);
        for (const NodeId node : nodes_) local_[node.index()] = kNoMessage;
        places += static_cast<std::uint32_t>(nodes_.size());
        return fits;
    }

  private:
    static bool is_served(const Demand& demand) {
        if (demand.reduction && demand.holders.size() > 1) return false;
        return std::ranges::includes(demand.holders, demand.receivers);
    }

    std::uint32_t local(NodeId node) {
        auto& number = local_[node.index()];
        if (number == kNoMessage) {
            number = static_cast<std::uint32_t>(nodes_.size());
            nodes_.push_back(node);
        }
        return number;
    }

    /// Numbers the nodes, in an order in which parents come before children.
    void lay_out(const SumTree& tree) {
        nodes_.clear();
        for (const auto& [a, b] : tree.edges) {
            (void)local(a);
            (void)local(b);
        }
        const std::size_t n = nodes_.size();
        std::vector<std::vector<std::uint32_t>> near(n);
        for (const auto& [a, b] : tree.edges) {
            near[local(a)].push_back(local(b));
            near[local(b)].push_back(local(a));
        }
        parent_.assign(n, kNoMessage);
        order_.assign(1, 0);
        std::vector<bool> seen(n);
        seen[0] = true;
        for (std::size_t i = 0; i < order_.size(); ++i) {
            for (const std::uint32_t next : near[order_[i]]) {
                if (seen[next]) continue;
                seen[next] = true;
                parent_[next] = order_[i];
                order_.push_back(next);
            }
        }
    }

    [[nodiscard]] bool is_tree(const SumTree& tree) const {
        if (order_.size() != nodes_.size() || tree.edges.size() + 1 != nodes_.size()) return false;
        const auto collective = graph_.instance().demand(tree.chunk).collective;
        return std::ranges::all_of(
            nodes_, [&](NodeId node) { return graph_.instance().may_carry(node, collective); });
    }

    /// How many holders and receivers are at and below each node.
    bool count_members(const Demand& demand) {
        holders_.assign(nodes_.size(), 0);
        receivers_.assign(nodes_.size(), 0);
        bool found = false;
        for (const NodeId node : demand.holders) {
            if (local_[node.index()] == kNoMessage) {
                if (demand.reduction) return false;
                continue;
            }
            // Of a plain chunk one copy is enough.
            if (!found || demand.reduction) holders_[local_[node.index()]] = 1;
            found = true;
        }
        for (const NodeId node : demand.receivers) {
            const bool has_it = !demand.reduction && std::ranges::binary_search(demand.holders, node);
            if (has_it) continue;
            if (local_[node.index()] == kNoMessage) return false;
            receivers_[local_[node.index()]] = 1;
        }
        for (std::size_t i = order_.size(); i-- > 1;) {
            holders_[parent_[order_[i]]] += holders_[order_[i]];
            receivers_[parent_[order_[i]]] += receivers_[order_[i]];
        }
        return found;
    }

    void add_messages(const SumTree& tree, std::uint32_t batch) {
        const std::size_t n = nodes_.size();
        up_.assign(n, kNoMessage);
        down_.assign(n, kNoMessage);
        for (const std::uint32_t v : order_) {
            const std::uint32_t p = parent_[v];
            if (p == kNoMessage) continue;
            const std::uint32_t above = holders_[0] - holders_[v];
            const auto add = [&](std::uint32_t from, std::uint32_t to, bool meets) {
                all.push_back({tree.chunk, nodes_[from], nodes_[to], places + from, places + to, kNoMessage,
                               meets, batch, Ticks(0)});
                return static_cast<std::uint32_t>(all.size() - 1);
            };
            if (holders_[v] > 0 && receivers_[0] > receivers_[v]) up_[v] = add(v, p, above > 0);
            if (above > 0 && receivers_[v] > 0) down_[v] = add(p, v, holders_[v] > 0);
            if (up_[v] != kNoMessage && down_[v] != kNoMessage) {
                all[up_[v]].reverse = down_[v];
                all[down_[v]].reverse = up_[v];
            }
        }
        set_rests();
        set_turns();
    }

    /// Both messages of the middle edge have about the same rest.
    void set_turns() {
        std::uint32_t middle = kNoMessage;
        Ticks least = Ticks::max();
        for (std::size_t i = 1; i < order_.size(); ++i) {
            const std::uint32_t v = order_[i];
            if (up_[v] == kNoMessage || down_[v] == kNoMessage) continue;
            const Ticks up = all[up_[v]].rest, down = all[down_[v]].rest;
            const Ticks difference = std::max(up, down) - std::min(up, down);
            if (difference >= least) continue;
            least = difference;
            middle = v;
        }
        if (middle == kNoMessage) return;
        const NodeId below = nodes_[middle], above = nodes_[parent_[middle]];
        const std::uint32_t turn = with_middle_[std::minmax(below, above)]++;
        std::vector<bool> is_below(nodes_.size());
        for (const std::uint32_t v : order_)
            is_below[v] = v == middle || (parent_[v] != kNoMessage && is_below[parent_[v]]);
        for (const std::uint32_t v : order_) {
            for (const auto& [message, to] : {std::pair(up_[v], parent_[v]), std::pair(down_[v], v)}) {
                if (message == kNoMessage) continue;
                all[message].turn = is_below[to] == (below < above) ? turn : UINT32_MAX - turn;
            }
        }
    }

    /// The rest of a message is its own time and the longest rest of those that wait for it.
    void set_rests() {
        const std::size_t n = nodes_.size();
        // The two longest rests of messages that leave a node, downwards at first.
        std::vector<Ticks> longest(n), second(n);
        const auto enter = [&](std::uint32_t node, Ticks rest) {
            if (rest > longest[node]) {
                second[node] = std::exchange(longest[node], rest);
            } else {
                second[node] = std::max(second[node], rest);
            }
        };
        const auto time = [&](const TreeMessage& m) {
            return graph_.joins(m.from, m.to) ? graph_.time(m.from, m.to, m.chunk) : Ticks(0);
        };
        for (std::size_t i = n; i-- > 1;) {
            const std::uint32_t v = order_[i];
            if (down_[v] == kNoMessage) continue;
            TreeMessage& message = all[down_[v]];
            message.rest = time(message) + longest[v];
            enter(parent_[v], message.rest);
        }
        for (std::size_t i = 1; i < n; ++i) {
            const std::uint32_t v = order_[i], p = parent_[v];
            if (up_[v] == kNoMessage) continue;
            TreeMessage& message = all[up_[v]];
            const bool own = down_[v] != kNoMessage && all[down_[v]].rest == longest[p];
            message.rest = time(message) + (own ? second[p] : longest[p]);
            enter(v, message.rest);
        }
    }

    const MessageGraph& graph_;
    std::vector<std::uint32_t> local_;  ///< by NPU: its place in nodes_
    std::vector<NodeId> nodes_;
    std::vector<std::uint32_t> parent_, order_, holders_, receivers_, up_, down_;
    std::map<std::pair<NodeId, NodeId>, std::uint32_t> with_middle_;  ///< how many trees have it
};

/// The ranks of messages that are listed in order.
std::vector<std::uint32_t> ranks_of(const std::vector<std::uint32_t>& sorted) {
    std::vector<std::uint32_t> rank(sorted.size());
    for (std::uint32_t i = 0; i < sorted.size(); ++i) rank[sorted[i]] = i;
    return rank;
}

std::vector<std::uint32_t> ranks_by(const SumTreeOrder& order, const std::vector<TreeMessage>& messages,
                                    std::uint32_t npus) {
    std::vector<std::uint32_t> sorted(messages.size());
    std::iota(sorted.begin(), sorted.end(), 0U);
    const auto ties = [&](const TreeMessage& m) {
        const std::uint32_t shift = (m.to.value() + npus - m.from.value()) % npus;
        return std::pair(order.ties == SumTreeTies::Opposed ? m.turn : 0,
                         order.ties == SumTreeTies::Chunk ? 0 : shift);
    };
    const auto before = [&](std::uint32_t x, std::uint32_t y) {
        const TreeMessage &a = messages[x], &b = messages[y];
        if (a.batch != b.batch) return a.batch < b.batch;
        if (a.rest != b.rest) return order.longest_first ? a.rest > b.rest : a.rest < b.rest;
        if (ties(a) != ties(b)) return ties(a) < ties(b);
        return x < y;
    };
    std::ranges::sort(sorted, before);
    return ranks_of(sorted);
}

/// Moves all messages as late as they can go, the last first, and returns their ranks in the new order.
class Lateness {
  public:
    Lateness(const MessageGraph& graph, const std::vector<TreeMessage>& messages, std::uint32_t places)
        : graph_(graph),
          messages_(messages),
          busy_(graph.instance().topology().links().size()),
          due_(places) {}

    std::vector<std::uint32_t> ranks() {
        Ticks end;
        for (const TreeMessage& m : messages_) end = std::max(end, m.arrival);
        std::vector<std::uint32_t> sorted(messages_.size());
        std::iota(sorted.begin(), sorted.end(), 0U);
        std::ranges::stable_sort(sorted, std::greater(),
                                 [&](std::uint32_t m) { return messages_[m].arrival; });
        std::vector<Ticks> late(messages_.size());
        for (const std::uint32_t m : sorted) {
            const TreeMessage& message = messages_[m];
            // Its answer does not wait for it.
            const auto& [first, second] = due_[message.target];
            const bool own = message.reverse != kNoMessage && first.message == message.reverse;
            late[m] = place(message, std::min(end, (own ? second : first).start));
            enter(due_[message.source], {late[m], m});
        }
        std::ranges::stable_sort(sorted, {}, [&](std::uint32_t m) { return late[m]; });
        return ranks_of(sorted);
    }

  private:
    struct Start {
        Ticks start = Ticks::max();
        std::uint32_t message = kNoMessage;
    };
    using FirstStarts = std::array<Start, 2>;  ///< the two earliest

    static void enter(FirstStarts& starts, const Start& start) {
        if (start.start < starts[0].start) {
            starts[1] = std::exchange(starts[0], start);
        } else if (start.start < starts[1].start) {
            starts[1] = start;
        }
    }
    /// Books it at the last start from which it arrives in time.
    Ticks place(const TreeMessage& message, Ticks due) {
        graph_.hops().leg_times(message.hop, message.chunk, legs_);
        Ticks start = due - graph_.transit(message.hop, message.chunk);
        for (std::size_t agreed = 0, i = 0; agreed < legs_.size(); i = (i + 1) % legs_.size()) {
            const LegTime& leg = legs_[i];
            const Ticks last =
                busy_[leg.link.index()].latest(start + leg.offset + leg.busy, leg.busy) - leg.offset;
            agreed = last == start ? agreed + 1 : 1;
            start = last;
        }
        for (const LegTime& leg : legs_)
            busy_[leg.link.index()].book(start + leg.offset, start + leg.offset + leg.busy);
        return start;
    }

    const MessageGraph& graph_;
    const std::vector<TreeMessage>& messages_;
    std::vector<BusyIntervals<Ticks>> busy_;
    std::vector<FirstStarts> due_;  ///< by place: when what leaves it starts
    std::vector<LegTime> legs_;
};

/// The simulation.
class TreeSimulation {
  public:
    /// `rank`: by message; those with lower ranks go first.
    TreeSimulation(const MessageGraph& graph, std::vector<TreeMessage>& messages, std::uint32_t places,
                   std::vector<std::uint32_t> rank)
        : graph_(graph),
          messages_(messages),
          calendar_(graph.instance().topology().links().size()),
          queues_(graph.instance().topology().links().size()),
          missing_(places, 0),
          missing_one_(places, 0),
          first_out_(places + 1, 0),
          out_(messages.size()),
          rank_(std::move(rank)) {
        for (const TreeMessage& message : messages_) ++first_out_[message.source + 1];
        std::partial_sum(first_out_.begin(), first_out_.end(), first_out_.begin());
        auto next = first_out_;
        for (std::uint32_t m = 0; m < messages_.size(); ++m) {
            out_[next[messages_[m].source]++] = m;
            ++missing_[messages_[m].target];
            missing_one_[messages_[m].target] ^= m;
        }
    }

    bool run(const Stop& stop) {
        for (std::uint32_t place = 0; place < missing_.size(); ++place) release_from(place, Ticks(0));
        std::vector<Event> now;
        for (std::uint64_t round = 0; !events_.empty(); ++round) {
            if ((round & 255U) == 0 && stop.requested()) return false;
            events_.pop(now);
            const Ticks time(now.front().time);
            for (const Event& event : now) {
                if (event.kind == Event::Kind::Arrival) {
                    arrive(event.id, time);
                } else if (event.kind == Event::Kind::Ready) {
                    enqueue(event.id, time);
                } else {
                    touch(event.id, time);
                }
            }
            // Arrivals of this very time come in a batch of their own, as no message takes no time.
            for (const std::uint32_t queue : touched_) serve(queue, time);
            touched_.clear();
        }
        return true;
    }

  private:
    struct Event {
        enum class Kind : std::uint8_t { Arrival, Ready, Wake };
        std::int64_t time;
        std::uint32_t id;  ///< a message, or the queue that wakes up
        Kind kind;
    };
    struct Queue {
        std::vector<std::uint64_t> heap;  ///< rank and message, the lowest on top
        Ticks wakes = Ticks(-1);
        Ticks touched = Ticks(-1);
    };

    /// What can leave the place now: with one arrival missing, the answer to it; with none, everything.
    void release_from(std::uint32_t place, Ticks time) {
        if (missing_[place] == 1) {
            const std::uint32_t answer = messages_[missing_one_[place]].reverse;
            if (answer != kNoMessage) release(answer, time);
        } else if (missing_[place] == 0) {
            for (std::uint32_t i = first_out_[place]; i < first_out_[place + 1]; ++i) release(out_[i], time);
        }
    }
    void release(std::uint32_t message, Ticks time) {
        TreeMessage& m = messages_[message];
        if (m.start >= Ticks(0)) return;  // released before
        m.start = std::max(time, release_at(graph_.instance(), m.chunk, m.from));
        events_.push({m.start.count(), message, Event::Kind::Ready});
    }
    void enqueue(std::uint32_t message, Ticks time) {
        const TreeMessage& m = messages_[message];
        // TreeMessages that have a choice of ports wait at the first of them.
        LinkId port = graph_.hops().legs(graph_.between(m.from, m.to).front()).front();
        for (const HopId hop : graph_.between(m.from, m.to))
            port = std::min(port, graph_.hops().legs(hop).front());
        auto& heap = queues_[port.index()].heap;
        heap.push_back(std::uint64_t{rank_[message]} << 32 | message);
        std::ranges::push_heap(heap, std::greater());
        touch(port.value(), time);
    }
    void touch(std::uint32_t queue, Ticks time) {
        if (queues_[queue].touched == time) return;
        queues_[queue].touched = time;
        touched_.push_back(queue);
    }
    void arrive(std::uint32_t message, Ticks time) {
        const std::uint32_t place = messages_[message].target;
        --missing_[place];
        missing_one_[place] ^= message;
        release_from(place, time);
    }

    void serve(std::uint32_t number, Ticks time) {
        Queue& queue = queues_[number];
        queue.touched = Ticks(-1);
        blocked_.clear();
        Ticks wake = Ticks::max();
        while (!queue.heap.empty() && blocked_.size() < kLookAhead) {
            std::ranges::pop_heap(queue.heap, std::greater());
            const std::uint64_t top = queue.heap.back();
            queue.heap.pop_back();
            const auto id = static_cast<std::uint32_t>(top);
            TreeMessage& m = messages_[id];
            const MessageSlot slot = earliest_slot(graph_, calendar_, m.from, m.to, m.chunk, time);
            if (slot.start > time) {
                wake = std::min(wake, slot.start);
                blocked_.push_back(top);
                // Where all have one port, and that is busy, none can start.
                if (graph_.between(m.from, m.to).size() == 1 && !calendar_.is_free(LinkId(number), time))
                    break;
                continue;
            }
            m.hop = slot.hop;
            m.start = slot.start;
            m.arrival = slot.arrival;
            calendar_.book(graph_.hops(), m.hop, m.chunk, m.start);
            events_.push({m.arrival.count(), id, Event::Kind::Arrival});
        }
        for (const std::uint64_t entry : blocked_) {
            queue.heap.push_back(entry);
            std::ranges::push_heap(queue.heap, std::greater());
        }
        if (blocked_.empty() || (queue.wakes > time && queue.wakes <= wake)) return;
        queue.wakes = wake;
        events_.push({wake.count(), number, Event::Kind::Wake});
    }

    const MessageGraph& graph_;
    std::vector<TreeMessage>& messages_;
    LinkCalendar calendar_;
    std::vector<Queue> queues_;               ///< by first link
    std::vector<std::uint32_t> missing_;      ///< by place: arrivals to come
    std::vector<std::uint32_t> missing_one_;  ///< their numbers combined: where there is one, it
    std::vector<std::uint32_t> first_out_, out_;
    std::vector<std::uint32_t> rank_;
    std::vector<std::uint32_t> touched_;
    std::vector<std::uint64_t> blocked_;
    EventQueue<Event> events_;
};

Ticks last_arrival(const std::vector<TreeMessage>& messages) {
    Ticks last;
    for (const TreeMessage& message : messages) last = std::max(last, message.arrival);
    return last;
}

}  // namespace

std::optional<std::vector<Move>> schedule_sum_trees(const MessageGraph& graph,
                                                    const std::vector<SumTree>& trees,
                                                    const SumTreeOrder& order, const Stop& stop) {
    TreeMessages messages(graph);
    for (std::size_t i = 0; i < trees.size(); ++i) {
        if ((i & 63U) == 0 && stop.requested()) return std::nullopt;
        if (!messages.add(trees[i], order.batches.empty() ? 0 : order.batches[i])) return std::nullopt;
    }
    const bool joined = std::ranges::all_of(
        messages.all, [&](const TreeMessage& message) { return graph.joins(message.from, message.to); });
    if (!joined || stop.requested()) return std::nullopt;
    auto& all = messages.all;
    const auto unscheduled = order.justifications > 0 ? all : std::vector<TreeMessage>{};
    const auto rank = ranks_by(order, all, graph.instance().topology().npus());
    if (!TreeSimulation(graph, all, messages.places, rank).run(stop)) return std::nullopt;
    for (unsigned i = 0; i < order.justifications; ++i) {
        auto again = unscheduled;
        auto late = Lateness(graph, all, messages.places).ranks();
        if (!TreeSimulation(graph, again, messages.places, std::move(late)).run(stop)) break;
        if (last_arrival(again) >= last_arrival(all)) break;
        all = std::move(again);
    }
    std::vector<Move> moves;
    moves.reserve(messages.all.size());
    for (const TreeMessage& m : messages.all) {
        const bool is_whole = m.reverse != kNoMessage && messages.all[m.reverse].arrival <= m.start;
        const Op op = m.meets && !is_whole ? Op::Reduce : Op::Copy;
        moves.push_back({&graph.hops(), {m.hop, m.chunk, m.start}, op});
    }
    return moves;
}

}  // namespace tutti::heuristics
