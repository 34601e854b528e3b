#include "verify/switches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace tutti::verify {
namespace {

Violation at_switch(std::string message, const Send& send, NodeId node, Ticks tick, std::uint64_t position) {
    Violation v;
    v.message = std::move(message);
    v.sends = {position};
    v.tick = tick;
    v.link = send.link;
    v.chunk = send.chunk;
    v.node = node;
    return v;
}

void report_double_count(const Send& send, NodeId node, Ticks tick, std::uint64_t position, Report& report) {
    report.add(Rule::DoubleCount, [&] {
        return at_switch(
            fmt::format("send {} adds to chunk {} at switch {} a contribution that is in it already",
                        position, send.chunk.value(), node.value()),
            send, node, tick, position);
    });
}

void report_second_copy(const Send& send, NodeId node, std::uint64_t position, Report& report) {
    report.add(Rule::SwitchCopy, [&] {
        return at_switch(
            fmt::format("send {} takes chunk {} out of switch {}, but each copy the switch received has left "
                        "already and it does not copy",
                        position, send.chunk.value(), node.value()),
            send, node, send.start, position);
    });
}

}  // namespace

void StoringSwitches::arrive(NodeId node, const Send& send, const Value& value, Ticks tick,
                             std::uint64_t position) {
    if (is_plain(node, send.chunk)) {
        const std::uint32_t slot = tables_.chunk(send.chunk).slot;
        return plain_.counts(node) ? plain_.put_copy(node, slot) : plain_.put(node, slot);
    }
    Queue& queue = queues_[key(node, send.chunk)];
    if (send.op == Op::Reduce && !queue.waiting.empty()) {
        Value& newest = queue.waiting.back();
        if (overlap(newest, value)) report_double_count(send, node, tick, position, report_);
        newest = sum(newest, value);
        return;
    }
    queue.waiting.push_back(value);
    change(node, tick, +1);
}

Value StoringSwitches::leave(NodeId node, const Send& send, std::uint64_t position) {
    if (is_plain(node, send.chunk)) return leave_plain(node, send, position);
    const auto found = queues_.find(key(node, send.chunk));
    if (found == queues_.end()) {
        report_missing(node, send, position);
        return nullptr;
    }
    Queue& queue = found->second;
    if (!queue.waiting.empty()) {
        queue.left = Copy{queue.waiting.front(), send.start};
        queue.waiting.pop_front();
        change(node, send.start, -1);
        return queue.left->value;
    }
    if (!instance_.topology().rule(node).copy) {
        report_second_copy(send, node, position, report_);
        return nullptr;
    }
    // The copy has been held all the time since it first left.
    change(node, queue.left->left_at, +1);
    change(node, send.start, -1);
    queue.left->left_at = send.start;
    return queue.left->value;
}

void StoringSwitches::put(const StoredCopy& copy) {
    Queue& queue = queues_[key(copy.node, copy.chunk)];
    if (copy.has_left) {
        queue.left = Copy{copy.value, copy.left_at};
    } else {
        queue.waiting.push_back(copy.value);
    }
}

Value StoringSwitches::leave_plain(NodeId node, const Send& send, std::uint64_t position) {
    const std::uint32_t slot = tables_.chunk(send.chunk).slot;
    const bool counts = plain_.counts(node);
    if (counts ? plain_.take_copy(node, slot) : plain_.holds(node, slot)) return data_;
    if (counts && plain_.had_copy(node, slot)) {
        report_second_copy(send, node, position, report_);
    } else {
        report_missing(node, send, position);
    }
    return nullptr;
}

void StoringSwitches::report_missing(NodeId node, const Send& send, std::uint64_t position) {
    report_.add(Rule::NotHeld, [&] {
        return at_switch(
            fmt::format("send {} takes chunk {} out of switch {} at tick {}, before any copy of it arrived",
                        position, send.chunk.value(), node.value(), send.start.count()),
            send, node, send.start, position);
    });
}

void StoringSwitches::change(NodeId node, Ticks tick, std::int64_t by) {
    if (instance_.topology().rule(node).buffer) buffers_[node].changes[tick] += by;
}

void StoringSwitches::judge(NodeId node, Buffer& buffer, Ticks before) {
    const std::int64_t room = *instance_.topology().rule(node).buffer;
    while (!buffer.changes.empty() && buffer.changes.begin()->first < before) {
        const auto [tick, by] = *buffer.changes.begin();
        buffer.changes.erase(buffer.changes.begin());
        buffer.held += by;
        if (by <= 0 || buffer.held <= room) continue;
        report_.add(Rule::BufferOverflow, [&] {
            Violation v;
            v.message = fmt::format("switch {} holds {} chunks after tick {}, but its buffer has room for {}",
                                    node.value(), buffer.held, tick.count(), room);
            v.tick = tick;
            v.node = node;
            return v;
        });
    }
}

void StoringSwitches::settle(Ticks tick) {
    for (auto& [node, buffer] : buffers_) {
        if (!instance_.topology().rule(node).copy) judge(node, buffer, tick);
    }
}

void StoringSwitches::finish() {
    for (auto& [node, buffer] : buffers_) judge(node, buffer, Ticks::max());
}

void CutThroughSwitches::enter(NodeId node, const Send& send, const Value& value, const LegPtr& leg) {
    const Ticks due = send.start + instance_.alpha(send.link);
    auto& passages = due_[due][{node, send.chunk}];
    if (send.op == Op::Reduce && instance_.topology().rule(node).reduce) {
        const auto sum_up =
            std::ranges::find_if(passages, [](const Passage& p) { return p.op == Op::Reduce && !p.taken; });
        if (sum_up != passages.end()) {
            if (overlap(sum_up->value, value)) report_double_count(send, node, due, leg->position, report_);
            sum_up->value = sum(sum_up->value, value);
            sum_up->legs.push_back(leg);
            if (leg->link < sum_up->legs.front()->link) std::swap(sum_up->legs.front(), sum_up->legs.back());
            return;
        }
    }
    passages.push_back({due, value, send.op, {leg}, false});
}

std::vector<DueInbound> CutThroughSwitches::due(NodeId node, ChunkId chunk, Ticks tick) {
    std::vector<DueInbound> all;
    const std::vector<Passage>* const passages = due_at(node, chunk, tick);
    if (passages == nullptr) return all;
    const bool reduces = instance_.topology().rule(node).reduce;
    for (const Passage& passage : *passages)
        all.push_back({passage.legs.front()->link, passage.legs.front()->position,
                       reduces && passage.op == Op::Reduce});
    return all;
}

std::vector<CutThroughSwitches::Passage>* CutThroughSwitches::due_at(NodeId node, ChunkId chunk, Ticks tick) {
    const auto now = due_.find(tick);
    if (now == due_.end()) return nullptr;
    const auto place = now->second.find({node, chunk});
    if (place == now->second.end()) return nullptr;
    // They have entered in order of start. Two over one link at one tick break V5, and are told apart as
    // sends are.
    const auto order = [](const Passage& p) {
        return std::tuple(p.legs.front()->link, p.op, p.legs.front()->position);
    };
    if (!std::ranges::is_sorted(place->second, {}, order)) std::ranges::sort(place->second, {}, order);
    return &place->second;
}

CutThroughSwitches::Passage* CutThroughSwitches::find(std::vector<Passage>& passages,
                                                      const Forwards& forwards) {
    const auto is_it = [&](const Passage& p) {
        if (forwards.which == Forwards::First) return !p.taken;
        return forwards.inbound.adds ? p.op == Op::Reduce
                                     : p.legs.front()->position == forwards.inbound.position;
    };
    const auto found = std::ranges::find_if(passages, is_it);
    return found == passages.end() || forwards.which == Forwards::Nothing ? nullptr : &*found;
}

Value CutThroughSwitches::leave(NodeId node, const Send& send, std::vector<LegPtr>& feeders,
                                std::uint64_t position, const Forwards& forwards) {
    std::vector<Passage>* const passages = due_at(node, send.chunk, send.start);
    if (passages == nullptr && forwards.which == Forwards::First) {
        report_.add(Rule::CutThrough, [&] {
            return at_switch(
                fmt::format("send {} takes chunk {} out of cut-through switch {} at tick {}, but no inbound "
                            "send of it is due onward at that tick",
                            position, send.chunk.value(), node.value(), send.start.count()),
                send, node, send.start, position);
        });
        return nullptr;
    }
    Passage* passage = passages == nullptr ? nullptr : find(*passages, forwards);
    if (passage == nullptr) {
        if (!instance_.topology().rule(node).copy) {
            report_second_copy(send, node, position, report_);
            return nullptr;
        }
        passage = &passages->back();
    }
    passage->taken = true;
    feeders.insert(feeders.end(), passage->legs.begin(), passage->legs.end());
    if (!passage->value) {
        report_.add(Rule::NotHeld, [&] {
            return at_switch(
                fmt::format("send {} takes chunk {} out of cut-through switch {} at tick {}, but what is due "
                            "onward then brings nothing",
                            position, send.chunk.value(), node.value(), send.start.count()),
                send, node, send.start, position);
        });
    }
    return passage->value;
}

void CutThroughSwitches::leave_cycle(NodeId node, const WaitingSend& waiting, std::vector<LegPtr>& feeders) {
    const auto& [send, position] = waiting.numbered;
    Passage& passage = *find(*due_at(node, send.chunk, send.start), {Forwards::This, waiting.inbound});
    passage.taken = true;
    feeders.insert(feeders.end(), passage.legs.begin(), passage.legs.end());
    report_.add(Rule::NotHeld, [&] {
        return at_switch(
            fmt::format("send {} takes chunk {} out of cut-through switch {} at tick {}, but what is due "
                        "onward then comes by sends that forward each other in a cycle",
                        position, send.chunk.value(), node.value(), send.start.count()),
            send, node, send.start, position);
    });
}

void CutThroughSwitches::advance(Ticks tick) {
    while (!due_.empty() && due_.begin()->first < tick) {
        for (const auto& [place, passages] : due_.begin()->second) {
            for (const Passage& passage : passages) {
                if (passage.taken) continue;
                report_.add(Rule::CutThrough, [&] {
                    Violation v;
                    v.message = fmt::format(
                        "chunk {} enters cut-through switch {} by send {} and is not sent on at tick {}",
                        place.chunk.value(), place.node.value(), passage.legs.front()->position,
                        passage.due.count());
                    for (const LegPtr& leg : passage.legs) v.sends.push_back(leg->position);
                    v.tick = passage.due;
                    v.chunk = place.chunk;
                    v.node = place.node;
                    return v;
                });
            }
        }
        due_.erase(due_.begin());
    }
}

}  // namespace tutti::verify
