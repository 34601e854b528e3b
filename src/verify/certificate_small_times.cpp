// Small times. The check makes the instance anew with the small times, and asks the check of lengths through
// time whether its chunks cannot have moved by the small horizon.
//
// Why that says something about real times: take a schedule, and start its sends in small times as early as
// their order lets them, that is, after the sends before them on their links, and after the arrivals that
// they had waited for. Every start is then a sum of busy times and transits along a chain of sends, each on
// the link of the one before or from where that one ends, and the chain took no less in the schedule than its
// real times add up to. So if all chains that fit into the schedule's makespan are at most the small horizon
// in small times, everything arrives by that; each
// chunk still takes its way through time, and no window of a link has two starts. docs/bounds.md.

#include "core/expects.hpp"
#include "verify/certificate_checks.hpp"
#include "verify/certificate_paths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace tutti::verify {
namespace {

constexpr std::int64_t kMostSmall = std::int64_t{1} << 20;
/// Of chains: links times small ticks.
constexpr std::int64_t kMostStarts = std::int64_t{1} << 24;

/// What a send adds to a chain, in both times.
struct Step {
    Wide ticks;
    std::int64_t small;
};

/// Where chains are all there is: nothing must start at an exact tick, and everything may start at 0.
Objection check_scope(const Instance& instance) {
    const Topology& topology = instance.topology();
    for (std::size_t n = topology.npus(); n < topology.nodes(); ++n) {
        if (topology.is_cut_through(NodeId(n))) return "a switch cuts through";
    }
    if (instance.chunks() == 0) return "no chunk has to move";
    if (instance.demands().sizes().size() > 1) return "chunks have different sizes";
    for (const Collective& collective : instance.collectives()) {
        if (last_release(collective) > Ticks(0)) return "something is released after tick 0";
    }
    return std::nullopt;
}

/// What the sends over a link add to chains.
struct Sends {
    Step busy;     ///< if the next one is on the same link
    Step transit;  ///< if it starts where they end
    std::size_t src = 0, dst = 0;
};

/// Arrivals at a node: the least, and from where; and the least from elsewhere.
struct Arrivals {
    Wide least = kNever, other = kNever;
    std::size_t from = 0;
    void add(Wide end, std::size_t source) {
        if (end < least) {
            if (source != from) other = least;
            least = end;
            from = source;
        } else if (source != from) {
            other = std::min(other, end);
        }
    }
};

/// Whether all chunks are plain and all switches only store. Then a chunk that goes back from a switch to
/// where it came from could as well have stayed there, or has been there anyway: what is said of schedules
/// without such sends holds for all.
bool only_stores(const Instance& instance) {
    for (const SwitchRule& rule : instance.topology().parts().switches) {
        if (rule.copy || rule.reduce || rule.cut_through || rule.buffer) return false;
    }
    for (std::size_t c = 0; c < instance.chunks(); ++c) {
        if (instance.demand(ChunkId(c)).reduction) return false;
    }
    return true;
}

/// The least real time of a chain whose small time is at least `small`; it ends with an arrival. It goes from
/// link to link with one chunk, so where switches only store it does not turn round there.
Wide least_ticks(const std::vector<Sends>& links, const Instance& instance, std::int64_t small) {
    const bool no_turns = only_stores(instance);
    // Per small time: for each link up to a start on it.
    std::vector<std::vector<Wide>> start{std::vector<Wide>(links.size(), 0)};
    Wide least = kNever;
    for (std::int64_t sum = 1; sum <= small; ++sum) {
        const auto after = [&](std::size_t link, const Step& step) {
            const auto before = static_cast<std::size_t>(std::max<std::int64_t>(0, sum - step.small));
            return std::min(kNever, start[before][link] + step.ticks);
        };
        std::vector<Arrivals> arrivals(instance.topology().nodes());
        least = kNever;
        for (std::size_t e = 0; e < links.size(); ++e) {
            const Wide end = after(e, links[e].transit);
            least = std::min(least, end);
            arrivals[links[e].dst].add(end, links[e].src);
        }
        auto& now = start.emplace_back();
        for (std::size_t e = 0; e < links.size(); ++e) {
            const Arrivals& here = arrivals[links[e].src];
            const bool turns =
                no_turns && here.from == links[e].dst && instance.topology().is_switch(NodeId(links[e].src));
            now.push_back(std::min(turns ? here.other : here.least, after(e, links[e].busy)));
        }
    }
    return least;
}

}  // namespace

Objection check_small_times(const Instance& instance, const SmallTimesCertificate& small, Ticks value) {
    expects(value > Ticks(0));
    if (auto objection = check_scope(instance)) return objection;
    const std::int64_t horizon = small.timed.horizon.count();
    if (horizon < 0 || horizon >= kMostSmall) return "the small horizon is not from 0 to 2^20";
    TopologyParts parts = instance.topology().parts();
    if ((horizon + 1) * static_cast<std::int64_t>(parts.links.size()) > kMostStarts)
        return "its chains are too many to check";
    std::vector<Sends> sends;
    for (std::size_t l = 0; l < parts.links.size(); ++l) {
        Wire& wire = parts.links[l].wire;
        const Ticks alpha = wire.alpha, beta = instance.beta(LinkId(l), ChunkId(0));
        const auto times = std::ranges::find_if(
            small.times, [&](const auto& each) { return each.alpha == alpha && each.beta == beta; });
        if (times == small.times.end()) {
            return fmt::format("links of alpha {} and beta {} have no small times", alpha.count(),
                               beta.count());
        }
        const Ticks short_alpha = times->small_alpha, short_beta = times->small_beta;
        if (short_alpha < Ticks(0) || short_beta < Ticks(1) || short_alpha > Ticks(kMostSmall) ||
            short_beta > Ticks(kMostSmall)) {
            return "a small alpha is not from 0 to 2^20, or a small beta not from 1";
        }
        wire = {short_alpha, short_beta, {}};
        const Step transit{Wide{alpha.count()} + beta.count(), (short_alpha + short_beta).count()};
        const Step busy{beta.count(), short_beta.count()};
        sends.push_back({parts.busy == Busy::AlphaPlusBeta ? transit : busy, transit,
                         parts.links[l].src.index(), parts.links[l].dst.index()});
    }
    if (sends.empty()) return "there are no links";
    const Wide least = least_ticks(sends, instance, horizon + 1);
    if (value.count() > least) {
        return fmt::format("what takes more than {} small ticks may take {} ticks only", horizon,
                           text_of(least));
    }
    const Instance quick({instance.name(), std::move(parts), instance.groups(), instance.collectives()});
    return check_timed_lengths(quick, small.timed, small.timed.horizon + Ticks(1));
}

}  // namespace tutti::verify
