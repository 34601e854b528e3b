// The bound "time-expanded": is there room for the chunks' paths through time, if chunks may be split, up to
// a horizon? If not, the dual of that linear program says so with weights on windows
// (TimedLengthsCertificate); rounded to integers they are checked here exactly, and only then is the horizon
// refuted.
//
// Times are divided by their common divisor g first. A start at a tick between two multiples of g can be
// moved to the one before without changing order, windows or room, so that a refuted horizon T (in units of
// g) refutes every horizon up to g * (T + 1) - 1 in ticks.
//
// A chunk with several receivers makes one trip only in this program, since copies are free. So one receiver
// at a time is looked at with all that it must get, and of reductions one contributor at a time. A program
// that copies would be stronger, but its dual is not a set of weights that can be checked one way at a time.
//
// Before that, with messages: each receiver pays for the one that brings it the chunk (messages.cpp).
//
// Chunks of different sizes share the windows of the smallest that counts: weaker, never wrong.
//
// A horizon that is too short is refuted fast: the six instances of tests/data/oracle that the bounds without
// a solver leave open take 2.3 s or less each. One that is possible can take long to be found so (all-to-all
// with 2 chunks on a 3x4 torus, 25 ticks: over a minute). So start from the best other bound, and only if it
// is not met yet.

#include "models/relaxation/time_expanded.hpp"

#include "models/relaxation.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace tutti::models {
namespace {

using Prices = std::vector<std::vector<std::int64_t>>;  ///< per link and tick of the start

Prices prices_of(const TimedCase& timed, const std::vector<WholeWeight>& weights) {
    Prices prices(timed.busy.size());
    for (const auto& [link, window, weight] : weights) {
        auto& of_link = prices[link];
        of_link.resize(static_cast<std::size_t>(timed.horizon) + 1, 0);
        const std::int64_t end = std::min(timed.horizon, window + timed.busy[link] - 1);
        for (std::int64_t t = std::max<std::int64_t>(window, 0); t <= end; ++t) {
            of_link[static_cast<std::size_t>(t)] += weight;
        }
    }
    return prices;
}

/// Per node the least price of a path to `to` by the horizon, if the chunk is at the node from the kind's
/// release on.
std::vector<std::int64_t> prices_to(const TimedCase& timed, const KindNetwork& network, NodeId to,
                                    const Prices& prices) {
    const Topology& topology = timed.instance.topology();
    const auto release = std::min(network.release(), timed.horizon + 1);
    const auto ticks = static_cast<std::size_t>(timed.horizon + 1 - release);
    // best[t][v], by ticks after the release, from the last back; the tick after the horizon has no way.
    std::vector<std::vector<std::int64_t>> best(ticks + 1,
                                                std::vector<std::int64_t>(topology.nodes(), kUnreachable));
    for (std::size_t i = ticks; i-- > 0;) {
        auto& now = best[i];
        now = best[i + 1];
        now[to.index()] = 0;
        // Transit 0 leads through cut-through switches at one tick; each pass settles one more of them in a
        // row.
        for (bool again = true; again;) {
            again = false;
            for (std::size_t e = 0; e < topology.links().size(); ++e) {
                if (!network.usable(e)) continue;
                const std::int64_t tick = release + static_cast<std::int64_t>(i);
                if (tick + network.arrival(e) > timed.horizon) continue;
                const Link& link = topology.link(LinkId(e));
                const auto later = i + static_cast<std::size_t>(network.transit(e));
                const std::int64_t price = prices[e].empty() ? 0 : prices[e][static_cast<std::size_t>(tick)];
                const std::int64_t total = best[later][link.dst.index()] + price;
                if (total >= now[link.src.index()]) continue;
                now[link.src.index()] = total;
                again = again || network.transit(e) == 0 || topology.is_cut_through(link.src);
            }
        }
    }
    return std::move(best.front());
}

/// What to multiply the duals by before rounding. Small ones first: they are easier on people, and exact if
/// the duals are simple fractions.
constexpr std::int64_t kTimedScales[] = {1, 2, 3, 4, 6, 12, 60, 2520, 1'000'000};

TimedLengthsCertificate certificate_of(const TimedCase& timed, const std::vector<WholeWeight>& weights,
                                       const Selection& selection) {
    TimedLengthsCertificate certificate;
    certificate.horizon = Ticks(timed.unit * (timed.horizon + 1) - 1);
    for (const auto& [link, window, weight] : weights) {
        certificate.weights.push_back({LinkId(link), Ticks(window * timed.unit), weight});
    }
    certificate.target = selection.target;
    return certificate;
}

}  // namespace

std::optional<std::vector<WholeWeight>> whole_weights(
    const std::vector<WindowWeight>& duals,
    const std::function<bool(const std::vector<WholeWeight>&)>& is_accepted) {
    for (const std::int64_t scale : kTimedScales) {
        std::vector<WholeWeight> weights;
        for (const auto& [link, window, weight] : duals) {
            const std::int64_t whole = std::llround(weight * static_cast<double>(scale));
            if (whole > 0) weights.push_back({link, window, whole});
        }
        if (is_accepted(weights)) return weights;
    }
    return std::nullopt;
}

std::int64_t first_not_refuted(std::int64_t low, const std::function<bool(std::int64_t horizon)>& is_refuted,
                               const Stop& stop) {
    std::int64_t high = kUnreachable, step = 1;
    while (low < high && !stop.requested()) {
        const std::int64_t horizon = std::min(low + step, high) - 1;
        if (is_refuted(horizon)) {
            low = horizon + 1;
            step = high == kUnreachable ? 2 * step : std::max<std::int64_t>(1, (high - low + 1) / 2);
        } else {
            high = horizon;
            step = std::max<std::int64_t>(1, (high - low + 1) / 2);
        }
    }
    return low;
}

bool refutes(const TimedCase& timed, const std::vector<WholeWeight>& weights) {
    const Prices prices = prices_of(timed, weights);
    std::map<std::pair<Kind, NodeId>, std::vector<std::int64_t>> known;
    Wide needed = 0, allowed = 0;
    for (const Trip& trip : timed.trips) {
        auto& to = known[{trip.kind, trip.to}];
        if (to.empty())
            to = prices_to(timed, KindNetwork(timed.instance, trip.kind, timed.unit), trip.to, prices);
        std::int64_t least = kUnreachable;
        for (const NodeId node : trip.from) least = std::min(least, to[node.index()]);
        if (least >= kUnreachable) return true;
        needed += Wide{least} * trip.count;
    }
    for (const WholeWeight& weight : weights) allowed += weight.weight;
    return needed > allowed;
}

Relaxed time_expanded_bound(const Instance& instance, const Backend& backend, Ticks from,
                            const RelaxationLimits& limits) {
    const auto begin = std::chrono::steady_clock::now();
    Bound best{"time-expanded", from, std::monostate{}, 0};
    Relaxed result;
    Relaxed messages = messages_bound(instance, backend, from, limits);
    result.too_large = messages.too_large;
    if (messages.bound) best = std::move(*messages.bound);
    std::size_t left = limits.all_entries;
    for (const Selection& selection : selections(instance)) {
        if (limits.solve.stop.requested()) break;
        const auto trips = trips_of(instance, selection);
        if (trips.empty()) continue;
        const Bytes bytes = smallest(instance, selection);
        TimedCase timed{instance, trips, common_divisor(instance, trips, bytes), {}, 0};
        for (std::size_t e = 0; e < instance.topology().links().size(); ++e) {
            const Ticks busy = instance.busy(LinkId(e), instance.topology().beta(LinkId(e), bytes));
            timed.busy.push_back(busy.count() / timed.unit);
        }
        const std::int64_t alone = longest_trip(instance, shipments(trips), timed.unit);
        if (alone >= kUnreachable) return {};
        if (alone * timed.unit > best.value.count()) {
            // A chunk alone takes that long, whatever the weights.
            best.value = Ticks(alone * timed.unit);
            timed.horizon = alone - 1;
            best.certificate = certificate_of(timed, {}, selection);
        }
        const auto is_refuted = [&](std::int64_t horizon) {
            timed.horizon = horizon;
            const TimedAnswer answer =
                solve_timed(timed, backend, limits.solve, std::min(limits.entries, left));
            left -= answer.entries;
            result.too_large = result.too_large || answer.word == TimedAnswer::Word::TooLarge;
            if (answer.word != TimedAnswer::Word::Missing) return false;
            const auto weights = whole_weights(
                answer.weights, [&](const std::vector<WholeWeight>& some) { return refutes(timed, some); });
            if (!weights) return false;
            best.value = Ticks(timed.unit * (horizon + 1));
            best.certificate = certificate_of(timed, *weights, selection);
            return true;
        };
        (void)first_not_refuted(best.value.count() / timed.unit, is_refuted, limits.solve.stop);
    }
    if (best.value == from) return result;
    best.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    result.bound = std::move(best);
    return result;
}

}  // namespace tutti::models
