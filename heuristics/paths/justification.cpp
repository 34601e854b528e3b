// Forward-backward improvement, as it is known for project scheduling (Tormos and Lova 2001; Valls, Ballestin
// and Quintanilla 2005, "Justification and RCPSP").
//
// A list schedule wastes time at both ends: links far from the sources idle at first, and at the end a few of
// them still work off what came in bursts. Moving everything as late as possible, within the makespan, in
// order of falling arrival, opens gaps at the beginning; moving it back as early as possible, in order of
// rising start, closes them, and what had to wait for a gap now finds one. Neither move can make the schedule
// longer, because each transfer could stay where it is.

#include "heuristics/paths/justification.hpp"

#include "heuristics/paths/hop_times.hpp"
#include "heuristics/paths/urgency.hpp"

#include <algorithm>
#include <numeric>

namespace tutti::heuristics {
namespace {

/// When a link is busy; intervals that touch are one.
class Gaps {
  public:
    void clear() { busy_.clear(); }

    /// The first begin >= ready of a gap of that length.
    [[nodiscard]] std::int64_t earliest(std::int64_t ready, std::int64_t length) const {
        auto next = std::ranges::upper_bound(busy_, ready, {}, &Interval::end);
        for (; next != busy_.end() && next->begin < ready + length; ++next)
            ready = std::max(ready, next->end);
        return ready;
    }
    /// The last begin of a gap of that length that ends by `due`.
    [[nodiscard]] std::int64_t latest(std::int64_t due, std::int64_t length) const {
        auto next = std::ranges::lower_bound(busy_, due, {}, &Interval::begin);
        while (next != busy_.begin() && std::prev(next)->end > due - length) {
            --next;
            due = std::min(due, next->begin);
        }
        return due - length;
    }
    void book(std::int64_t begin, std::int64_t end) {
        const auto next = std::ranges::lower_bound(busy_, begin, {}, &Interval::begin);
        const bool joins_next = next != busy_.end() && next->begin == end;
        const bool joins_last = next != busy_.begin() && std::prev(next)->end == begin;
        if (joins_last && joins_next) {
            std::prev(next)->end = next->end;
            busy_.erase(next);
        } else if (joins_last) {
            std::prev(next)->end = end;
        } else if (joins_next) {
            next->begin = begin;
        } else {
            busy_.insert(next, {begin, end});
        }
    }

  private:
    struct Interval {
        std::int64_t begin, end;
    };
    std::vector<Interval> busy_;
};

class Justifier {
  public:
    Justifier(const SpreadProblem& problem, const TreePlan& plan, const std::vector<Ticks>& starts)
        : times_(problem), plan_(plan), gaps_(problem.graph.hops()), arcs_(plan.hops.size()) {
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
        // A child may end with its parent's start only after the parent is placed: children first.
        sort([&](std::uint32_t a) { return -(arcs_[a].start + arcs_[a].transit); });
        std::ranges::fill(bound_, makespan_);
        for (Gaps& gaps : gaps_) gaps.clear();
        for (const std::uint32_t a : order_) {
            Timed& arc = arcs_[a];
            Gaps& gaps = gaps_[plan_.hops[a].index()];
            arc.start = gaps.latest(bound_[a] - arc.transit + arc.busy, arc.busy);
            gaps.book(arc.start, arc.start + arc.busy);
            if (arc.parent != TreePlan::kRoot) bound_[arc.parent] = std::min(bound_[arc.parent], arc.start);
        }
    }

    void move_early() {
        sort([&](std::uint32_t a) { return arcs_[a].start; });
        for (Gaps& gaps : gaps_) gaps.clear();
        makespan_ = 0;
        for (const std::uint32_t a : order_) {
            Timed& arc = arcs_[a];
            Gaps& gaps = gaps_[plan_.hops[a].index()];
            const std::int64_t ready = arc.parent == TreePlan::kRoot
                                           ? arc.ready
                                           : arcs_[arc.parent].start + arcs_[arc.parent].transit;
            arc.start = gaps.earliest(ready, arc.busy);
            gaps.book(arc.start, arc.start + arc.busy);
            makespan_ = std::max(makespan_, arc.start + arc.transit);
        }
    }

  private:
    struct Timed {
        std::int64_t start, transit, busy, ready;
        std::uint32_t parent;
    };

    template <class Key>
    void sort(const Key& key) {
        ++round_;
        // Equals in an order that differs from round to round, so that the rounds do not repeat themselves.
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
    std::vector<Gaps> gaps_;  ///< by hop
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
