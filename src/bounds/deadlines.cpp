// A source has one message to start for each of its sinks (a reduce-scatter: its contribution to the sum of
// every other NPU), and its links start them one after the other. Far sinks need an early start. Who starts
// what late? A start is early if its message, straight to the sink, would be there before the last L ticks;
// all others end in the last L ticks, and there is little room for them at the sinks. Sources cannot start
// all early, and far sinks that are served first leave the near ones to the end:
//
//     the sum over sources of what cannot be early  <=  the sum over sinks of what can arrive in L ticks
//
// Late contributions arrive in messages of their own as long as L is small: to be added to another one of the
// same sum, one of them must make a detour over some NPU, and if that takes L ticks or more (`detour`), it
// comes too late. That is the difference to `ingress` and `wave`, which let one message bring everything.
//
// One source: with the horizon T, a message to a sink at distance d must start by T - d, an early one by
// T - L - d. Unit tasks on a few machines, from 0 on, can meet their deadlines if and only if for each t
// there are no more deadlines up to t than starts up to t. To make a task early moves its deadline from T - d
// to T - L - d, which takes one of the starts up to each t between. So the most early tasks are the most
// intervals, all of length L, that fit under the free starts: earliest end first is best. (If it fits and
// another solution does without it, that one has an interval that reaches from the first full place to behind
// its end, as nothing ends sooner; exchange the two.)
//
// Plain chunks of one holder each (all-gathers) are the same turned round. `fattree4x3-rs-group16` (16
// members under 16 leaves): 23 -> 25. By T = 24 a source starts 12 far messages at 0 … 12 and 3 near ones at
// 0 … 16. With L = 8 at most 6 of the 15 are early (far: by 4, near: by 8), and 9 do not fit into 8 ticks.
//
// Complexity: a search per NPU, O(sums * NPUs * holders) for detours, then per window O(log T) times for
// each kind of source O(different distances squared * links).

#include "bounds/families.hpp"
#include "bounds/link_window.hpp"
#include "bounds/paced_paths.hpp"
#include "core/least_tick.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>

namespace tutti::bounds {
namespace {

constexpr std::size_t kMostDeadlineWork = 20'000'000;  ///< links relaxed
constexpr std::size_t kComparedPerLink = 8;  ///< distances are compared faster than a link is relaxed
constexpr std::size_t kMostDeadlineSizes = 3;
constexpr std::int64_t kMostSlots = 24;  ///< per link of a sink, of a window

using Gaps = std::vector<std::int64_t>;  ///< per link

/// How many starts the links have up to that tick, from 0 on.
Wide slots(const Gaps& gaps, Wide tick) {
    if (tick < 0) return 0;
    Wide all = 0;
    for (const std::int64_t gap : gaps) all += tick / gap + 1;
    return all;
}

/// Sources that look alike: their links, and how many sinks are how far away, the farthest first.
struct SourceKind {
    Gaps gaps;
    std::vector<std::pair<std::int64_t, std::int64_t>> sinks;  ///< distance, number
    friend auto operator<=>(const SourceKind&, const SourceKind&) = default;
};
struct SinkKind {
    Gaps gaps;
    std::int64_t sources = 0;
    friend auto operator<=>(const SinkKind&, const SinkKind&) = default;
};

/// The least number of sinks that are late; none if not all can be served by `end`.
std::optional<Wide> least_late(const SourceKind& source, Wide end, Wide window) {
    const auto& sinks = source.sinks;
    std::vector<Wide> early(sinks.size(), 0);
    // Starts up to the tick that no deadline up to it takes.
    const auto free_at = [&](Wide tick) {
        Wide left = slots(source.gaps, tick);
        for (std::size_t i = 0; i < sinks.size(); ++i) {
            const Wide last = end - sinks[i].first;
            left -= tick >= last ? Wide{sinks[i].second} : tick >= last - window ? early[i] : Wide{0};
        }
        return left;
    };
    Wide late = 0;
    for (const auto& [distance, number] : sinks) {
        if (free_at(end - distance) < 0) return std::nullopt;
    }
    for (std::size_t i = 0; i < sinks.size(); ++i) {
        const Wide last = end - sinks[i].first, first = last - window;
        Wide fits = std::min(Wide{sinks[i].second}, free_at(first));
        // Free starts only become fewer where a deadline is.
        for (const auto& [distance, number] : sinks) {
            for (const Wide tick : {end - distance, end - distance - window}) {
                if (tick > first && tick < last) fits = std::min(fits, free_at(tick));
            }
        }
        early[i] = std::max(Wide{0}, fits);
        late += sinks[i].second - early[i];
    }
    return late;
}

/// Of one direction: who must send to whom.
class Deadlines {
  public:
    Deadlines(const Traffic& traffic, Bytes bytes, bool backwards)
        : traffic_(traffic),
          topology_(traffic.topology()),
          bytes_(bytes),
          backwards_(backwards),
          network_(traffic.instance(), bytes) {
        const bool merges_at_switches =
            std::ranges::any_of(topology_.parts().switches,
                                [&](const SwitchRule& rule) { return backwards ? rule.copy : rule.reduce; });
        for (const ChunkClass& c : traffic.classes()) {
            const Demand demand = traffic.demand(c);
            if (demand.bytes < bytes || !is_counted(demand)) continue;
            const bool is_alone = demand.holders.size() == 1 && demand.receivers.size() == 1;
            if (is_alone ? demand.holders[0] != demand.receivers[0] : !merges_at_switches)
                counted_.push_back(&c);
        }
    }

    void improve(Bound& best, Effort& effort) {
        if (counted_.empty() || !find_ends(effort)) return;
        for (const std::int64_t window : windows()) try_window(window, best, effort);
    }

  private:
    /// Forwards one receiver, backwards one holder; the others are the sources.
    [[nodiscard]] bool is_counted(const Demand& demand) const {
        if (backwards_) return !demand.reduction && demand.holders.size() == 1;
        return demand.receivers.size() == 1 && (demand.reduction || demand.holders.size() == 1);
    }
    [[nodiscard]] std::span<const NodeId> sources(const Demand& demand) const {
        return backwards_ ? demand.receivers : demand.holders;
    }
    [[nodiscard]] NodeId sink(const Demand& demand) const {
        return backwards_ ? demand.holders[0] : demand.receivers[0];
    }

    /// From the node to all others; empty: too much work.
    const std::vector<Ticks>& ways(const Passage& passage, NodeId node, Effort& effort) {
        auto& known = ways_[{&passage, node}];
        if (known.empty() && effort.spend(network_.work())) {
            known = network_
                        .times({{node, Ticks(0)}}, backwards_ ? Direction::Backwards : Direction::Forwards,
                               [&](NodeId other) { return passage.admits(other); })
                        .stored;
        }
        return known;
    }

    [[nodiscard]] Gaps gaps(std::span<const LinkId> links) const {
        Gaps all;
        for (const LinkId id : links)
            all.push_back(traffic_.instance().busy(id, topology_.beta(id, bytes_)).count());
        std::ranges::sort(all);
        return all;
    }

    /// False: too much work.
    bool find_ends(Effort& effort) {
        std::map<NodeId, std::map<std::int64_t, std::int64_t, std::greater<>>> distances;
        std::map<NodeId, std::int64_t> arrivals;
        for (const ChunkClass* c : counted_) {
            const Demand demand = traffic_.demand(*c);
            const NodeId to = sink(demand);
            const auto number = static_cast<std::int64_t>(c->count);
            for (const NodeId from : sources(demand)) {
                if (from == to) continue;
                const auto& way = ways(traffic_.passage(*c), from, effort);
                if (way.empty()) return false;
                distances[from][way[to.index()].count()] += number;
                arrivals[to] += number;
            }
            release_ = std::min(release_, traffic_.release(*c));
            if (sources(demand).size() > 1 && !find_detour(*c, effort)) return false;
        }
        for (const auto& [from, sinks] : distances) {
            ++sources_[{gaps(backwards_ ? topology_.in_links(from) : topology_.out_links(from)),
                        {sinks.begin(), sinks.end()}}];
        }
        for (const auto& [to, number] : arrivals)
            ++sinks_[{gaps(backwards_ ? topology_.out_links(to) : topology_.in_links(to)), number}];
        return true;
    }

    /// The least time by which the second of two that meet at an NPU is later than it could be.
    bool find_detour(const ChunkClass& c, Effort& effort) {
        const Demand demand = traffic_.demand(c);
        const Passage& passage = traffic_.passage(c);
        const NodeId to = sink(demand);
        if (!effort.spend(topology_.npus() * sources(demand).size() / kComparedPerLink)) return false;
        std::vector<std::array<std::int64_t, 2>> least(topology_.npus(), {kFar, kFar});
        std::vector<std::int64_t> rest(topology_.npus(), kFar);
        for (std::size_t n = 0; n < topology_.npus(); ++n) {
            if (NodeId(n) == to || !passage.admits(NodeId(n))) continue;
            const auto& way = ways(passage, NodeId(n), effort);
            if (way.empty()) return false;
            if (way[to.index()] < kNever) rest[n] = way[to.index()].count();
        }
        for (const NodeId from : sources(demand)) {
            if (from == to) continue;
            const auto& way = ways(passage, from, effort);
            for (std::size_t n = 0; n < topology_.npus(); ++n) {
                if (rest[n] == kFar || way[n] == kNever) continue;
                auto& [first, second] = least[n];
                const std::int64_t more = way[n].count() + rest[n] - way[to.index()].count();
                second = std::min(second, std::max(first, more));
                first = std::min(first, more);
            }
        }
        for (const auto& two : least) detour_ = std::min(detour_, two[1]);
        return true;
    }

    /// Between two of these there is room for no more arrivals.
    [[nodiscard]] std::set<std::int64_t> windows() const {
        std::set<std::int64_t> all;
        if (detour_ < kFar && detour_ > 0) all.insert(detour_);
        for (const auto& [sink, number] : sinks_) {
            for (const std::int64_t gap : std::set<std::int64_t>(sink.gaps.begin(), sink.gaps.end())) {
                for (std::int64_t k = 1; k <= kMostSlots && k * gap <= detour_; ++k) all.insert(k * gap);
            }
            if (all.size() > 4 * kMostSlots) break;
        }
        return all;
    }

    void try_window(std::int64_t window, Bound& best, Effort& effort) {
        Wide room = 0;
        for (const auto& [sink, number] : sinks_)
            room += number * std::min(Wide{sink.sources}, slots(sink.gaps, Wide{window} - 1));
        std::size_t work = 0;
        for (const auto& [source, number] : sources_)
            work += source.sinks.size() * source.sinks.size() * source.sinks.size() * source.gaps.size();
        bool ended = false;
        const auto fits = [&](Ticks end) {
            ended = ended || !effort.spend(work);
            Wide late = 0;
            for (const auto& [source, number] : sources_) {
                if (ended) return true;
                const auto least = least_late(source, end.count(), window);
                if (!least) return false;
                late += number * *least;
                if (late > room) return false;
            }
            return true;
        };
        const Ticks more = std::max(Ticks(0), best.value - release_ + Ticks(1));
        if (fits(more - Ticks(1))) return;
        const auto end = least_tick(fits, more);
        if (!end || ended) return;
        best = {"deadlines", release_ + *end, DeadlinesCertificate{backwards_, Ticks(window), bytes_}, 0};
    }

    static constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max() / 4;

    const Traffic& traffic_;
    const Topology& topology_;
    const Bytes bytes_;
    const bool backwards_;
    const PacedNetwork network_;
    std::vector<const ChunkClass*> counted_;
    std::map<std::pair<const Passage*, NodeId>, std::vector<Ticks>> ways_;
    std::map<SourceKind, std::int64_t> sources_;  ///< how many there are of a kind
    std::map<SinkKind, std::int64_t> sinks_;
    std::int64_t detour_ = kFar;
    Ticks release_ = kNever;
};

}  // namespace

std::optional<Bound> deadlines(const Traffic& traffic, const Stop& stop) {
    Bound best{"deadlines", Ticks(0), {}, 0};
    std::set<Bytes> sizes;
    for (const ChunkClass& c : traffic.classes()) sizes.insert(traffic.demand(c).bytes);
    Effort effort(kMostDeadlineWork, stop);
    std::size_t tried = 0;
    for (const Bytes bytes : sizes) {
        if (++tried > kMostDeadlineSizes) break;
        for (const bool backwards : {false, true}) Deadlines(traffic, bytes, backwards).improve(best, effort);
    }
    if (effort.ended() && best.value == Ticks(0)) return std::nullopt;
    return best;
}

}  // namespace tutti::bounds
