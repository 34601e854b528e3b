// Forward-backward improvement, as it is known for project scheduling (Tormos and Lova 2001; Valls, Ballestin
// and Quintanilla 2005, "Justification and RCPSP").
//
// A list schedule wastes time at both ends: links far from the sources idle at first, and at the end a few
// links are still busy with what arrived in bursts. Moving all transfers as late as possible, within the
// makespan, in order of decreasing arrival, opens gaps at the beginning; moving them back as early as
// possible, in order of increasing start, closes the gaps, and transfers that had to wait find one. Neither
// move can make the schedule longer, because each transfer can stay where it is.

#include "heuristics/paths/justification.hpp"

#include "core/busy_intervals.hpp"
#include "heuristics/paths/hop_times.hpp"
#include "heuristics/paths/urgency.hpp"

#include <algorithm>
#include <numeric>

namespace tutti::heuristics {
namespace {

class Justifier {
  public:
    Justifier(const SpreadProblem& problem, const TreePlan& plan, const std::vector<Ticks>& starts)
        : times_(problem), plan_(plan), busy_(problem.graph.hops()), arcs_(plan.hops.size()) {
        for (std::size_t i = 0; i + 1 < plan.begin.size(); ++i) {
            for (std::uint32_t a = plan.begin[i]; a < plan.begin[i + 1]; ++a) {
                const std::uint32_t kind = times_.kind(i);
                arcs_[a] = {times_.units(starts[a]), times_.transit(plan.hops[a], kind),
                            times_.busy(plan.hops[a], kind), times_.units(problem.spreads[i].ready),
                            parent_of(plan, plan.begin[i], a)};
                makespan_ = std::max(makespan_, arcs_[a].start + arcs_[a].transit);
            }
        }
        order_.resize(arcs_.size());
        std::iota(order_.begin(), order_.end(), 0U);
        bound_.resize(arcs_.size());
    }

    [[nodiscard]] Ticks makespan() const { return times_.ticks(makespan_); }
    [[nodiscard]] Ticks start(std::size_t arc) const { return times_.ticks(arcs_[arc].start); }

    void move_late() {
        // A parent's latest start depends on its children, so they are placed first.
        sort([&](std::uint32_t a) { return -(arcs_[a].start + arcs_[a].transit); });
        std::ranges::fill(bound_, makespan_);
        for (Busy& busy : busy_) busy.clear();
        for (const std::uint32_t a : order_) {
            Timed& arc = arcs_[a];
            Busy& busy = busy_[plan_.hops[a].index()];
            arc.start = busy.latest(bound_[a] - arc.transit + arc.busy, arc.busy);
            busy.book(arc.start, arc.start + arc.busy);
            if (arc.parent != TreePlan::kRoot) bound_[arc.parent] = std::min(bound_[arc.parent], arc.start);
        }
    }

    void move_early() {
        sort([&](std::uint32_t a) { return arcs_[a].start; });
        for (Busy& busy : busy_) busy.clear();
        makespan_ = 0;
        for (const std::uint32_t a : order_) {
            Timed& arc = arcs_[a];
            Busy& busy = busy_[plan_.hops[a].index()];
            const std::int64_t ready = arc.parent == TreePlan::kRoot
                                           ? arc.ready
                                           : arcs_[arc.parent].start + arcs_[arc.parent].transit;
            arc.start = busy.earliest(ready, arc.busy);
            busy.book(arc.start, arc.start + arc.busy);
            makespan_ = std::max(makespan_, arc.start + arc.transit);
        }
    }

  private:
    using Busy = BusyIntervals<std::int64_t>;
    struct Timed {
        std::int64_t start, transit, busy, ready;
        std::uint32_t parent;
    };

    template <class Key>
    void sort(const Key& key) {
        ++round_;
        // The order of equals differs from round to round, so that rounds do not repeat.
        const std::uint32_t turn = round_ * 0x9E3779B1U;
        const auto lot = [turn](std::uint32_t a) { return (a ^ turn) * 0x85EBCA6BU; };
        std::ranges::sort(order_, [&](std::uint32_t a, std::uint32_t b) {
            const auto first = key(a);
            const auto second = key(b);
            return first != second ? first < second : lot(a) < lot(b);
        });
    }

    const HopTimes times_;
    const TreePlan& plan_;
    std::vector<Busy> busy_;  ///< by hop
    std::vector<Timed> arcs_;
    std::vector<std::uint32_t> order_;
    std::vector<std::int64_t> bound_;  ///< by when an arc must have arrived
    std::int64_t makespan_ = 0;
    std::uint32_t round_ = 0;
};

}  // namespace

Ticks justify(const SpreadProblem& problem, const TreePlan& plan, std::vector<Ticks>& starts, unsigned rounds,
              Ticks goal, const Stop& stop) {
    Justifier justifier(problem, plan, starts);
    Ticks best = justifier.makespan();
    std::uint64_t idle = 0;
    for (unsigned round = 0;
         round < rounds && idle < problem.options.justification_patience && best > goal && !stop.requested();
         ++round) {
        justifier.move_late();
        justifier.move_early();
        idle = justifier.makespan() < best ? 0 : idle + 1;
        if (justifier.makespan() > best) continue;
        best = justifier.makespan();
        for (std::size_t a = 0; a < starts.size(); ++a) starts[a] = justifier.start(a);
    }
    return best;
}

}  // namespace tutti::heuristics
