// From the messages of a collective to those that its ranks need.
//
// A schedule may contain useless sends: to a node that has the chunk, or to one that does not use it.
// In a schedule that costs a link some time; in a plan it costs steps, dependencies and a place to put it.
// So each chunk is played in versions. A node's version of a chunk is what it holds at the start, what a copy
// replaces it by, or the sum of a version and a message; a message carries the version that its sender had at
// its start. What the receivers have at the end is needed, and so is every version that a needed version was
// made from. The other messages are dropped. What a node sends to
// itself through a switch is no message. Whoever is left outside the group is a relay.

#include "compile/part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

namespace tutti::compile {
namespace {

constexpr std::uint32_t kNoMessage = ~std::uint32_t{0};

/// Any of both kinds of messages.
template <class Some>
std::vector<Event> ordered(std::span<const Some> messages) {
    std::vector<Event> events;
    events.reserve(2 * messages.size());
    for (std::uint32_t i = 0; i < messages.size(); ++i) {
        events.push_back({i, false});
        events.push_back({i, true});
    }
    const auto time = [&](const Event& e) {
        const Some& m = messages[e.message];
        return std::tuple(e.arrives ? m.arrival : m.start, !e.arrives, e.message);
    };
    std::ranges::sort(events, {}, time);
    return events;
}

/// One chunk, played in versions.
class Versions {
  public:
    Versions(const Demand& demand, std::span<Message> messages) : demand_(demand), messages_(messages) {
        for (const NodeId holder : demand.holders) write(holder, {});
        carried_.resize(messages.size(), kNoMessage);
        for (const Event& event : ordered(std::span<const Message>(messages))) {
            event.arrives ? arrive(event.message) : leave(event.message);
        }
    }

    /// Which messages are needed; makes Op::Copy of those that add to nothing.
    [[nodiscard]] std::vector<bool> needed() const {
        std::vector<bool> messages(messages_.size(), false);
        std::vector<bool> seen(versions_.size(), false);
        std::vector<std::uint32_t> open;
        const auto want = [&](std::uint32_t version) {
            if (version == kNoMessage || seen[version]) return;
            seen[version] = true;
            open.push_back(version);
        };
        for (const NodeId receiver : demand_.receivers)
            want(now_.contains(receiver) ? now_.at(receiver) : kNoMessage);
        while (!open.empty()) {
            const Version version = versions_[open.back()];
            open.pop_back();
            if (version.message == kNoMessage) continue;
            messages[version.message] = true;
            want(version.before);
            want(carried_[version.message]);
        }
        return messages;
    }

  private:
    struct Version {
        std::uint32_t message = kNoMessage;  ///< that made it; kNoMessage: there from the start
        std::uint32_t before = kNoMessage;   ///< that the message was added to
    };
    void write(NodeId node, Version version) {
        now_[node] = static_cast<std::uint32_t>(versions_.size());
        versions_.push_back(version);
    }
    void leave(std::uint32_t i) {
        const auto held = now_.find(messages_[i].from);
        if (held == now_.end()) {
            throw InputError(fmt::format(
                "at tick {} NPU {} sends chunk {} without having it: the schedule is invalid",
                messages_[i].start.count(), messages_[i].from.value(), messages_[i].chunk.value()));
        }
        carried_[i] = held->second;
    }
    void arrive(std::uint32_t i) {
        Message& message = messages_[i];
        const auto held = now_.find(message.to);
        if (held == now_.end()) message.op = Op::Copy;
        if (held != now_.end() && !demand_.reduction) return;
        if (message.from == message.to) {
            // Once around through a switch: nothing happens, unless the value has changed meanwhile.
            if (held->second == carried_[i]) return;
            throw InputError(fmt::format(
                "NPU {} sends chunk {} to itself from tick {} on, and gets an older value back than it has "
                "then, which plans cannot say",
                message.from.value(), message.chunk.value(), message.start.count()));
        }
        write(message.to, {i, message.op == Op::Reduce ? held->second : kNoMessage});
    }

    Demand demand_;
    std::span<Message> messages_;
    std::vector<Version> versions_;
    std::vector<std::uint32_t> carried_;  ///< by message
    std::unordered_map<NodeId, std::uint32_t> now_;
};

/// The messages that are needed, in their order.
std::vector<Message> needed_of(const Instance& instance, std::vector<Message> messages) {
    std::vector<std::uint32_t> by_chunk(messages.size());
    for (std::uint32_t i = 0; i < by_chunk.size(); ++i) by_chunk[i] = i;
    std::ranges::stable_sort(by_chunk, {}, [&](std::uint32_t i) { return messages[i].chunk; });
    std::vector<bool> keep(messages.size(), false);
    std::vector<Message> of_chunk;
    for (std::size_t first = 0; first < by_chunk.size();) {
        const ChunkId chunk = messages[by_chunk[first]].chunk;
        of_chunk.clear();
        std::size_t last = first;
        for (; last < by_chunk.size() && messages[by_chunk[last]].chunk == chunk; ++last) {
            of_chunk.push_back(messages[by_chunk[last]]);
        }
        const std::vector<bool> needed = Versions(instance.demand(chunk), of_chunk).needed();
        for (std::size_t i = 0; i < of_chunk.size(); ++i) {
            messages[by_chunk[first + i]] = of_chunk[i];
            keep[by_chunk[first + i]] = needed[i];
        }
        first = last;
    }
    std::vector<Message> kept;
    for (std::size_t i = 0; i < messages.size(); ++i) {
        if (keep[i]) kept.push_back(messages[i]);
    }
    return kept;
}

void check_sizes(const Instance& instance, const Part& part) {
    for (std::uint32_t c = 1; c < part.chunks; ++c) {
        const Bytes first = instance.demand(ChunkId(part.first_chunk)).bytes;
        const Bytes other = instance.demand(ChunkId(part.first_chunk + c)).bytes;
        if (first == other) continue;
        throw InputError(
            fmt::format("chunk {} has {} bytes and chunk {} has {}; the chunks of a plan are of one size",
                        part.first_chunk, first.count, part.first_chunk + c, other.count));
    }
}

/// The ranks: the group's members, then the relays.
void number_ranks(const Group& group, std::span<const Message> messages, Part& part) {
    part.members = static_cast<std::uint32_t>(group.members.size());
    part.npus = group.members;
    std::set<NodeId> relays;
    for (const Message& m : messages) relays.insert({m.from, m.to});
    for (const NodeId member : group.members) relays.erase(member);
    part.npus.insert(part.npus.end(), relays.begin(), relays.end());
    part.ranks = static_cast<std::uint32_t>(part.npus.size());
}

}  // namespace

std::vector<Event> events_of(std::span<const RankMessage> messages) { return ordered(messages); }

Part part_of(const Instance& instance, const Schedule& schedule, CollectiveId collective) {
    Part part{.collective = collective};
    for (std::uint32_t c = 0; c < instance.chunks(); ++c) {
        if (instance.demands().collective(ChunkId(c)) != collective) continue;
        if (part.chunks++ == 0) part.first_chunk = c;
    }
    check_sizes(instance, part);
    Messages messages = messages_of(instance, schedule, collective);
    messages.all = needed_of(instance, std::move(messages.all));
    number_ranks(instance.groups()[instance.collective(collective).group.index()], messages.all, part);
    std::vector<std::uint32_t> rank(instance.topology().npus(), kNoMessage);
    for (std::uint32_t r = 0; r < part.ranks; ++r) rank[part.npus[r].index()] = r;
    for (const Message& m : messages.all) {
        part.messages.push_back({m.chunk.value() - part.first_chunk, rank[m.from.index()], rank[m.to.index()],
                                 m.path, m.start, m.arrival, m.op});
    }
    part.paths = std::move(messages.paths);
    return part;
}

}  // namespace tutti::compile
