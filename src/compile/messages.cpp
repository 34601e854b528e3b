// Plans for NPUs have no switches: a thread block sends to another NPU, and the network routes the message.
// So every chain of sends NPU -> switch -> … -> NPU becomes one message.
//
// Which send continues which is what the verifier's rules say (src/verify/README.md, "Switches"): a switch
// that stores has a queue of copies per chunk, and a send takes the oldest; one that cuts through forwards
// what is due at that very tick, the lowest inbound link by the lowest onward one. The sends are replayed
// once in order of time; a flight is a message that has not reached an NPU yet.
//
// A copy that leaves a switch a second time (multicast) and an arrival that is added to a waiting copy
// (in-network reduction) have no counterpart in a plan, and are refused by name. A reducing switch that has
// nothing to add to only forwards.

#include "compile/messages.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <map>
#include <queue>
#include <span>
#include <tuple>
#include <unordered_map>

namespace tutti::compile {
namespace {

/// The links from an NPU to where a flight is, as a number: a trie of links.
class Ways {
  public:
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};

    std::uint32_t then(std::uint32_t way, LinkId link) {
        const auto [found, fresh] = next_.try_emplace({way, link}, static_cast<std::uint32_t>(last_.size()));
        if (fresh) last_.push_back({way, link});
        return found->second;
    }
    [[nodiscard]] std::vector<LinkId> links(std::uint32_t way) const {
        std::vector<LinkId> links;
        for (; way != kNone; way = last_[way].before) links.push_back(last_[way].link);
        std::ranges::reverse(links);
        return links;
    }

  private:
    struct Leg {
        std::uint32_t before;
        LinkId link;
    };
    std::map<std::pair<std::uint32_t, LinkId>, std::uint32_t> next_;
    std::vector<Leg> last_;
};

/// A message that has not reached an NPU yet.
struct Flight {
    std::uint32_t way = Ways::kNone;
    NodeId from;
    Ticks start;
    Ticks pace;  ///< the slowest beta so far, where it is passed on at once
};

class Folding {
  public:
    explicit Folding(const Instance& instance) : instance_(instance), topology_(instance.topology()) {}

    /// Sends of one tick, in order of link, then chunk. Ticks come in order.
    void play(std::span<const Send> sends) {
        deliver(sends.front().start);
        std::vector<Send> onward;
        for (const Send& send : sends) {
            if (topology_.is_cut_through(source(send))) {
                onward.push_back(send);
            } else {
                go(send, taken_from(send));
            }
        }
        pass_on(std::move(onward));
        due_.erase(due_.begin(), due_.lower_bound({sends.front().start, NodeId(), ChunkId()}));
    }

    [[nodiscard]] Messages take() {
        std::ranges::sort(messages_.all, {}, [&](const Message& m) {
            return std::tuple(m.start, messages_.paths[m.path].links.front(), m.chunk);
        });
        return std::move(messages_);
    }

  private:
    struct Queue {
        std::deque<Flight> waiting;
        bool had_one = false;
    };
    struct Landing {
        Ticks tick;
        Send send;
        Flight flight;
        /// The earliest first; at one tick in order of link.
        bool operator<(const Landing& other) const {
            return tick != other.tick ? tick > other.tick : send.link > other.send.link;
        }
    };
    /// What a cut-through switch hands on at a tick.
    struct Due {
        Ticks tick;
        NodeId at;
        ChunkId chunk;
        auto operator<=>(const Due&) const = default;
    };
    struct Passage {
        LinkId link;
        Flight flight;
        bool reduces = false;
        bool taken = false;
    };

    [[nodiscard]] NodeId source(const Send& send) const { return topology_.link(send.link).src; }
    [[nodiscard]] NodeId destination(const Send& send) const { return topology_.link(send.link).dst; }
    [[nodiscard]] static std::uint64_t key(NodeId node, ChunkId chunk) {
        return (std::uint64_t{node.value()} << 32) | chunk.value();
    }

    [[noreturn]] void refuse_copy(const Send& send) const {
        throw InputError(fmt::format(
            "switch {} sends chunk {} more than once (at tick {} again); a plan for NPUs cannot say that a "
            "switch copies: synthesize for a topology whose switches do not",
            source(send).value(), send.chunk.value(), send.start.count()));
    }
    [[noreturn]] void refuse_sum(NodeId at, ChunkId chunk, Ticks tick) const {
        throw InputError(
            fmt::format("switch {} adds contributions of chunk {} at tick {}; a plan for NPUs cannot say "
                        "that a switch reduces: synthesize for a topology whose switches do not",
                        at.value(), chunk.value(), tick.count()));
    }
    [[noreturn]] void refuse_empty(const Send& send) const {
        throw InputError(
            fmt::format("at tick {} chunk {} leaves switch {} before it is there: the schedule is invalid",
                        send.start.count(), send.chunk.value(), source(send).value()));
    }

    /// What has reached the switches that store by then is there.
    void deliver(Ticks tick) {
        while (!landings_.empty() && landings_.top().tick <= tick) {
            const Landing landing = landings_.top();
            landings_.pop();
            const NodeId at = destination(landing.send);
            Queue& queue = queues_[key(at, landing.send.chunk)];
            if (landing.send.op == Op::Reduce && !queue.waiting.empty()) {
                refuse_sum(at, landing.send.chunk, landing.tick);
            }
            queue.waiting.push_back(landing.flight);
            queue.had_one = true;
        }
    }

    /// From an NPU, or from a switch that stores.
    Flight taken_from(const Send& send) {
        const NodeId at = source(send);
        if (topology_.is_npu(at)) return {Ways::kNone, at, send.start, Ticks(0)};
        Queue& queue = queues_[key(at, send.chunk)];
        if (queue.waiting.empty()) {
            if (queue.had_one) refuse_copy(send);
            refuse_empty(send);
        }
        Flight flight = queue.waiting.front();
        queue.waiting.pop_front();
        flight.pace = Ticks(0);
        return flight;
    }

    /// Out of cut-through switches, each send after all that feed its switch at the same tick.
    void pass_on(std::vector<Send> onward) {
        const auto feeds_at_once = [&](const Send& send) {
            return topology_.is_cut_through(destination(send)) && instance_.alpha(send.link) == Ticks(0);
        };
        while (!onward.empty()) {
            std::unordered_map<std::uint64_t, std::size_t> feeding;
            for (const Send& send : onward) {
                if (feeds_at_once(send)) ++feeding[key(destination(send), send.chunk)];
            }
            std::vector<Send> later;
            for (const Send& send : onward) {
                if (feeding.contains(key(source(send), send.chunk))) {
                    later.push_back(send);
                } else {
                    go(send, passing(send));
                }
            }
            if (later.size() == onward.size()) refuse_empty(later.front());
            onward = std::move(later);
        }
    }

    Flight passing(const Send& send) {
        const auto due = due_.find({send.start, source(send), send.chunk});
        if (due == due_.end()) refuse_empty(send);
        auto& passages = due->second;
        std::ranges::stable_sort(passages, {}, &Passage::link);
        const auto passage = std::ranges::find(passages, false, &Passage::taken);
        if (passage == passages.end()) refuse_copy(send);
        passage->taken = true;
        return passage->flight;
    }

    void go(const Send& send, Flight flight) {
        flight.way = ways_.then(flight.way, send.link);
        flight.pace = std::max(flight.pace, instance_.beta(send.link, send.chunk));
        const NodeId to = destination(send);
        const Ticks arrival = send.start + instance_.alpha(send.link) + flight.pace;
        if (topology_.is_npu(to)) {
            messages_.all.push_back(
                {send.chunk, path(flight, to), flight.from, to, flight.start, arrival, send.op});
        } else if (topology_.is_cut_through(to)) {
            enter(send, flight, to);
        } else {
            landings_.push({arrival, send, flight});
        }
    }

    void enter(const Send& send, const Flight& flight, NodeId at) {
        const Ticks tick = send.start + instance_.alpha(send.link);
        auto& passages = due_[{tick, at, send.chunk}];
        const bool reduces = send.op == Op::Reduce && topology_.rule(at).reduce;
        if (reduces && std::ranges::find(passages, true, &Passage::reduces) != passages.end()) {
            refuse_sum(at, send.chunk, tick);
        }
        passages.push_back({send.link, flight, reduces});
    }

    std::uint32_t path(const Flight& flight, NodeId to) {
        const auto [found, fresh] =
            paths_.try_emplace(flight.way, static_cast<std::uint32_t>(messages_.paths.size()));
        if (fresh) messages_.paths.push_back({flight.from, to, ways_.links(flight.way)});
        return found->second;
    }

    const Instance& instance_;
    const Topology& topology_;
    Ways ways_;
    std::unordered_map<std::uint32_t, std::uint32_t> paths_;  ///< by way
    std::unordered_map<std::uint64_t, Queue> queues_;
    std::priority_queue<Landing> landings_;
    std::map<Due, std::vector<Passage>> due_;
    Messages messages_;
};

/// In a plan an NPU has its own contribution from the start, and adds what comes to it.
void refuse_early_forwarding(const Instance& instance, const Messages& messages) {
    for (const Message& message : messages.all) {
        const ChunkId chunk = message.chunk;
        if (!instance.is_staggered(chunk) || !instance.demands().is_reduction(chunk)) continue;
        const auto holders = instance.demand(chunk).holders;
        if (!std::ranges::binary_search(holders, message.from)) continue;
        const Ticks release = instance.release(chunk, message.from);
        if (message.start >= release) continue;
        throw InputError(fmt::format(
            "at tick {} NPU {} forwards others' contributions to chunk {} without its own, which is released "
            "at tick {}: plans cannot say that",
            message.start.count(), message.from.value(), chunk.value(), release.count()));
    }
}

}  // namespace

Messages messages_of(const Instance& instance, const Schedule& schedule, CollectiveId collective) {
    std::vector<Send> sends;
    for (const Send& send : schedule.sends) {
        if (send.chunk.index() >= instance.chunks() ||
            send.link.index() >= instance.topology().links().size()) {
            throw InputError(
                fmt::format("a send names chunk {} and link {}, which the instance does not have",
                            send.chunk.value(), send.link.value()));
        }
        if (instance.demands().collective(send.chunk) == collective) sends.push_back(send);
    }
    std::ranges::sort(sends, starts_before);
    Folding folding(instance);
    for (auto first = sends.begin(); first != sends.end();) {
        const auto last =
            std::find_if(first, sends.end(), [&](const Send& s) { return s.start != first->start; });
        folding.play({first, last});
        first = last;
    }
    Messages messages = folding.take();
    refuse_early_forwarding(instance, messages);
    return messages;
}

std::vector<CollectiveId> collectives_named(const Instance& instance, const std::optional<std::string>& id) {
    std::vector<CollectiveId> chosen;
    std::vector<std::string_view> ids;
    for (std::size_t i = 0; i < instance.collectives().size(); ++i) {
        ids.push_back(instance.collectives()[i].id);
        if (!id || ids.back() == *id) chosen.emplace_back(i);
    }
    if (chosen.empty()) {
        throw InputError(fmt::format("expected a collective of instance '{}' ({}), found '{}'",
                                     instance.name(), fmt::join(ids, ", "), id.value_or("")));
    }
    return chosen;
}

}  // namespace tutti::compile
