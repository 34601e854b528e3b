// Converts transfers to sends. A solution may contain useless transfers (nothing forbids them); backwards
// such a transfer would be a send of nothing. So only those that lead to a target are kept: from each target
// back along the transfer that brought the chunk, to a source. A flow is decomposed into one path per chunk.
//
// Where all links of a network have one beta, the encodings let hops of one chunk pass a cut-through switch
// at one tick in any pairing, because the rules may pair them differently and no arrival gets later. Over
// links of alpha 0 such pairs can form a cycle: 0 -> A -> B -> 3 and 2 -> B -> A -> 1 are, paired
// differently, 0 -> A -> 1, 2 -> B -> 3 and A -> B -> A, which nothing feeds. A cycle takes no time and
// serves no receiver, so it is left out.

#include "models/routing.hpp"

#include <algorithm>
#include <deque>
#include <map>

namespace tutti::models {
namespace {

/// Leaves out circles of sends between cut-through switches at one tick, of one chunk.
class InstantCircles {
  public:
    InstantCircles(const Instance& instance, std::vector<Send>& sends)
        : instance_(instance), topology_(instance.topology()), sends_(sends) {}

    void leave_out() {
        for (std::size_t i = 0; i < sends_.size(); ++i) {
            if (is_instant(sends_[i]))
                onward_[{topology_.link(sends_[i].link).src, sends_[i].start}].push_back(i);
        }
        std::vector<bool> left_out(sends_.size(), false);
        for (auto& [place, out] : onward_) {
            while (!out.empty()) follow(place, left_out);
        }
        std::size_t i = 0;
        std::erase_if(sends_, [&](const Send&) { return left_out[i++]; });
    }

  private:
    using Place = std::pair<NodeId, Ticks>;

    [[nodiscard]] bool is_instant(const Send& send) const {
        const Link& link = topology_.link(send.link);
        return topology_.is_cut_through(link.src) && topology_.is_cut_through(link.dst) &&
               instance_.alpha(send.link) == Ticks(0);
    }
    /// Goes on from the place until it is where it was before, which is a circle, or cannot go on; then its
    /// last send is part of none.
    void follow(Place place, std::vector<bool>& left_out) {
        std::vector<std::pair<Place, std::size_t>> way;  // places that were left, and by which send
        while (true) {
            const auto found = onward_.find(place);
            if (found == onward_.end() || found->second.empty()) {
                onward_[way.back().first].pop_back();
                return;
            }
            const std::size_t send = found->second.back();
            way.emplace_back(place, send);
            place.first = topology_.link(sends_[send].link).dst;
            const auto before = std::ranges::find(way, place, &std::pair<Place, std::size_t>::first);
            if (before == way.end()) continue;
            for (auto step = before; step != way.end(); ++step) {
                left_out[step->second] = true;
                onward_[step->first].pop_back();
            }
            return;
        }
    }

    const Instance& instance_;
    const Topology& topology_;
    std::vector<Send>& sends_;
    std::map<Place, std::vector<std::size_t>> onward_;  ///< those that are not known to be in no circle
};

class Decoder {
  public:
    Decoder(const Routing& routing, Units64 horizon) : routing_(routing), horizon_(horizon) {
        schedule_.instance = routing.instance().name();
    }

    void add(const Commodity& commodity, std::vector<Transfer> transfers) {
        const Network& network = routing_.network_of(commodity);
        std::ranges::stable_sort(transfers, {}, &Transfer::start);
        if (commodity.moves == Moves::Flow) {
            add_flow(commodity, network, transfers);
            keep();
            return;
        }
        if (commodity.moves == Moves::Spread) transfers = useful(commodity, network, transfers);
        for (const Transfer& transfer : transfers) {
            const Op op = commodity.moves == Moves::Sum ? transfer.op
                          : network.backwards           ? Op::Reduce
                                                        : Op::Copy;
            send(network, network.hops[transfer.hop], transfer.start, commodity.chunks.front(), op);
        }
        if (!network.order_matters) InstantCircles(routing_.instance(), made_).leave_out();
        keep();
    }

    Schedule schedule() {
        std::ranges::sort(schedule_.sends, starts_before);
        return std::move(schedule_);
    }

  private:
    void send(const Network& network, const Hop& hop, Units64 start, ChunkId chunk, Op op) {
        const Topology& topology = routing_.instance().topology();
        Units64 arrival = network.backwards ? horizon_ - start : 0;
        for (const HopEnd& end : hop.ends) {
            if (!network.backwards) arrival = std::max(arrival, start + end.after);
        }
        schedule_.makespan = std::max(schedule_.makespan, routing_.ticks(arrival));
        for (const Leg& leg : hop.legs) {
            const Units64 begin =
                network.backwards ? horizon_ - start - leg.offset - leg.busy : start + leg.offset;
            const NodeId to = topology.link(leg.link).dst;
            // A switch that does not reduce passes a contribution on as it is.
            const bool passes = topology.is_switch(to) && (!topology.rule(to).reduce || !network.backwards);
            made_.push_back({chunk, leg.link, routing_.ticks(begin), passes ? Op::Copy : op});
        }
    }
    void keep() {
        schedule_.sends.insert(schedule_.sends.end(), made_.begin(), made_.end());
        made_.clear();
    }

    /// The transfers that lead to a target, sorted by start as they come.
    static std::vector<Transfer> useful(const Commodity& commodity, const Network& network,
                                        const std::vector<Transfer>& transfers) {
        struct Arrival {
            Units64 time;
            std::size_t transfer;
        };
        std::map<NodeId, std::vector<Arrival>> arrivals;
        for (std::size_t i = 0; i < transfers.size(); ++i) {
            for (const HopEnd& end : network.hops[transfers[i].hop].ends) {
                arrivals[end.node].push_back({transfers[i].start + end.after, i});
            }
        }
        for (auto& [node, list] : arrivals) std::ranges::stable_sort(list, {}, &Arrival::time);
        // At a switch that passes each copy once, the k-th departure takes the k-th arrival.
        std::map<NodeId, std::size_t> departures;
        std::vector<std::size_t> turn(transfers.size());
        for (std::size_t i = 0; i < transfers.size(); ++i) {
            turn[i] = departures[network.hops[transfers[i].hop].from]++;
        }
        std::vector<bool> needed(transfers.size(), false);
        std::vector<std::size_t> open;
        const auto need = [&](std::size_t transfer) {
            if (needed[transfer]) return;
            needed[transfer] = true;
            open.push_back(transfer);
        };
        for (const NodeId target : commodity.targets) {
            if (const auto found = arrivals.find(target); found != arrivals.end())
                need(found->second.front().transfer);
        }
        while (!open.empty()) {
            const std::size_t i = open.back();
            open.pop_back();
            const NodeId from = network.hops[transfers[i].hop].from;
            const auto found = arrivals.find(from);
            if (found == arrivals.end() || std::ranges::binary_search(commodity.sources, from)) continue;
            const std::vector<Arrival>& list = found->second;
            if (network.rule[from.index()] == StopRule::Keeps) {
                need(list.front().transfer);
            } else if (network.rule[from.index()] == StopRule::Passes) {
                if (turn[i] < list.size()) need(list[turn[i]].transfer);
            } else {  // the last to come by then
                const auto after = std::ranges::upper_bound(list, transfers[i].start, {}, &Arrival::time);
                if (after != list.begin()) need(std::prev(after)->transfer);
            }
        }
        std::vector<Transfer> kept;
        for (std::size_t i = 0; i < transfers.size(); ++i) {
            if (needed[i]) kept.push_back(transfers[i]);
        }
        return kept;
    }

    void add_flow(const Commodity& commodity, const Network& network,
                  const std::vector<Transfer>& transfers) {
        struct Unit {
            Units64 time;
            std::vector<Transfer> path;
        };
        // Units at a node, by the time of their arrival; the source has one for each chunk.
        std::map<NodeId, std::deque<Unit>> at;
        at[commodity.sources.front()].resize(commodity.chunks.size(), Unit{commodity.ready, {}});
        for (const Transfer& transfer : transfers) {
            const Hop& hop = network.hops[transfer.hop];
            auto& here = at[hop.from];
            if (here.empty()) continue;
            Unit unit = std::move(here.front());
            here.pop_front();
            unit.path.push_back(transfer);
            unit.time = transfer.start + hop.ends.front().after;
            auto& there = at[hop.ends.front().node];
            const auto place = std::ranges::upper_bound(there, unit.time, {}, &Unit::time);
            there.insert(place, std::move(unit));
        }
        for (std::size_t i = 0; i < commodity.chunks.size(); ++i) {
            auto& there = at[commodity.targets[i]];
            if (there.empty()) continue;
            for (const Transfer& transfer : there.front().path) {
                send(network, network.hops[transfer.hop], transfer.start, commodity.chunks[i], Op::Copy);
            }
            there.pop_front();
        }
    }

    const Routing& routing_;
    Units64 horizon_;
    std::vector<Send> made_;  ///< of one commodity
    Schedule schedule_;
};

}  // namespace

Schedule schedule_of(const Routing& routing, Units64 horizon, std::vector<Transfer> transfers) {
    std::vector<std::vector<Transfer>> of(routing.commodities().size());
    for (const Transfer& transfer : transfers) of[transfer.commodity].push_back(transfer);
    Decoder decoder(routing, horizon);
    for (std::size_t c = 0; c < of.size(); ++c) decoder.add(routing.commodities()[c], std::move(of[c]));
    return decoder.schedule();
}

std::vector<Transfer> transfers_of(const Routing& routing, Units64 horizon, const Schedule& schedule) {
    std::map<std::pair<ChunkId, LinkId>, std::vector<std::pair<Units64, Op>>> starts;
    for (const Send& send : schedule.sends) {
        if (send.start.count() % routing.unit() != 0) return {};
        starts[{send.chunk, send.link}].emplace_back(routing.units(send.start), send.op);
    }
    std::vector<Transfer> transfers;
    for (std::size_t c = 0; c < routing.commodities().size(); ++c) {
        const Commodity& commodity = routing.commodities()[c];
        const Network& network = routing.network_of(commodity);
        const auto begin = [&](Units64 start, const Leg& leg) {
            return network.backwards ? horizon - start - leg.offset - leg.busy : start + leg.offset;
        };
        for (const ChunkId chunk : commodity.chunks) {
            for (std::size_t h = 0; h < network.hops.size(); ++h) {
                const Hop& hop = network.hops[h];
                const auto found = starts.find({chunk, hop.legs.back().link});
                if (found == starts.end()) continue;
                for (const auto& [time, op] : found->second) {
                    const Units64 start = network.backwards
                                              ? horizon - time - hop.legs.back().offset - hop.legs.back().busy
                                              : time - hop.legs.back().offset;
                    const bool all = std::ranges::all_of(hop.legs, [&](const Leg& leg) {
                        const auto leg_starts = starts.find({chunk, leg.link});
                        return leg_starts != starts.end() &&
                               std::ranges::find(leg_starts->second, begin(start, leg),
                                                 &std::pair<Units64, Op>::first) != leg_starts->second.end();
                    });
                    if (all) transfers.push_back({c, static_cast<std::uint32_t>(h), start, op});
                }
            }
        }
    }
    return transfers;
}

}  // namespace tutti::models
