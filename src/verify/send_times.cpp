// A send arrives alpha + beta after its start, and its link is busy for beta (or both). Only cut-through
// switches make this hard: a chunk that passes them pays the beta of the slowest link of its path, and a link
// is busy for as long as the slowest later link needs, which is known only later. So sends that touch such
// switches become legs, with the preceding legs as feeders. A leg's times are final when the tick of its
// onward sends is over and the times of all these are final; then its busy time is passed to its feeders. So
// legs are finished from the end of a path to its beginning, without recursion, and only unfinished paths are
// held.

#include "verify/send_times.hpp"

#include <algorithm>

namespace tutti::verify {

SendTimes::SendTimes(const Instance& instance)
    : instance_(instance),
      topology_(instance.topology()),
      has_cut_through_(std::ranges::any_of(instance.topology().parts().switches, &SwitchRule::cut_through)) {}

TimedSend SendTimes::timed(const Send& send, Ticks pace, Ticks rated) const {
    return {send, send.start + instance_.busy(send.link, rated),
            send.start + instance_.alpha(send.link) + pace};
}

bool SendTimes::touches_cut_through(const Send& send) const {
    const Link& link = topology_.link(send.link);
    return topology_.is_cut_through(link.src) || topology_.is_cut_through(link.dst);
}

void SendTimes::take(std::span<const Send> sends, std::vector<TimedSend>& out) {
    for (const Send& send : sends) {
        if (!has_cut_through_ || !touches_cut_through(send)) {
            const Ticks beta = instance_.beta(send.link, send.chunk);
            out.push_back(timed(send, beta, beta));
            continue;
        }
        if (send.start > now_) {
            end_tick(out);
            now_ = send.start;
        }
        const bool onward = topology_.is_cut_through(topology_.link(send.link).src);
        (onward ? onward_ : inbound_).push_back({send, taken_++});
    }
}

void SendTimes::finish(std::vector<TimedSend>& out) {
    end_tick(out);
    advance(Ticks::max(), out);
}

void SendTimes::end_tick(std::vector<TimedSend>& out) {
    advance(now_, out);
    for (const NumberedSend& numbered : inbound_) take_leg(numbered, out);
    if (!onward_.empty()) {
        take_in_cut_through_order(onward_, instance_,
                                  {[&](NodeId node, ChunkId chunk) {
                                       return due_now({node, chunk});
                                   },
                                   [&](const NumberedSend& numbered, const Forwards& forwards) {
                                       take_leg(numbered, out, forwards);
                                   },
                                   [](std::span<const WaitingSend>) {}});
    }
    inbound_.clear();
    onward_.clear();
}

std::vector<DueInbound> SendTimes::due_now(const Place& place) const {
    std::vector<DueInbound> all;
    const auto tick = due_.find(now_);
    if (tick == due_.end()) return all;
    const auto here = tick->second.find(place);
    if (here == tick->second.end()) return all;
    const bool reduces = topology_.rule(place.first).reduce;
    for (const Passage& passage : here->second) {
        const Leg& first = legs_[passage.legs.front()];
        all.push_back({first.send.link, first.position, reduces && passage.op == Op::Reduce});
    }
    return all;
}

void SendTimes::take_leg(const NumberedSend& numbered, std::vector<TimedSend>& out,
                         const Forwards& forwards) {
    const Send& send = numbered.send;
    if (unused_.empty()) {
        unused_.push_back(legs_.size());
        legs_.emplace_back();
    }
    const std::size_t number = unused_.back();
    unused_.pop_back();
    Leg leg{send, numbered.position, instance_.beta(send.link, send.chunk)};
    leg.feeders = feeders_of(send, forwards);
    for (const std::size_t feeder : leg.feeders) {
        leg.pace = std::max(leg.pace, legs_[feeder].pace);
        ++legs_[feeder].open;
    }
    leg.rated = leg.pace;
    const bool goes_on = topology_.is_cut_through(topology_.link(send.link).dst);
    leg.open = goes_on ? 1 : 0;
    legs_[number] = std::move(leg);
    if (goes_on) {
        enter(number);
    } else {
        close(number, out);
    }
}

void SendTimes::enter(std::size_t number) {
    const Send& send = legs_[number].send;
    const NodeId node = topology_.link(send.link).dst;
    auto& passages = due_[send.start + instance_.alpha(send.link)][{node, send.chunk}];
    if (send.op == Op::Reduce && topology_.rule(node).reduce) {
        const auto sum =
            std::ranges::find_if(passages, [](const Passage& p) { return p.op == Op::Reduce && !p.taken; });
        if (sum != passages.end()) {
            sum->legs.push_back(number);
            if (send.link < legs_[sum->legs.front()].send.link)
                std::swap(sum->legs.front(), sum->legs.back());
            return;
        }
    }
    passages.push_back({{number}, send.op});
}

std::vector<std::size_t> SendTimes::feeders_of(const Send& send, const Forwards& forwards) {
    const NodeId node = topology_.link(send.link).src;
    if (!topology_.is_cut_through(node)) return {};
    const auto tick = due_.find(send.start);
    if (tick == due_.end()) return {};
    const auto place = tick->second.find({node, send.chunk});
    if (place == tick->second.end()) return {};
    auto& passages = place->second;
    std::ranges::stable_sort(passages, {}, [&](const Passage& p) { return legs_[p.legs.front()].send.link; });
    auto passage = std::ranges::find_if(passages, [&](const Passage& p) {
        if (forwards.which != Forwards::This) return !p.taken;
        return forwards.inbound.adds ? p.op == Op::Reduce
                                     : legs_[p.legs.front()].position == forwards.inbound.position;
    });
    if (passage == passages.end()) --passage;
    passage->taken = true;
    return passage->legs;
}

void SendTimes::advance(Ticks tick, std::vector<TimedSend>& out) {
    while (!due_.empty() && due_.begin()->first < tick) {
        const auto over = std::move(due_.begin()->second);
        due_.erase(due_.begin());
        for (const auto& [place, passages] : over) {
            for (const Passage& passage : passages) {
                for (const std::size_t leg : passage.legs) {
                    if (--legs_[leg].open == 0) close(leg, out);
                }
            }
        }
    }
}

void SendTimes::close(std::size_t number, std::vector<TimedSend>& out) {
    std::vector<std::size_t> known{number};
    while (!known.empty()) {
        const std::size_t next = known.back();
        known.pop_back();
        Leg& leg = legs_[next];
        out.push_back(timed(leg.send, leg.pace, leg.rated));
        for (const std::size_t feeder : leg.feeders) {
            legs_[feeder].rated = std::max(legs_[feeder].rated, leg.rated);
            if (--legs_[feeder].open == 0) known.push_back(feeder);
        }
        leg.feeders.clear();
        unused_.push_back(next);
    }
}

}  // namespace tutti::verify
