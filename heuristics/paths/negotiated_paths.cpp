// Paths and times at once: chunks negotiate for slots of links.
//
// Where paths are planned first and timed afterwards (priced_paths), the loads of the links are even, but not
// the moments at which they are wanted: an all-to-all in a scattered group of 64 on an 8x8x8 torus took 21
// steps. Here a chunk takes a path through the time-expanded network, in slots of equal length up to a
// horizon. First every chunk is routed along its cheapest path, although several may want one slot of a link;
// a contested slot becomes more expensive, the more often it was contested, and chunks that use one are
// routed again, until no slot is shared. That is how wires are routed on FPGAs (McMurchie and Ebeling,
// "PathFinder: a negotiation-based performance-driven router for FPGAs", 1995), with time as one more
// dimension.
//
// A chunk goes along quickest paths only (of which there are many), and may wait at every stop. The search
// takes the stops between source and target by their time to the target, the farthest first, and all slots at
// which the chunk can be there and still be in time: O(hops of quickest paths * slots to spare).
//
// The horizon is found by halving, between the bound and what priced-paths takes. One at which contests do
// not become fewer for some rounds counts as too short. Slots are the greatest common divisor of all times
// where a horizon has few of them, and then a plan without contests is a schedule; else a part of a hop's
// time, and rounded. In the end a plan is only an order: each transfer starts as early as those before it
// let it, so that also plans with a few contests left are schedules.
//
// The group on the torus: 18 steps; the bound is 16. Horizons of 17 end with some 20 contests left, of 24 000
// transfers. Tried and dropped: messages through switches that hold nothing, where a chunk has one path only
// and all its links have to be free at once: an all-to-all in a dragonfly of 72 NPUs (df9x4x2) took 501 us,
// packed-rounds 479.

#include "heuristics/paths/negotiated_paths.hpp"

#include "heuristics/paths/priced_paths.hpp"
#include "heuristics/paths/slot_search.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace tutti::heuristics {
namespace {

constexpr std::int64_t kMostSlots = 1024;             ///< of a horizon
constexpr std::int64_t kSlotsOfHop = 8;               ///< where times have no large common divisor
constexpr std::size_t kMostMarketCells = 1U << 23U;   ///< hops * slots
constexpr std::size_t kMostRests = 1U << 24U;         ///< targets * stops
constexpr std::uint64_t kMostSlotWork = 150'000'000;  ///< slots looked at
constexpr std::uint64_t kStep = 10;                   ///< contests must become fewer by that part of them
constexpr unsigned kVainRounds = 30;                  ///< rounds without fewer contests

/// The chunks' paths up to a horizon.
class Negotiation {
  public:
    Negotiation(const Journeys& journeys, std::int32_t horizon, Rng& rng)
        : journeys_(journeys),
          rng_(rng),
          market_(journeys.graph().hops(), horizon, rng),
          search_(journeys, horizon),
          paths_(journeys.all().size()) {}

    /// Whether no slot is shared in the end. Adds the work that it took.
    bool run(std::uint64_t& work, const Stop& stop) {
        std::vector<std::uint32_t> order(paths_.size());
        std::iota(order.begin(), order.end(), 0U);
        std::uint64_t least = UINT64_MAX;
        const std::uint64_t before = work;
        for (unsigned idle = 0; idle < kVainRounds && work < kMostSlotWork; ++idle) {
            rng_.shuffle(order);
            for (std::size_t n = 0; n < order.size(); ++n) {
                if (n % 64 == 0 && stop.requested()) return false;
                if (is_contested(order[n])) route(order[n]);
            }
            work = before + search_.work();
            const std::uint64_t contests = market_.settle();
            if (contests == 0) return true;
            if (contests >= least - least / kStep) continue;
            least = contests;
            idle = 0;
        }
        return false;
    }

    /// Each transfer as early as those before it let it. None: stopped before all had a path.
    [[nodiscard]] std::optional<SpreadSolution> solution() const {
        struct Planned {
            std::int32_t start;
            std::uint32_t journey, step;
        };
        std::vector<Planned> order;
        for (std::uint32_t j = 0; j < paths_.size(); ++j) {
            if (paths_[j].empty()) return std::nullopt;
            for (std::uint32_t s = 0; s < paths_[j].size(); ++s) order.push_back({paths_[j][s].start, j, s});
        }
        std::ranges::stable_sort(order, {}, &Planned::start);
        const SpreadProblem& problem = journeys_.problem();
        LinkCalendar calendar = problem.calendar;
        std::vector<Ticks> ready(paths_.size());
        SpreadSolution solution;
        for (const auto& [start, j, s] : order) {
            const Spread& spread = problem.spreads[journeys_.all()[j].spread];
            const HopId hop = paths_[j][s].hop;
            const Ticks at =
                calendar.earliest(problem.graph, hop, spread.chunk, std::max(ready[j], spread.ready));
            calendar.book(problem.graph, hop, spread.chunk, at);
            ready[j] = at + problem.graph.transit(hop, spread.chunk);
            solution.makespan = std::max(solution.makespan, ready[j]);
            solution.transfers.push_back({hop, spread.chunk, at});
        }
        return solution;
    }

  private:
    [[nodiscard]] bool is_contested(std::uint32_t j) const {
        return paths_[j].empty() || std::ranges::any_of(paths_[j], [&](const SlotStep& step) {
                   return market_.is_contested(step.hop, step.start, busy(j, step));
               });
    }
    void route(std::uint32_t j) {
        for (const SlotStep& step : paths_[j]) market_.leave(step.hop, step.start, busy(j, step));
        search_.run(journeys_.all()[j], market_, paths_[j]);
        for (const SlotStep& step : paths_[j]) market_.enter(step.hop, step.start, busy(j, step));
    }
    [[nodiscard]] std::int32_t busy(std::uint32_t j, const SlotStep& step) const {
        return journeys_.times().busy(step.hop, journeys_.all()[j].kind);
    }

    const Journeys& journeys_;
    Rng& rng_;
    SlotMarket market_;
    SlotSearch search_;
    std::vector<std::vector<SlotStep>> paths_;  ///< by journey, the last step first
};

/// The slots of which a schedule of that length has few enough.
Ticks slot_for(const SpreadProblem& problem, const HopTimes& times, Ticks makespan) {
    const Ticks unit = times.ticks(1);
    if (makespan.count() / unit.count() <= kMostSlots) return unit;
    std::int64_t longest = 1;
    for (std::uint32_t kind = 0; kind < times.kinds(); ++kind) {
        for (std::size_t h = 0; h < problem.graph.hops(); ++h)
            longest = std::max(longest, times.busy(HopId(h), kind));
    }
    const std::int64_t hop = times.ticks(longest).count();
    const std::int64_t parts =
        std::clamp<std::int64_t>(kMostSlots / (makespan.count() / hop + 1), 1, kSlotsOfHop);
    return Ticks(std::max((hop + parts - 1) / parts, makespan.count() / kMostSlots + 1));
}

}  // namespace

std::string why_no_negotiation(const SpreadProblem& problem) {
    if (problem.calendar.horizon() > Ticks(0)) return "links are booked already";
    if (!problem.graph.is_simple()) return "there are switches that hold nothing";
    if (std::string why = why_no_paths(problem); !why.empty()) return why;
    if (problem.spreads.size() * problem.graph.nodes() > kMostRests) return "there are too many chunks";
    return {};
}

std::optional<SpreadSolution> negotiate_paths(const SpreadProblem& problem, Rng& rng, const Stop& stop) {
    if (!why_no_negotiation(problem).empty()) return std::nullopt;
    auto best = route_paths(problem, rng, stop);
    if (!best || best->makespan <= problem.target) return best;
    const HopTimes times(problem);
    const Ticks slot = slot_for(problem, times, best->makespan);
    const Journeys journeys(problem, times, slot);
    if (journeys.longest() == Journeys::kFar) return best;
    const auto in_slots = [&](Ticks time) {
        return static_cast<std::int32_t>((time.count() + slot.count() - 1) / slot.count());
    };
    std::int32_t least = std::max(journeys.longest(), in_slots(problem.target));
    std::int32_t most = in_slots(best->makespan);
    std::uint64_t work = 0;
    while (least < most && work < kMostSlotWork && !stop.requested()) {
        const std::int32_t horizon = least + (most - least) / 2;
        if (problem.graph.hops() * static_cast<std::size_t>(horizon) > kMostMarketCells) break;
        Negotiation negotiation(journeys, horizon, rng);
        if (negotiation.run(work, stop)) {
            most = horizon;
        } else {
            least = horizon + 1;
        }
        auto found = negotiation.solution();
        if (found && found->makespan < best->makespan) best = std::move(found);
    }
    return best;
}

}  // namespace tutti::heuristics
