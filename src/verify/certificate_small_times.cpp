// Small times. The check makes the instance anew with the small times, and asks the check of lengths through
// time whether its chunks cannot have moved by the small horizon.
//
// Why that says something about real times: take a schedule, and start its sends in small times as early as
// their order lets them, that is, after the sends before them on their links, and after the arrivals that
// they had waited for. Every start is then a sum of busy times and transits along a chain of sends, and the
// same chain took no longer in the schedule than its real times add up to. So if all real sums that fit into
// the schedule's makespan are at most the small horizon in small times, everything arrives by that; each
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

/// The least real sum whose small sum is at least `small`.
Wide least_ticks(const std::vector<Step>& steps, std::int64_t small) {
    std::vector<Wide> least(static_cast<std::size_t>(small) + 1, 0);
    for (std::int64_t sum = 1; sum <= small; ++sum) {
        Wide best = kNever;
        for (const Step& step : steps) {
            if (step.small <= 0) continue;
            const std::int64_t before = std::max<std::int64_t>(0, sum - step.small);
            best = std::min(best, step.ticks + least[static_cast<std::size_t>(before)]);
        }
        least[static_cast<std::size_t>(sum)] = best;
    }
    return least.back();
}

}  // namespace

Objection check_small_times(const Instance& instance, const SmallTimesCertificate& small, Ticks value) {
    expects(value > Ticks(0));
    if (auto objection = check_scope(instance)) return objection;
    const std::int64_t horizon = small.timed.horizon.count();
    if (horizon < 0 || horizon >= kMostSmall) return "the small horizon is not from 0 to 2^20";
    TopologyParts parts = instance.topology().parts();
    std::vector<Step> steps;
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
        const bool whole = parts.busy == Busy::AlphaPlusBeta;
        const Wide ticks = alpha.count(), rest = beta.count();
        steps.push_back({ticks + rest, (short_alpha + short_beta).count()});
        if (!whole) steps.push_back({rest, short_beta.count()});
    }
    std::ranges::sort(steps, [](const Step& a, const Step& b) {
        return a.ticks != b.ticks ? a.ticks < b.ticks : a.small < b.small;
    });
    steps.erase(
        std::unique(steps.begin(), steps.end(),
                    [](const Step& a, const Step& b) { return a.ticks == b.ticks && a.small == b.small; }),
        steps.end());
    if (steps.empty()) return "there are no links";
    const Wide least = least_ticks(steps, horizon + 1);
    if (value.count() > least) {
        return fmt::format("what takes more than {} small ticks may take {} ticks only", horizon,
                           text_of(least));
    }
    const Instance quick({instance.name(), std::move(parts), instance.groups(), instance.collectives()});
    return check_timed_lengths(quick, small.timed, small.timed.horizon + Ticks(1));
}

}  // namespace tutti::verify
