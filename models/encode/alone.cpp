// All chunks of an all-reduce are alike: the same holders, the same receivers. If K of them share links that
// have room for R transfers by the horizon, one of them makes at most R / K. Alone it has no other chunk to
// wait for, so only two things count: how many transfers it makes, and how long its longest chain of
// transfers takes. Few transfers make long chains: 2n - 2 are enough for n nodes, but then the sum is
// collected in one place and distributed from there. Where the horizon is too short for that, a chunk needs
// more, and there may be no room for them. On a ring of 8 (alpha 1, beta 2) a chunk that is done after 20
// ticks, 6 hops, makes 20 transfers. The 16 links have room for 9 each, 18 for each chunk. So there is no
// such schedule.
//
// The model of all chunks cannot see that: to solvers its chunks are different, and each question about one
// of them (a search tree of its own) comes again for every other. CP-SAT had no answer for that ring after
// 100 CPU s; this question takes HiGHS about one.
//
// A relaxation: a transfer carries whatever has arrived at its source, at any node, and a contribution
// may be counted twice. So a contribution k reaches a receiver r if and only if there is a path in time,
// which is a flow of one unit over transfers that are made (A3). These flows make good linear programs,
// because a path that is split pays for both parts.
//
// Times: start every transfer of the chunk as early as possible, when the last thing has come that it carried
// before. It carries no less, arrives no later, and two on one link that now start together are one. What
// starts at a node then starts at its own release or when another transfer arrives: few times, the sums of
// steps along paths. On the ring these are the multiples of 3.
//
// Not all pairs of a holder and a receiver are asked about (fewer flows: a weaker question, never a wrong
// one). Many: those at least half as far apart as the farthest. Few: of these the nearest and the farthest.
// That ring takes HiGHS 2.3 CPU s with many and 1.1 with few, both without its presolve, which hides the
// symmetry from it; with only the two farthest distances 18 transfers are enough. But where the other way
// round is too long, a link is needed by the two that it joins (A5). On that ring it is each of the 16, so
// that there are only two transfers to choose, and the farthest pairs are enough to refute it: 0.4 to 1.3
// CPU s with five seeds, 0.75 on average. With the other pairs A5 makes it slower (few: 1.5 to 2.4 CPU s).

#include "models/encode/alone.hpp"

#include "models/relaxation/traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace tutti::models {
namespace {

constexpr std::size_t kMostTimes = 4096;  ///< of all nodes together

/// The largest set of equal sums, its network, and its share of the links.
class EqualSums {
  public:
    EqualSums(const Routing& routing, Units64 horizon) : routing_(routing), horizon_(horizon) {
        std::map<std::tuple<std::size_t, std::vector<NodeId>, std::vector<NodeId>, Units64,
                            std::vector<std::pair<NodeId, Units64>>, CollectiveId>,
                 std::vector<ChunkId>>
            classes;
        for (const Commodity& c : routing.commodities()) {
            if (c.moves != Moves::Sum) continue;
            auto& members = classes[{c.network, c.sources, c.targets, c.ready, c.late,
                                     routing.instance().demand(c.chunks.front()).collective}];
            members.insert(members.end(), c.chunks.begin(), c.chunks.end());
            if (members.size() > chunks_.size()) {
                chunks_ = members;
                sum_ = &c;
            }
        }
        if (chunks_.size() < 2) return;
        const Instance& instance = routing.instance();
        const ChunkId chunk = chunks_.front();
        const Demand demand = instance.demand(chunk);
        network_.emplace(instance, Kind{demand.collective, demand.bytes, instance.release(chunk), chunk},
                         routing.unit());
        for (const NodeId node : sum_->sources) from_.push_back(network_->from({node}));
        for (const NodeId node : sum_->targets) to_.push_back(network_->to({node}));
        count_room();
    }

    /// Whether there are equal sums and the links limit them.
    [[nodiscard]] bool has_share() const { return chunks_.size() >= 2 && room_ >= 0; }
    [[nodiscard]] std::int64_t share() const { return room_ / static_cast<std::int64_t>(chunks_.size()); }
    [[nodiscard]] const std::vector<ChunkId>& chunks() const { return chunks_; }
    [[nodiscard]] const Commodity& sum() const { return *sum_; }
    [[nodiscard]] const KindNetwork& network() const { return *network_; }
    /// By source, target: the least time from the one, to the other, of each node.
    [[nodiscard]] const std::vector<std::int64_t>& from(std::size_t k) const { return from_[k]; }
    [[nodiscard]] const std::vector<std::int64_t>& to(std::size_t r) const { return to_[r]; }

    [[nodiscard]] std::optional<Units64> release_at(NodeId node) const {
        if (!std::ranges::binary_search(sum_->sources, node)) return std::nullopt;
        return ready_at(*sum_, node);
    }
    /// From a start on the link until the chunk is at the target.
    [[nodiscard]] std::int64_t rest(std::size_t e, std::size_t r) const {
        const NodeId end = routing_.instance().topology().link(LinkId(e)).dst;
        return std::max(network_->transit(e) + to_[r][end.index()], network_->arrival(e));
    }

  private:
    /// Starts on each link between the first at which anything can be there and the last of use.
    void count_room() {
        const Topology& topology = routing_.instance().topology();
        for (std::size_t e = 0; e < topology.links().size(); ++e) {
            if (!network_->usable(e)) continue;
            std::int64_t first = kUnreachable, least_rest = kUnreachable;
            for (std::size_t k = 0; k < from_.size(); ++k) {
                const std::int64_t way = from_[k][topology.link(LinkId(e)).src.index()];
                if (way < kUnreachable) first = std::min(first, way + ready_at(*sum_, sum_->sources[k]));
            }
            for (std::size_t r = 0; r < to_.size(); ++r) least_rest = std::min(least_rest, rest(e, r));
            if (first >= kUnreachable || least_rest >= kUnreachable || first + least_rest > horizon_)
                continue;
            const Ticks beta = routing_.instance().beta(LinkId(e), chunks_.front());
            const std::int64_t busy = routing_.instance().busy(LinkId(e), beta).count() / routing_.unit();
            if (busy == 0) {
                room_ = -1;
                return;
            }
            room_ += (horizon_ - first - least_rest) / busy + 1;
        }
    }

    const Routing& routing_;
    const Units64 horizon_;
    std::vector<ChunkId> chunks_;
    const Commodity* sum_ = nullptr;
    std::optional<KindNetwork> network_;
    std::vector<std::vector<std::int64_t>> from_, to_;
    std::int64_t room_ = 0;  ///< of all links; -1: unlimited
};

class Alone {
  public:
    Alone(const Routing& routing, const EqualSums& sums, const Asked& asked)
        : topology_(routing.instance().topology()),
          sums_(sums),
          asked_(asked),
          starts_(topology_.links().size()) {}

    AloneQuestion question(AlonePairs pairs) && {
        question_.share = sums_.share();
        if (!find_times()) {
            question_.too_large = true;
            return std::move(question_);
        }
        const auto& sources = sums_.sum().sources;
        const auto& targets = sums_.sum().targets;
        const auto [nearest, farthest] = distances();
        for (std::size_t k = 0; k < sources.size(); ++k) {
            for (std::size_t r = 0; r < targets.size(); ++r) {
                const std::int64_t distance = sums_.from(k)[targets[r].index()];
                const bool is_asked = pairs == AlonePairs::Many  ? 2 * distance >= farthest
                                      : pairs == AlonePairs::Few ? distance == nearest || distance == farthest
                                                                 : distance == farthest;
                if (sources[k] == targets[r] || !is_asked) continue;
                add_flow(k, r);
                question_.stopped = asked_.stop.requested();
                question_.too_large = question_.program.size() > asked_.most_size;
                if (question_.stopped || question_.too_large) return std::move(question_);
            }
        }
        if (pairs == AlonePairs::Farthest) add_needed_links();
        std::vector<Term> all;  // A1
        for (const auto& of_link : starts_) {
            for (const auto& [time, var] : of_link) all.push_back({var, 1});
        }
        question_.program.row(all, kMinusInfinity, question_.share);
        question_.program.guide(all);
        return std::move(question_);
    }

  private:
    /// The largest between a holder and a receiver, and before it the least that is half as large.
    [[nodiscard]] std::pair<std::int64_t, std::int64_t> distances() const {
        std::vector<std::int64_t> all;
        for (std::size_t k = 0; k < sums_.sum().sources.size(); ++k) {
            for (const NodeId target : sums_.sum().targets) all.push_back(sums_.from(k)[target.index()]);
        }
        std::ranges::sort(all);
        return {*std::ranges::lower_bound(all, (all.back() + 1) / 2), all.back()};
    }

    /// A2. False if there are too many.
    [[nodiscard]] bool find_times() {
        times_.resize(topology_.nodes());
        std::vector<std::pair<Units64, NodeId>> open;
        std::size_t count = 0;
        const auto add = [&](NodeId node, Units64 time) {
            auto& known = times_[node.index()];
            const auto at = std::ranges::lower_bound(known, time);
            if (time > asked_.horizon || (at != known.end() && *at == time)) return;
            known.insert(at, time);
            open.emplace_back(time, node);
            ++count;
        };
        for (const NodeId node : sums_.sum().sources) add(node, *sums_.release_at(node));
        while (!open.empty()) {
            const auto [time, node] = open.back();
            open.pop_back();
            if (count > kMostTimes || asked_.stop.requested()) return false;
            for (const LinkId link : topology_.out_links(node)) {
                if (sums_.network().usable(link.index()))
                    add(topology_.link(link).dst, time + sums_.network().transit(link.index()));
            }
        }
        return true;
    }

    [[nodiscard]] Var start(std::size_t e, Units64 time) {
        const auto found = starts_[e].find(time);
        if (found != starts_[e].end()) return found->second;
        const Var var = question_.program.boolean(fmt::format("link{}.t{}", e, time)).var;
        return starts_[e].emplace(time, var).first->second;
    }

    /// A3, A4: one unit from the holder to the receiver.
    void add_flow(std::size_t k, std::size_t r) {
        const NodeId source = sums_.sum().sources[k], target = sums_.sum().targets[r];
        const Units64 ready = ready_at(sums_.sum(), source);
        const auto &before = sums_.from(k), &after = sums_.to(r);
        Program& program = question_.program;
        const std::string name = fmt::format("of{}.for{}", source.value(), target.value());
        std::map<std::pair<NodeId, Units64>, std::vector<Term>> balance;
        std::vector<Term> sent;
        for (std::size_t e = 0; e < topology_.links().size(); ++e) {
            const Link& link = topology_.link(LinkId(e));
            const std::int64_t way = before[link.src.index()];
            if (!sums_.network().usable(e) || link.dst == source || link.src == target || way >= kUnreachable)
                continue;
            for (const Units64 time : times_[link.src.index()]) {
                if (time < ready + way || time + sums_.rest(e, r) > asked_.horizon) continue;
                const Literal flow = program.boolean(fmt::format("{}.link{}.t{}", name, e, time));
                program.implies(flow, {start(e, time), false});
                (link.src == source ? sent : balance[{link.src, time}]).push_back({flow.var, -1});
                if (link.dst != target)
                    balance[{link.dst, time + sums_.network().transit(e)}].push_back({flow.var, 1});
            }
        }
        for (std::size_t v = 0; v < times_.size(); ++v) {
            const NodeId node(v);
            if (node == source || node == target || before[v] >= kUnreachable || after[v] >= kUnreachable)
                continue;
            std::optional<Units64> last;
            for (const Units64 time : times_[v]) {
                if (time < ready + before[v] || time + after[v] > asked_.horizon) continue;
                if (last) {
                    const Var wait = program.boolean(fmt::format("{}.at{}.t{}", name, v, *last)).var;
                    balance[{node, *last}].push_back({wait, -1});
                    balance[{node, time}].push_back({wait, 1});
                }
                last = time;
            }
        }
        if (sent.empty()) return program.choice(Promise::AtLeastOne, {});  // not by the horizon
        program.row(sent, -1, -1);
        for (const auto& [place, terms] : balance) program.row(terms, 0, 0);
    }

    /// A5: links from a holder to a receiver that is not reached in time without them.
    void add_needed_links() {
        const auto& targets = sums_.sum().targets;
        std::vector<std::int64_t> length;
        for (std::size_t e = 0; e < topology_.links().size(); ++e)
            length.push_back(sums_.network().transit(e));
        for (std::size_t e = 0; e < topology_.links().size() && !asked_.stop.requested(); ++e) {
            const Link& link = topology_.link(LinkId(e));
            const auto ready = sums_.release_at(link.src);
            if (!ready || !sums_.network().usable(e) || !std::ranges::binary_search(targets, link.dst))
                continue;
            const std::int64_t own = std::exchange(length[e], asked_.horizon + 1);
            const auto around = sums_.network().from({link.src}, &length);
            length[e] = own;
            if (*ready + around[link.dst.index()] <= asked_.horizon) continue;
            std::vector<Literal> starts;
            for (const Units64 time : times_[link.src.index()]) {
                if (time + sums_.network().arrival(e) <= asked_.horizon)
                    starts.push_back({start(e, time), false});
            }
            question_.program.choice(Promise::AtLeastOne, starts);
        }
    }

    const Topology& topology_;
    const EqualSums& sums_;
    const Asked& asked_;
    AloneQuestion question_;
    std::vector<std::vector<Units64>> times_;     ///< per node, at which something can be new there; sorted
    std::vector<std::map<Units64, Var>> starts_;  ///< per link
};

}  // namespace

std::optional<AloneQuestion> alone(const Routing& routing, const Asked& asked, AlonePairs pairs) {
    const EqualSums sums(routing, asked.horizon);
    if (!sums.has_share()) return std::nullopt;
    return Alone(routing, sums, asked).question(pairs);
}

bool fits_alone(const Routing& routing, const Schedule& schedule, Units64 horizon) {
    const EqualSums sums(routing, horizon);
    if (!sums.has_share()) return true;
    std::map<ChunkId, std::vector<Send>> sends;
    for (const ChunkId chunk : sums.chunks()) sends[chunk];
    for (const Send& send : schedule.sends) {
        if (const auto found = sends.find(send.chunk); found != sends.end()) found->second.push_back(send);
    }
    struct Arrival {
        NodeId node;
        Ticks before;   ///< in the schedule
        Units64 alone;  ///< when everything starts as early as possible
    };
    const Topology& topology = routing.instance().topology();
    return std::ranges::any_of(sends, [&](auto& of_chunk) {
        auto& own = of_chunk.second;
        if (static_cast<std::int64_t>(own.size()) > sums.share()) return false;
        std::ranges::stable_sort(own, {}, &Send::start);
        std::vector<Arrival> arrivals;
        for (const Send& send : own) {
            const Link& link = topology.link(send.link);
            Units64 start = 0;
            const auto release = sums.release_at(link.src);
            if (release && routing.ticks(*release) <= send.start) start = *release;
            for (const Arrival& arrival : arrivals) {
                if (arrival.node == link.src && arrival.before <= send.start)
                    start = std::max(start, arrival.alone);
            }
            if (start + sums.network().arrival(send.link.index()) > horizon) return false;
            const Units64 transit = sums.network().transit(send.link.index());
            arrivals.push_back({link.dst, send.start + routing.ticks(transit), start + transit});
        }
        return true;
    });
}

}  // namespace tutti::models
