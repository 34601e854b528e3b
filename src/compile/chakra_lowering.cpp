// A Chakra trace is a graph of sends and receives without times: each begins when its dependencies are
// complete. So the schedule's times have to become dependencies, of two kinds.
//
// Data. A send forwards a value: its NPU's own, a received one, or a sum. It waits for the receives that make
// up that value: for a plain chunk the first one (none if the NPU holds the chunk from the start), for a
// reduction those since the value was last replaced.
//
// Order. Two messages that leave over the same link keep the schedule's order. The second must not wait for
// the first: in ASTRA-sim a send is complete when it has arrived, so a link could never have two messages in
// flight, and every message would pay the latency again. What is needed is "begins after the other has
// begun", which traces cannot express. But two nodes with the same dependencies begin together, so a node
// that takes no time and has the dependencies of the first message represents its beginning: a gate. The k-th
// message on a link waits for gate k, and gate k for gate k-1 and for all dependencies of message k-1. A gate
// takes 1 ns in ASTRA-sim. A message that waits for data, after one that waits for nothing, needs no gate.
//
// Receives wait for nothing: they can all be posted at the beginning, as traces have no buffers to overrun.
//
// Nodes are numbered in order of time, receives before sends of the same tick. Simulators that look at the
// number to choose among nodes that are ready then choose as the schedule does.

#include "compile/chakra_lowering.hpp"

#include "compile/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>
#include <unordered_map>

namespace tutti::compile {
namespace {

using plan::ChakraNode;
using plan::ChakraTraces;

/// ASTRA-sim takes tags modulo this.
constexpr std::size_t kMaxMessages = 500'000'000;
constexpr std::int64_t kTicksPerMicrosecond = 1'000'000;

struct TaggedMessage {
    Message message;
    LinkId first_link;
};

/// Of all collectives, in the schedule's order; the position is the tag.
std::vector<TaggedMessage> all_messages(const Instance& instance, const Schedule& schedule) {
    std::vector<Schedule> parts(instance.collectives().size());
    for (const Send& send : schedule.sends) {
        if (send.chunk.index() >= instance.chunks()) {
            throw InputError(
                fmt::format("a send names chunk {}, which the instance does not have", send.chunk.value()));
        }
        parts[instance.demands().collective(send.chunk).index()].sends.push_back(send);
    }
    std::vector<TaggedMessage> tagged;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const Messages messages = messages_of(instance, parts[i], CollectiveId(i));
        parts[i].sends = {};
        for (const Message& message : messages.all) {
            tagged.push_back({message, messages.paths[message.path].links.front()});
        }
    }
    if (tagged.size() > kMaxMessages) {
        throw InputError(
            fmt::format("a Chakra trace has room for {} messages, found {}", kMaxMessages, tagged.size()));
    }
    std::ranges::stable_sort(tagged, {}, [](const TaggedMessage& m) {
        return std::tuple(m.message.start, m.first_link, m.message.chunk);
    });
    return tagged;
}

/// What a node of an NPU comes from: a message that leaves or one that arrives.
struct ChakraEvent {
    Ticks tick;
    bool leaves = false;
    std::uint32_t tag = 0;
    auto operator<=>(const ChakraEvent&) const = default;
};

/// The trace of one NPU.
class TraceWriter {
  public:
    TraceWriter(const Instance& instance, const std::vector<TaggedMessage>& messages, NodeId npu)
        : instance_(instance), messages_(messages), npu_(npu) {}

    std::vector<ChakraNode> write(std::vector<ChakraEvent>& events) && {
        std::ranges::sort(events);
        for (const ChakraEvent& event : events) {
            const TaggedMessage& tagged = messages_[event.tag];
            if (event.leaves) {
                send(tagged, event.tag);
            } else {
                receive(tagged.message, event.tag);
            }
        }
        if (nodes_.empty()) add_gate({}, 0);
        return std::move(nodes_);
    }

  private:
    using Ids = std::vector<std::uint32_t>;

    /// What makes up the NPU's value of a chunk: its own, and what these receives brought.
    struct Value {
        bool own = false;
        Ids received;
    };

    ChakraNode& add(ChakraNode::Type type, Ids after) {
        std::ranges::sort(after);
        after.erase(std::unique(after.begin(), after.end()), after.end());
        ChakraNode& node = nodes_.emplace_back();
        node.type = type;
        node.id = static_cast<std::uint32_t>(nodes_.size());
        node.after = std::move(after);
        return node;
    }

    std::uint32_t add_gate(Ids after, std::int64_t microseconds) {
        ChakraNode& node = add(ChakraNode::Type::Gate, std::move(after));
        node.microseconds = microseconds;
        return node.id;
    }

    std::uint32_t add_message(ChakraNode::Type type, const Message& message, std::uint32_t tag, Ids after) {
        ChakraNode& node = add(type, std::move(after));
        node.peer = type == ChakraNode::Type::Send ? message.to : message.from;
        node.tag = tag;
        node.bytes = instance_.demand(message.chunk).bytes;
        node.chunk = message.chunk;
        node.collective = instance_.demands().collective(message.chunk).value();
        return node.id;
    }

    Value& value_of(ChunkId chunk) {
        const auto [found, is_new] = values_.try_emplace(chunk);
        if (is_new) {
            found->second.own = std::ranges::binary_search(instance_.demand(chunk).holders, npu_);
        }
        return found->second;
    }

    void receive(const Message& message, std::uint32_t tag) {
        const std::uint32_t id = add_message(ChakraNode::Type::Receive, message, tag, {});
        Value& value = value_of(message.chunk);
        const bool reduction = instance_.demands().is_reduction(message.chunk);
        // A second copy of a plain chunk brings nothing new.
        if (!reduction && (value.own || !value.received.empty())) return;
        if (message.op == Op::Copy) value = {};
        value.received.push_back(id);
    }

    void send(const TaggedMessage& tagged, std::uint32_t tag) {
        const Message& message = tagged.message;
        const Value& value = value_of(message.chunk);
        if (!value.own && value.received.empty()) {
            throw InputError(
                fmt::format("at tick {} NPU {} sends chunk {}, which it does not hold: the schedule "
                            "is invalid",
                            message.start.count(), npu_.value(), message.chunk.value()));
        }
        Ids needs = value.received;
        if (value.own) {
            if (const auto released = release_gate(message.chunk)) needs.push_back(*released);
        }
        Ids after = needs;
        if (const auto gate = order_gate(tagged.first_link, needs)) after.push_back(*gate);
        before_[tagged.first_link] = after;
        add_message(ChakraNode::Type::Send, message, tag, std::move(after));
    }

    /// What stands for the beginning of the message before, on that link; none if this one comes later
    /// anyway.
    std::optional<std::uint32_t> order_gate(LinkId link, const Ids& needs) {
        const auto before = before_.find(link);
        if (before == before_.end() || (before->second.empty() && !needs.empty())) return std::nullopt;
        return add_gate(before->second, 0);
    }

    /// A holder's own data is there from its release on.
    std::optional<std::uint32_t> release_gate(ChunkId chunk) {
        const std::int64_t ticks = instance_.release(chunk, npu_).count();
        if (ticks == 0) return std::nullopt;
        const auto [found, is_new] = released_.try_emplace(instance_.demands().collective(chunk), 0);
        if (is_new) {
            found->second = add_gate({}, (ticks - 1) / kTicksPerMicrosecond + 1);
        }
        return found->second;
    }

    const Instance& instance_;
    const std::vector<TaggedMessage>& messages_;
    NodeId npu_;
    std::vector<ChakraNode> nodes_;
    std::unordered_map<ChunkId, Value> values_;
    std::unordered_map<LinkId, Ids> before_;  ///< what the last message on a link waited for
    std::unordered_map<CollectiveId, std::uint32_t> released_;
};

void check_units(const Instance& instance, const std::vector<TaggedMessage>& messages) {
    for (const TaggedMessage& tagged : messages) {
        const Collective& collective = instance.collective_of(tagged.message.chunk);
        if (instance.demand(tagged.message.chunk).bytes.count <= 0) {
            throw InputError(fmt::format("collective '{}' gives no chunk_bytes; a Chakra trace needs sizes",
                                         collective.id));
        }
        if (last_release(collective) > Ticks(0) && instance.topology().units() == Units::Abstract) {
            throw InputError(
                fmt::format("collective '{}' is released at tick {}; in abstract units nobody knows "
                            "how long that is, and a Chakra trace needs to",
                            collective.id, last_release(collective).count()));
        }
    }
}

void add_groups(const Instance& instance, ChakraTraces& traces) {
    std::vector<std::uint32_t> number_of(instance.groups().size(), 0);
    std::vector<NodeId> everyone;
    for (std::uint32_t npu = 0; npu < instance.topology().npus(); ++npu) everyone.emplace_back(npu);
    for (const Collective& collective : instance.collectives()) {
        const std::size_t group = collective.group.index();
        const std::vector<NodeId>& members = instance.groups()[group].members;
        if (number_of[group] == 0 && members != everyone) {
            number_of[group] = static_cast<std::uint32_t>(traces.groups.size() + 1);
            traces.groups.push_back({number_of[group], members});
        }
        traces.collectives.push_back(collective.id);
        traces.group_of.push_back(number_of[group]);
    }
}

}  // namespace

ChakraTraces lower_to_chakra(const Instance& instance, const Schedule& schedule) {
    const std::vector<TaggedMessage> messages = all_messages(instance, schedule);
    check_units(instance, messages);
    std::vector<std::vector<ChakraEvent>> events(instance.topology().npus());
    for (std::size_t i = 0; i < messages.size(); ++i) {
        const Message& message = messages[i].message;
        const auto tag = static_cast<std::uint32_t>(i);
        events[message.from.index()].push_back({message.start, true, tag});
        events[message.to.index()].push_back({message.arrival, false, tag});
    }
    ChakraTraces traces;
    for (std::uint32_t npu = 0; npu < instance.topology().npus(); ++npu) {
        traces.npus.push_back(TraceWriter(instance, messages, NodeId(npu)).write(events[npu]));
        events[npu] = {};
    }
    add_groups(instance, traces);
    return traces;
}

}  // namespace tutti::compile
