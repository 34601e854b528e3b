// What the local search on orders changes (order_search.cpp says why), and how it takes that back.

#include "heuristics/levels/order_search.hpp"

#include <algorithm>

namespace tutti::heuristics {

bool OrderSearch::change() {
    old_order_ = order_;
    changed_ = kNone;
    if (rng_.below(16) == 0) {
        justify();
        return true;
    }
    MessageId m = late_message();
    if (rng_.below(2) == 0) return fill_gap(m);
    if (rng_.below(2) == 0) {
        while (rng_.below(3) != 0) {
            const MessageId before = held_up_by(m);
            if (before == kNone) break;
            m = before;
        }
    } else {
        do m = sharing_a_link(m);
        while (rng_.below(3) == 0);
    }
    switch (rng_.below(6)) {
        case 0:
            return take_other_path(m, messages_[m].from);
        case 1:
            return take_other_sender(m);
        case 2:
        case 3:
            return exchange(m, sharing_a_link(m));
        default:
            return place_earlier(m);
    }
}

void OrderSearch::undo() {
    order_ = old_order_;
    if (changed_ != kNone) std::swap(messages_[changed_], old_message_);
    place_all();
}

OrderSearch::MessageId OrderSearch::late_message() {
    const std::size_t first = rng_.below(messages_.size());
    MessageId latest = static_cast<MessageId>(first);
    for (std::size_t k = 0; k < messages_.size(); ++k) {
        const auto m = static_cast<MessageId>((first + k) % messages_.size());
        if (messages_[m].end > goal_) return m;
        if (messages_[m].end > messages_[latest].end) latest = m;
    }
    return latest;
}

OrderSearch::MessageId OrderSearch::held_up_by(MessageId m) {
    const Message& message = messages_[m];
    choices_.clear();
    for (const Piece& piece : message.pieces) {
        for (const Leg& leg : piece.legs) {
            const Time start = piece.start + leg.offset;
            const auto all = busy_[leg.link].intervals();
            const auto next =
                std::ranges::lower_bound(all, start, {}, &BusyIntervals<Time, MessageId>::Interval::begin);
            if (next == all.begin() || std::prev(next)->end != start) continue;
            choices_.push_back(std::prev(next)->owner);
        }
    }
    if (message.parent != kNone && messages_[message.parent].end == message.pieces.front().start)
        choices_.push_back(message.parent);
    return choices_.empty() ? kNone : choices_[rng_.below(choices_.size())];
}

OrderSearch::MessageId OrderSearch::sharing_a_link(MessageId m) {
    const auto& pieces = messages_[m].pieces;
    const auto& legs = pieces[rng_.below(pieces.size())].legs;
    const auto all = busy_[legs[rng_.below(legs.size())].link].intervals();
    return all[rng_.below(all.size())].owner;
}

bool OrderSearch::place_earlier(MessageId m) {
    const auto at = std::ranges::find(order_, m);
    const auto position = static_cast<std::size_t>(at - order_.begin());
    if (position == 0) return false;
    // Mostly not far.
    const std::size_t reach = 1 + rng_.below(position);
    const std::size_t by = 1 + rng_.below(reach);
    std::rotate(at - static_cast<std::ptrdiff_t>(by), at, at + 1);
    return true;
}

bool OrderSearch::fill_gap(MessageId m) {
    const auto& pieces = messages_[m].pieces;
    const Piece& piece = pieces[pieces.size() - 1 - rng_.below(pieces.size())];
    const Leg& leg = piece.legs[rng_.below(piece.legs.size())];
    const auto all = busy_[leg.link].intervals();
    std::size_t last = 0;  // of m
    while (all[last].owner != m) ++last;
    choices_.clear();  // the first interval after each gap
    for (std::size_t i = 0; i <= last; ++i) {
        const Time free = i == 0 ? 0 : all[i - 1].end;
        if (all[i].begin - free >= leg.busy) choices_.push_back(static_cast<MessageId>(i));
    }
    if (choices_.empty()) return false;
    const std::size_t after = choices_[rng_.below(choices_.size())];
    MessageId k = all[after + rng_.below(last - after + 1)].owner;
    std::size_t at = 0;
    const auto uses = [&](const Leg& other) { return other.link == leg.link; };
    while (std::ranges::none_of(messages_[k].pieces[at].legs, uses)) ++at;
    if (at == 0) {
        if (messages_[k].parent == kNone) return exchange(k, all[rng_.below(last + 1)].owner);
        k = messages_[k].parent;
        at = messages_[k].pieces.size();
    }
    const Piece& before = messages_[k].pieces[rng_.below(at)];
    const auto others = busy_[before.legs[rng_.below(before.legs.size())].link].intervals();
    std::size_t count = 0;
    while (others[count].owner != k) ++count;
    return count > 0 && exchange(k, others[rng_.below(count)].owner);
}

bool OrderSearch::exchange(MessageId m, MessageId other) {
    if (m == other) return false;
    std::iter_swap(std::ranges::find(order_, m), std::ranges::find(order_, other));
    return true;
}

bool OrderSearch::take_other_path(MessageId m, NodeId from) {
    for (Ticks& load : loads_) load = Ticks(static_cast<Time>(rng_.below(kDice)));
    Message& message = messages_[m];
    const bool forwards = direction_ == Direction::Forwards;
    const auto ends =
        forwards ? routes_.ends(from, message.to, loads_) : routes_.ends(message.to, from, loads_);
    if (!ends) return false;
    path_.clear();
    routes_.append_path(*ends, loads_, path_);
    if (path_ == message.path) return false;
    changed_ = m;
    old_message_ = message;
    message.path = path_;
    find_pieces(message);
    return true;
}

bool OrderSearch::take_other_sender(MessageId m) {
    const auto& others = of_chunk_[messages_[m].chunk];
    const std::size_t choice = rng_.below(others.size() + 1);
    const MessageId parent = choice == others.size() ? kNone : others[choice];
    if (parent == messages_[m].parent) return false;
    for (MessageId up = parent; up != kNone; up = messages_[up].parent) {
        if (up == m) return false;
    }
    const Demand demand = instance_.demand(messages_[m].chunk);
    const auto sources = direction_ == Direction::Forwards ? demand.holders : demand.receivers;
    const NodeId from = parent == kNone ? sources[rng_.below(sources.size())] : messages_[parent].to;
    if (!take_other_path(m, from)) return false;
    messages_[m].from = from;
    messages_[m].parent = parent;
    return true;
}

}  // namespace tutti::heuristics
