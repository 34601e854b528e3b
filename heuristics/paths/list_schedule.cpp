// List scheduling of a plan: every link, whenever it is free, starts the most urgent of the transfers that
// wait for it. No link idles while a transfer waits, so a plan exceeds its largest link load only by the time
// until the first transfers arrive at that link and the remaining paths of the last ones. Farthest first
// keeps the latter short: in a prototype with 512 NPUs and fixed paths its makespan was the largest link load
// in almost every case; transit first lost 0.4-2 %, random order 2-8 %, nearest first 4-18 %.
//
// Events come from a radix heap (event_queue), so physical units with their billions of ticks cost no more
// than unit times. Waiting transfers are in intrusive lists, one for each link and rank of urgency, with a
// mask of the nonempty ranks: all O(1). Equal transfers are served last in, first out: a queue would have to
// touch the record of its last entry, a cache miss for every transfer. The remaining misses are for the arcs'
// own records, which are prefetched some events ahead.
//
// Rigid hops and calendars with bookings are for `schedule_by_ports` (port_schedule.cpp).

#include "heuristics/paths/list_schedule.hpp"

#include "core/expects.hpp"
#include "heuristics/event_queue.hpp"
#include "heuristics/paths/hop_times.hpp"
#include "heuristics/paths/port_schedule.hpp"
#include "heuristics/paths/urgency.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <numeric>

namespace tutti::heuristics {
namespace {

constexpr std::uint32_t kNoArc = UINT32_MAX;

/// How many events ahead records are prefetched.
constexpr std::size_t kSlotsAhead = 12;

/// The order of the spreads, last ones first. With a fixed order all NPUs would send to the same targets at
/// once.
std::vector<std::uint32_t> turns(const SpreadProblem& problem, const ListOptions& options) {
    std::vector<std::uint32_t> order(problem.spreads.size());
    std::iota(order.begin(), order.end(), 0U);
    Rng rng(options.seed);
    rng.shuffle(order);
    if (options.turns == Turns::Random) return order;
    const auto shift = [&](std::uint32_t i) { return shift_of(problem, problem.spreads[i]); };
    std::ranges::stable_sort(order, std::greater<>(), shift);
    return order;
}

}  // namespace

class ListScheduler {
  public:
    ListScheduler(const SpreadProblem& problem, const TreePlan& plan, const ListOptions& options,
                  const Stop& stop)
        : problem_(problem),
          plan_(plan),
          stop_(stop),
          look_(options.look),
          times_(problem),
          arcs_(plan.hops.size()),
          queues_(problem.graph.hops()) {
        set_up_arcs(urgency_ranks(problem, times_, plan, options));
        if (!plan.parents.empty()) set_up_children();
        if (look_ > 1) {
            to_come_.assign(problem.graph.hops(), 0);
            for (const Arc& arc : arcs_) to_come_[arc.hop] += times_.busy(HopId(arc.hop), arc.kind);
        }
        set_up_starts(options);
    }

    /// The starts by arc, too, into `starts`.
    void record(std::vector<Ticks>& starts) {
        starts.resize(arcs_.size());
        starts_ = starts;
    }

    std::optional<SpreadSolution> run() {
        solution_.transfers.reserve(arcs_.size());
        while (!events_.empty()) {
            if (!step()) return std::nullopt;
        }
        solution_.makespan = makespan();
        return std::move(solution_);
    }

    /// The transfers that start at the next tick at which some do.
    [[nodiscard]] std::span<const Transfer> next() {
        solution_.transfers.clear();
        while (solution_.transfers.empty() && !events_.empty() && step()) {
        }
        return solution_.transfers;
    }
    [[nodiscard]] bool is_complete() const { return events_.empty(); }
    [[nodiscard]] Ticks makespan() const { return times_.ticks(makespan_); }

  private:
    /// A planned transfer: 16 bytes, four to a cache line.
    struct Arc {
        std::uint32_t hop;
        std::uint32_t chunk;
        std::uint32_t next;  ///< that waits in the same list
        std::uint16_t kind;
        std::uint8_t rank;
        bool last;  ///< nothing follows it
    };
    static constexpr std::uint32_t kBegins = 1;   ///< the arc may start
    static constexpr std::uint32_t kFrees = 2;    ///< its link is free
    static constexpr std::uint32_t kArrives = 4;  ///< the chunk is there
    static constexpr std::uint32_t kFlags = 3;    ///< bits
    struct Event {
        std::int64_t time;
        std::uint32_t arc;
        std::uint32_t what;  ///< the hop, then the flags
    };
    /// All events of the next tick. False: stopped.
    bool step() {
        if ((steps_++ & 63U) == 0 && stop_.requested()) return false;
        events_.pop(batch_);
        const std::int64_t now = batch_.front().time;
        for (std::size_t i = 0; i < batch_.size(); ++i) {
            if (i + kSlotsAhead < batch_.size()) fetch(batch_[i + kSlotsAhead].arc);
            const Event& event = batch_[i];
            if ((event.what & kBegins) != 0) wait(event.arc, now);
            if ((event.what & kFrees) != 0) free(event.what >> kFlags, now);
            if ((event.what & kArrives) != 0) arrive(event.arc, now);
        }
        serve(now);
        return true;
    }

    struct Queue {
        std::uint64_t filled = 0;  ///< the ranks that wait
        std::int64_t free = 0;     ///< from when on the link is
        bool marked = false;       ///< to be served at this tick
        std::array<std::uint32_t, kRanks> first;
    };

    void set_up_arcs(const std::vector<std::uint8_t>& ranks) {
        for (std::size_t i = 0; i + 1 < plan_.begin.size(); ++i) {
            const std::uint32_t chunk = problem_.spreads[i].chunk.value();
            const auto kind = static_cast<std::uint16_t>(times_.kind(i));
            for (std::uint32_t a = plan_.begin[i]; a < plan_.begin[i + 1]; ++a) {
                const bool last = plan_.parents.empty() && a + 1 == plan_.begin[i + 1];
                arcs_[a] = {plan_.hops[a].value(), chunk, kNoArc, kind, ranks[a], last};
            }
        }
    }

    /// Each arc's children as a list: the first of them, and each one's next sibling.
    void set_up_children() {
        first_child_.assign(arcs_.size(), kNoArc);
        sibling_.assign(arcs_.size(), kNoArc);
        for (std::size_t a = arcs_.size(); a-- > 0;) {
            const std::uint32_t parent = plan_.parents[a];
            if (parent == TreePlan::kRoot) continue;
            sibling_[a] = first_child_[parent];
            first_child_[parent] = static_cast<std::uint32_t>(a);
        }
    }

    void set_up_starts(const ListOptions& options) {
        const std::vector<std::uint32_t> order = turns(problem_, options);
        for (const std::uint32_t i : order) {
            const std::int64_t ready = times_.units(problem_.spreads[i].ready);
            const std::uint32_t end =
                plan_.parents.empty() ? std::min(plan_.begin[i] + 1, plan_.begin[i + 1]) : plan_.begin[i + 1];
            for (std::uint32_t a = plan_.begin[i]; a < end; ++a) {
                if (parent_of(plan_, plan_.begin[i], a) != TreePlan::kRoot) continue;
                push(ready, a, kBegins);
            }
        }
    }

    void push(std::int64_t time, std::uint32_t arc, std::uint32_t flags) {
        events_.push({time, arc, (arcs_[arc].hop << kFlags) | flags});
    }

    void fetch(std::uint32_t arc) const {
        if (arc < arcs_.size()) __builtin_prefetch(&arcs_[arc + (arc + 1 < arcs_.size() ? 1 : 0)], 1);
    }

    void free(std::uint32_t hop, std::int64_t now) {
        if (queues_[hop].filled != 0 && queues_[hop].free <= now) mark(hop);
    }

    void arrive(std::uint32_t arc, std::int64_t now) {
        for_children(arc, [&](std::uint32_t child) { wait(child, now); });
    }

    void wait(std::uint32_t a, std::int64_t now) {
        Arc& arc = arcs_[a];
        Queue& queue = queues_[arc.hop];
        const std::uint64_t bit = std::uint64_t{1} << arc.rank;
        arc.next = (queue.filled & bit) != 0 ? queue.first[arc.rank] : kNoArc;
        queue.first[arc.rank] = a;
        queue.filled |= bit;
        if (queue.free <= now) mark(arc.hop);
    }

    void mark(std::uint32_t hop) {
        if (queues_[hop].marked) return;
        queues_[hop].marked = true;
        marked_.push_back(hop);
    }

    void serve(std::int64_t now) {
        for (std::size_t i = 0; i < marked_.size(); ++i) {
            if (i + kSlotsAhead < marked_.size()) {
                const Queue& later = queues_[marked_[i + kSlotsAhead]];
                __builtin_prefetch(&arcs_[later.first[most_urgent(later)]]);
            }
            Queue& queue = queues_[marked_[i]];
            queue.marked = false;
            const unsigned rank = most_urgent(queue);
            const std::uint32_t a =
                look_ > 1 ? take_for_starved_link(queue.first[rank]) : take(queue.first[rank]);
            if (queue.first[rank] == kNoArc) queue.filled &= ~(std::uint64_t{1} << rank);
            start(a, queue, now);
        }
        marked_.clear();
    }

    /// Removes the arc at `place` from its list.
    std::uint32_t take(std::uint32_t& place) {
        const std::uint32_t a = place;
        place = arcs_[a].next;
        return a;
    }

    /// Takes, among the first few, the arc whose next link has the most load that is not yet in flight to it.
    std::uint32_t take_for_starved_link(std::uint32_t& first) {
        std::uint32_t* best = &first;
        std::int64_t most = -1;
        std::uint32_t* place = &first;
        for (unsigned i = 0; i < look_ && *place != kNoArc; ++i) {
            std::int64_t hunger = 0;
            for_children(*place,
                         [&](std::uint32_t child) { hunger = std::max(hunger, to_come_[arcs_[child].hop]); });
            if (hunger > most) {
                most = hunger;
                best = place;
            }
            place = &arcs_[*place].next;
        }
        const std::uint32_t a = take(*best);
        for_children(a, [&](std::uint32_t child) {
            to_come_[arcs_[child].hop] -= times_.busy(HopId(arcs_[child].hop), arcs_[child].kind);
        });
        return a;
    }

    template <class Visit>
    void for_children(std::uint32_t arc, const Visit& visit) {
        if (first_child_.empty()) {
            if (!arcs_[arc].last) visit(arc + 1);
            return;
        }
        for (std::uint32_t child = first_child_[arc]; child != kNoArc; child = sibling_[child]) visit(child);
    }

    /// Precondition: something waits.
    static unsigned most_urgent(const Queue& queue) {
        expects(queue.filled != 0);
        return 63U - static_cast<unsigned>(std::countl_zero(queue.filled));
    }

    void start(std::uint32_t a, Queue& queue, std::int64_t now) {
        const Arc& arc = arcs_[a];
        const std::int64_t free = now + times_.busy(HopId(arc.hop), arc.kind);
        const std::int64_t arrival = now + times_.transit(HopId(arc.hop), arc.kind);
        solution_.transfers.push_back({HopId(arc.hop), ChunkId(arc.chunk), times_.ticks(now)});
        if (!starts_.empty()) starts_[a] = times_.ticks(now);
        makespan_ = std::max(makespan_, arrival);
        queue.free = free;
        if (free == arrival) {
            push(free, a, kFrees | kArrives);
        } else {
            push(free, a, kFrees);
            if (!arc.last) push(arrival, a, kArrives);
        }
    }

    const SpreadProblem& problem_;
    const TreePlan& plan_;
    const Stop& stop_;
    const unsigned look_;
    const HopTimes times_;
    std::vector<Arc> arcs_;
    std::vector<std::uint32_t> first_child_, sibling_;  ///< empty for paths
    std::vector<Queue> queues_;
    std::vector<std::int64_t> to_come_;  ///< by hop: load not yet in flight to it; empty if not used
    std::vector<std::uint32_t> marked_;
    EventQueue<Event> events_;
    std::vector<Event> batch_;
    std::int64_t makespan_ = 0;
    std::uint64_t steps_ = 0;
    std::span<Ticks> starts_;  ///< by arc, if wanted
    SpreadSolution solution_;
};

ListStream::ListStream(const SpreadProblem& problem, const TreePlan& plan, const ListOptions& options,
                       const Stop& stop)
    : scheduler_(std::make_unique<ListScheduler>(problem, plan, options, stop)) {
    expects(problem.graph.is_simple() && problem.calendar.horizon() == Ticks(0));
}
ListStream::~ListStream() = default;
std::span<const Transfer> ListStream::next() { return scheduler_->next(); }
bool ListStream::is_complete() const { return scheduler_->is_complete(); }
Ticks ListStream::makespan() const { return scheduler_->makespan(); }

std::optional<SpreadSolution> list_schedule(const SpreadProblem& problem, const TreePlan& plan,
                                            const ListOptions& options, const Stop& stop) {
    if (plan.hops.empty()) return SpreadSolution{};
    if (!problem.graph.is_simple() || problem.calendar.horizon() > Ticks(0)) {
        return schedule_by_ports(problem, plan, options, stop);
    }
    return ListScheduler(problem, plan, options, stop).run();
}

std::optional<std::vector<Ticks>> list_starts(const SpreadProblem& problem, const TreePlan& plan,
                                              const ListOptions& options, const Stop& stop) {
    if (!problem.graph.is_simple() || problem.calendar.horizon() > Ticks(0)) return std::nullopt;
    std::vector<Ticks> starts;
    ListScheduler scheduler(problem, plan, options, stop);
    scheduler.record(starts);
    if (!scheduler.run()) return std::nullopt;
    return starts;
}

SpreadSolution solution_of(const SpreadProblem& problem, const TreePlan& plan,
                           std::span<const Ticks> starts) {
    SpreadSolution solution;
    solution.transfers.reserve(plan.hops.size());
    for (std::size_t i = 0; i + 1 < plan.begin.size(); ++i) {
        const ChunkId chunk = problem.spreads[i].chunk;
        for (std::uint32_t a = plan.begin[i]; a < plan.begin[i + 1]; ++a) {
            solution.transfers.push_back({plan.hops[a], chunk, starts[a]});
            const Ticks arrival = starts[a] + problem.graph.transit(plan.hops[a], chunk);
            solution.makespan = std::max(solution.makespan, arrival);
        }
    }
    return solution;
}

std::vector<Ticks> link_loads(const SpreadProblem& problem, const TreePlan& plan) {
    const HopGraph& graph = problem.graph;
    std::vector<Ticks> loads(graph.instance().topology().links().size());
    std::vector<LegTime> legs;
    for (std::size_t i = 0; i + 1 < plan.begin.size(); ++i) {
        for (std::uint32_t a = plan.begin[i]; a < plan.begin[i + 1]; ++a) {
            graph.leg_times(plan.hops[a], problem.spreads[i].chunk, legs);
            for (const LegTime& leg : legs) loads[leg.link.index()] += leg.busy;
        }
    }
    return loads;
}

}  // namespace tutti::heuristics
