// Local search on the order of messages, for all-gathers and reduce-scatters through switches.
//
// two_levels places messages in the order of waves and rounds, each at the earliest tick. Where a port
// carries both what comes from far and what comes from near, another order is often shorter: near messages in
// the gaps between far ones, or far ones only so early that they are in time. Here an order is changed and
// placed again, some ten thousand times a second:
//
// 1. Justification. Every message has a latest start at which nothing would end later than the makespan, if
//    all links keep their order. Messages that have the least time left come first.
// 2. A message that ends late, or one that holds it up (the one before it on a link that it waits for, or the
//    one that brings the chunk to its sender), is placed earlier, or takes another path, or comes from
//    another NPU that has the chunk.
//
// A change is kept if the total lateness does not rise, or rises a little. Lateness is the excess of ends
// over the goal, which is a little below the best makespan, so that nearly late messages count too.
//
// Orders are placed on calendars of its own, without the rules for two messages of one chunk that meet in a
// switch; what is best is placed again by MessagePlacer, in the order of the starts. Complexity: O(links of
// all messages * log) a move.

#include "heuristics/levels/order_search.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace tutti::heuristics {
namespace {

constexpr std::uint64_t kMovesPerPoll = 16;
constexpr std::uint64_t kMovesPerMessage = 200;
/// The most that lateness may rise is the least time of a stretch divided by this.
constexpr std::int64_t kCold = 16;

}  // namespace

OrderSearch::OrderSearch(const Instance& instance, MessageRoutes& routes, const MessagePlacer& plan,
                         Direction direction, Rng& rng)
    : instance_(instance),
      routes_(routes),
      direction_(direction),
      rng_(rng),
      busy_(instance.topology().links().size()),
      loads_(busy_.size()) {
    for (const auto& placed : plan.messages()) add(placed);
    link_parents();
    order_.resize(messages_.size());
    std::iota(order_.begin(), order_.end(), MessageId(0));
    place_all();
    for (const Message& message : messages_)
        for (const Piece& piece : message.pieces) fastest_ = std::min(fastest_, piece.transit);
    keep_best();
}

void OrderSearch::run(Time target, std::uint64_t work, const Stop& stop) {
    target_ = target;
    set_goal();
    const std::uint64_t count = std::max<std::size_t>(messages_.size(), 1);
    // Little is gained by more on a small plan; without a limit of work the stop is the limit.
    const std::uint64_t moves = work == UINT64_MAX ? work : std::min(work / count, kMovesPerMessage * count);
    for (std::uint64_t move = 0; move < moves && best_makespan_ > target; ++move) {
        if (move % kMovesPerPoll == 0 && stop.requested()) break;
        if (!change()) continue;
        place_all();
        const Time lateness = measured();
        if (lateness > std::max(lateness_, record_ + allowance())) {
            undo();
            continue;
        }
        lateness_ = lateness;
        record_ = std::min(record_, lateness);
        if (makespan_ < best_makespan_) keep_best();
    }
}

MessagePlacer OrderSearch::placed() const {
    // A relay from which nobody takes the chunk any more is left out: of a sum it would have nothing to send.
    std::set<std::pair<ChunkId, NodeId>> senders;
    std::vector<bool> is_used(best_.size());
    for (std::size_t i = best_.size(); i-- > 0;) {
        const auto& [chunk, path, from, to] = best_[i];
        const Demand demand = instance_.demand(chunk);
        const auto targets = direction_ == Direction::Forwards ? demand.receivers : demand.holders;
        is_used[i] = senders.contains({chunk, to}) || std::ranges::binary_search(targets, to);
        if (is_used[i]) senders.emplace(chunk, from);
    }
    MessagePlacer placer(instance_, direction_);
    std::map<std::pair<ChunkId, NodeId>, Ticks> since;
    for (std::size_t i = 0; i < best_.size(); ++i) {
        if (!is_used[i]) continue;
        const auto& [chunk, path, from, to] = best_[i];
        const auto known = since.find({chunk, from});
        const Ticks ready = known != since.end() ? known->second : Ticks(release(chunk));
        since[{chunk, to}] = placer.place(chunk, path, ready, Op::Copy).end;
    }
    return placer;
}

OrderSearch::Time OrderSearch::release(ChunkId chunk) const {
    return direction_ == Direction::Forwards ? instance_.last_release(chunk).count() : 0;
}

void OrderSearch::add(const MessagePlacer::Placed& placed) {
    const Topology& topology = instance_.topology();
    Message message{placed.chunk,
                    topology.link(placed.links.front()).src,
                    topology.link(placed.links.back()).dst,
                    placed.links,
                    {}};
    if (direction_ == Direction::Backwards) std::swap(message.from, message.to);
    find_pieces(message);
    messages_.push_back(std::move(message));
}

void OrderSearch::find_pieces(Message& message) {
    const Topology& topology = instance_.topology();
    message.pieces.clear();
    std::span<const LinkId> rest = message.path;
    while (!rest.empty()) {
        std::size_t count = rest.size();
        for (std::size_t i = 0; direction_ == Direction::Forwards && i + 1 < rest.size(); ++i) {
            const SwitchRule& rule = topology.rule(topology.link(rest[i]).dst);
            if (rule.cut_through || rule.buffer) continue;
            count = i + 1;
            break;
        }
        Piece piece;
        piece.transit = path_times(instance_, rest.first(count), message.chunk, legs_).count();
        for (const LegTime& leg : legs_) {
            const Time offset = direction_ == Direction::Forwards
                                    ? leg.offset.count()
                                    : piece.transit - leg.offset.count() - leg.busy.count();
            piece.legs.push_back({leg.link.value(), offset, leg.busy.count()});
        }
        message.pieces.push_back(std::move(piece));
        rest = rest.subspan(count);
    }
}

void OrderSearch::link_parents() {
    std::map<std::pair<ChunkId, NodeId>, MessageId> brings;
    for (MessageId m = 0; m < messages_.size(); ++m) {
        Message& message = messages_[m];
        const auto known = brings.find({message.chunk, message.from});
        if (known != brings.end()) message.parent = known->second;
        brings[{message.chunk, message.to}] = m;
        of_chunk_[message.chunk].push_back(m);
    }
}

void OrderSearch::place_all() {
    for (auto& busy : busy_) busy.clear();
    sequence_.clear();
    ++turn_;
    makespan_ = 0;
    for (const MessageId m : order_) place(m);
}

OrderSearch::Time OrderSearch::place(MessageId m) {
    Message& message = messages_[m];
    if (message.turn == turn_) return message.end;
    message.turn = turn_;
    Time at = message.parent == kNone ? release(message.chunk) : place(message.parent);
    for (Piece& piece : message.pieces) {
        piece.start = earliest(piece, at);
        for (const Leg& leg : piece.legs)
            busy_[leg.link].book(piece.start + leg.offset, piece.start + leg.offset + leg.busy, m);
        at = piece.start + piece.transit;
    }
    sequence_.push_back(m);
    message.end = at;
    makespan_ = std::max(makespan_, at);
    return at;
}

OrderSearch::Time OrderSearch::earliest(const Piece& piece, Time ready) const {
    for (std::size_t free = 0; free < piece.legs.size();) {
        free = 0;
        for (const Leg& leg : piece.legs) {
            const Time start = busy_[leg.link].earliest(ready + leg.offset, leg.busy) - leg.offset;
            if (start == ready) ++free;
            ready = start;
        }
    }
    return ready;
}

void OrderSearch::set_goal() {
    goal_ = std::max(target_, best_makespan_ - fastest_);
    record_ = lateness_ = measured();
}

OrderSearch::Time OrderSearch::measured() const {
    Time sum = 0;
    for (const Message& message : messages_) sum += std::max<Time>(0, message.end - goal_);
    return sum;
}

OrderSearch::Time OrderSearch::allowance() {
    const auto dice = static_cast<Time>(rng_.below(kDice));
    const Time share = dice * dice / Time(kDice) * dice / Time(kDice);
    return fastest_ / Time(kDice) * share / kCold;
}

void OrderSearch::keep_best() {
    best_makespan_ = makespan_;
    best_.clear();
    for (const MessageId m : sequence_)
        best_.push_back({messages_[m].chunk, messages_[m].path, messages_[m].from, messages_[m].to});
    set_goal();
}

void OrderSearch::justify() {
    struct Placed {
        Time start;
        MessageId message;
        std::uint32_t piece;
    };
    std::vector<Placed> all;
    for (MessageId m = 0; m < messages_.size(); ++m) {
        messages_[m].latest = makespan_;
        for (std::uint32_t p = 0; p < messages_[m].pieces.size(); ++p)
            all.push_back({messages_[m].pieces[p].start, m, p});
    }
    std::ranges::stable_sort(all, std::ranges::greater{}, &Placed::start);
    std::vector<Time> due(busy_.size(), std::numeric_limits<Time>::max());
    for (const auto& [start, m, p] : all) {
        Message& message = messages_[m];
        const Piece& piece = message.pieces[p];
        Time latest = message.latest - piece.transit;
        for (const Leg& leg : piece.legs) latest = std::min(latest, due[leg.link] - leg.busy - leg.offset);
        for (const Leg& leg : piece.legs) due[leg.link] = latest + leg.offset;
        message.latest = latest;
        if (p == 0 && message.parent != kNone) {
            Time& before = messages_[message.parent].latest;
            before = std::min(before, latest);
        }
    }
    std::ranges::stable_sort(order_, {}, [&](MessageId m) { return messages_[m].latest; });
}

}  // namespace tutti::heuristics
