// A discrete-event simulation of a program of transfers.
//
// The time model is that of schedules: data that a link takes at t has arrived at t + alpha + beta, and the
// link is busy for beta (or alpha + beta). A node inside a route stores and forwards, unless it is a
// cut-through switch: then the outgoing link must start exactly alpha after the incoming one, the slowest of
// the links joined in this way determines their common beta, and all are busy for that long
// (src/verify/README.md, "Switches"). A route is a sequence of *segments*, each from one storing node to the
// next; a segment needs all its links at once.
//
// Links are first come, first served. So no queue is needed: when a segment is requested, its start is known
// at once (BusyIntervals), and later requests cannot change it, though they may use a gap before it. Gaps
// arise only where a cut-through switch makes a transfer wait for its second link while its first is free.
// Events are dispatched in order of time. At one tick starts, arrivals and the tasks that they make ready
// come before any request; requests are served in order of task number; tasks that a request makes ready at
// the same tick come before the next request. So ties are broken by gpu and thread block, never by the order
// in which a heap holds equal times.
//
// Every event decrements the waiting counts of its successors; a task whose count reaches zero is ready.
// Tasks that remain when no event is left wait for each other: the program is deadlocked.

#include "timing/simulator.hpp"

#include "core/busy_intervals.hpp"
#include "core/expects.hpp"

#include <algorithm>
#include <deque>
#include <queue>
#include <ranges>
#include <unordered_map>

namespace tutti::timing {
namespace {

enum class Kind : std::uint8_t { Start, Arrive, Request };
struct Event {
    Ticks time;
    Kind kind;
    TaskId task;
    std::uint32_t hop;  ///< of a request: the position in route_links
    /// The heap's top is the largest, so "less" means later.
    friend bool operator<(const Event& a, const Event& b) {
        if (a.time != b.time) return a.time > b.time;
        const bool a_requests = a.kind == Kind::Request, b_requests = b.kind == Kind::Request;
        if (a_requests != b_requests) return a_requests;
        if (a.task != b.task) return a.task > b.task;
        return a.kind > b.kind;
    }
};

struct Counter {
    std::int64_t value = 0;
    std::deque<TaskId> queue;  ///< who waits for it
};

class Simulation {
  public:
    Simulation(const Topology& topology, const TimedProgram& program, bool keep_uses, const Stop& stop)
        : topology_(topology), program_(program), keep_uses_(keep_uses), stop_(stop) {
        index_links();
        index_edges();
        for (const std::int64_t value : program.counters) counters_.push_back({value, {}});
        timeline_.ends.assign(program.part_begin.size(), Ticks(0));
    }

    Timeline run() {
        for (TaskId task = 0; task < program_.tasks.size(); ++task) {
            if (waiting_[task] == 0) ready_.push_back(task);
        }
        // The stack reverses the order, which does not matter: tasks ready at tick 0 are independent.
        run_ready();
        for (std::uint64_t count = 0; !events_.empty(); ++count) {
            if (count % 4096 == 0 && stop_.requested()) throw LimitError("stopped before the plan was timed");
            const Event event = events_.top();
            events_.pop();
            now_ = event.time;
            dispatch(event);
            run_ready();
        }
        if (done_ < program_.tasks.size()) {
            const auto left = std::ranges::find_if(waiting_, [](std::uint32_t n) { return n > 0; });
            timeline_.stuck = static_cast<TaskId>(left - waiting_.begin());
        }
        for (LinkLoad& load : loads_) {
            if (load.transfers > 0) timeline_.links.push_back(load);
        }
        return std::move(timeline_);
    }

  private:
    /// Numbers the links that occur on some route, in order of their ids.
    void index_links() {
        std::vector<LinkId> used = program_.route_links;
        std::ranges::sort(used);
        const auto repeated = std::ranges::unique(used);
        used.erase(repeated.begin(), repeated.end());
        std::unordered_map<LinkId, std::uint32_t> number;
        number.reserve(used.size());
        for (const LinkId link : used) {
            number.emplace(link, static_cast<std::uint32_t>(loads_.size()));
            loads_.push_back({link, Ticks(0)});
        }
        for (const LinkId link : program_.route_links) hops_.push_back(number.at(link));
        busy_.resize(used.size());
        for (const Bytes bytes : program_.sizes) {
            std::vector<Ticks>& betas = betas_.emplace_back();
            for (const LinkId link : used) betas.push_back(topology_.beta(link, bytes));
        }
    }

    void index_edges() {
        const std::size_t tasks = program_.tasks.size();
        waiting_.assign(tasks, 0);
        edge_begin_.assign(tasks + 1, 0);
        for (const TimedEdge& edge : program_.edges) {
            ++edge_begin_[edge.from + 1];
            ++waiting_[edge.to];
        }
        for (std::size_t i = 0; i < tasks; ++i) {
            edge_begin_[i + 1] += edge_begin_[i];
            if (program_.tasks[i].follows) ++waiting_[i];
            if (program_.tasks[i].kind == TaskKind::First) waiting_[i] = 1;
        }
        edge_to_.resize(program_.edges.size());
        edge_moment_.resize(program_.edges.size());
        std::vector<std::uint32_t> at(edge_begin_.begin(), edge_begin_.end() - 1);
        for (const TimedEdge& edge : program_.edges) {
            edge_to_[at[edge.from]] = edge.to;
            edge_moment_[at[edge.from]++] = edge.moment;
        }
    }

    void dispatch(const Event& event) {
        switch (event.kind) {
            case Kind::Start:
                notify(event.task, Moment::Start);
                break;
            case Kind::Arrive:
                arrive(event.task);
                break;
            case Kind::Request:
                serve(event.task, event.hop);
                break;
        }
    }

    void notify(TaskId task, Moment moment) {
        for (std::uint32_t i = edge_begin_[task]; i < edge_begin_[task + 1]; ++i) {
            if (edge_moment_[i] == moment) decrement(edge_to_[i]);
        }
        const TaskId next = task + 1;
        if (moment == Moment::Start && next < program_.tasks.size() && program_.tasks[next].follows)
            decrement(next);
    }

    void decrement(TaskId task) {
        // A First has a count of 1, so only its first edge has an effect.
        if (waiting_[task] > 0 && --waiting_[task] == 0) ready_.push_back(task);
    }

    /// Executes ready tasks, and those that they make ready at this tick, until none is left.
    void run_ready() {
        while (!ready_.empty()) {
            const TaskId task = ready_.back();
            ready_.pop_back();
            if (program_.tasks[task].kind != TaskKind::Take || try_take(task)) execute(task);
        }
    }

    void execute(TaskId task) {
        const TimedTask& timed = program_.tasks[task];
        notify(task, Moment::Ready);
        if (timed.kind == TaskKind::Transfer) {
            ++timeline_.transfers;
            events_.push({now_, Kind::Request, task, program_.route_begin[timed.route]});
            return;
        }
        notify(task, Moment::Start);
        if (timed.kind == TaskKind::Signal) {
            Ticks arrival = now_;
            for (const LinkId link : program_.route(timed.route)) arrival += topology_.link(link).wire.alpha;
            events_.push({arrival, Kind::Arrive, task, 0});
            return;
        }
        if (timed.kind == TaskKind::Raise) increment(timed.number);
        arrive(task);
    }

    /// Decrements the counter if it is positive; otherwise the task waits in its queue.
    bool try_take(TaskId task) {
        Counter& counter = counters_[program_.tasks[task].number];
        if (counter.value > 0) {
            --counter.value;
            return true;
        }
        counter.queue.push_back(task);
        waiting_[task] = 1;
        return false;
    }

    void increment(CounterId number) {
        Counter& counter = counters_[number];
        if (counter.queue.empty()) {
            ++counter.value;
            return;
        }
        const TaskId task = counter.queue.front();
        counter.queue.pop_front();
        waiting_[task] = 0;
        execute(task);
    }

    void arrive(TaskId task) {
        notify(task, Moment::Arrive);
        ++done_;
        timeline_.makespan = std::max(timeline_.makespan, now_);
        if (timeline_.ends.empty()) return;
        const auto& begins = program_.part_begin;
        const auto part = std::ranges::upper_bound(begins, task) - begins.begin() - 1;
        Ticks& end = timeline_.ends[static_cast<std::size_t>(part)];
        end = std::max(end, now_);
    }

    /// Books the links of the segment that begins at `hop`.
    void serve(TaskId task, std::uint32_t hop) {
        const TimedTask& timed = program_.tasks[task];
        const std::uint32_t route_end = program_.route_begin[timed.route + 1];
        const std::vector<Ticks>& betas = betas_[timed.number];
        std::uint32_t end = hop;
        Ticks pace(0);
        do pace = std::max(pace, betas[hops_[end]]);
        while (topology_.is_cut_through(topology_.link(program_.route_links[end++]).dst) && end < route_end);

        const Ticks start = earliest(hop, end, pace);
        Ticks at = start;
        for (std::uint32_t i = hop; i < end; ++i) {
            take(task, i, at, pace);
            at += alpha(i);
        }
        if (hop == program_.route_begin[timed.route]) begin(task, start);
        const Kind next = end == route_end ? Kind::Arrive : Kind::Request;
        events_.push({at + pace, next, task, end});
    }

    /// The earliest start at which the links [hop, end) are free, each alpha after its predecessor.
    Ticks earliest(std::uint32_t hop, std::uint32_t end, Ticks pace) {
        Ticks start = now_;
        for (bool moved = true; moved;) {
            moved = false;
            Ticks at = start;
            for (std::uint32_t i = hop; i < end; ++i) {
                BusyIntervals<Ticks>& link = busy_[hops_[i]];
                link.forget_before(now_);
                const Ticks free = link.earliest(at, busy(i, pace));
                moved = moved || free > at;
                start += free - at;
                at = free + alpha(i);
            }
            if (end == hop + 1) break;
        }
        return start;
    }

    void take(TaskId task, std::uint32_t hop, Ticks at, Ticks pace) {
        const Ticks length = busy(hop, pace);
        busy_[hops_[hop]].book(at, at + length);
        LinkLoad& load = loads_[hops_[hop]];
        load.busy += length;
        ++load.transfers;
        if (__builtin_add_overflow(load.bytes, program_.sizes[program_.tasks[task].number].count,
                                   &load.bytes))
            throw InputError("the bytes that a link carries overflow 64 bits; ask about fewer bytes");
        if (keep_uses_) timeline_.uses.push_back({task, load.link, at});
    }

    void begin(TaskId task, Ticks start) {
        if (start == now_) {
            notify(task, Moment::Start);
        } else {
            events_.push({start, Kind::Start, task, 0});
        }
    }

    [[nodiscard]] Ticks alpha(std::uint32_t hop) const {
        return topology_.link(program_.route_links[hop]).wire.alpha;
    }
    [[nodiscard]] Ticks busy(std::uint32_t hop, Ticks pace) const {
        return topology_.busy() == Busy::Beta ? pace : alpha(hop) + pace;
    }

    const Topology& topology_;
    const TimedProgram& program_;
    const bool keep_uses_;
    const Stop& stop_;

    std::vector<std::uint32_t> hops_;  ///< for each entry of route_links the number of the link in loads_
    std::vector<LinkLoad> loads_;
    std::vector<BusyIntervals<Ticks>> busy_;
    std::vector<std::vector<Ticks>> betas_;  ///< per size, per used link

    std::vector<std::uint32_t> edge_begin_, edge_to_, waiting_;
    std::vector<Moment> edge_moment_;
    std::vector<TaskId> ready_;
    std::vector<Counter> counters_;
    std::priority_queue<Event> events_;
    std::uint64_t done_ = 0;
    Ticks now_;
    Timeline timeline_;
};

/// Whether consecutive links are adjacent and none occurs twice.
[[maybe_unused]] bool is_path(const Topology& topology, std::span<const LinkId> links) {
    for (std::size_t i = 0; i < links.size(); ++i) {
        if (i > 0 && topology.link(links[i - 1]).dst != topology.link(links[i]).src) return false;
        if (std::ranges::find(links.first(i), links[i]) != links.first(i).end()) return false;
    }
    return true;
}

}  // namespace

Timeline simulate(const Topology& topology, const TimedProgram& program, bool keep_uses, const Stop& stop) {
    expects(std::ranges::all_of(std::views::iota(std::size_t{0}, program.routes()), [&](std::size_t route) {
        return is_path(topology, program.route(static_cast<RouteId>(route)));
    }));
    return Simulation(topology, program, keep_uses, stop).run();
}

}  // namespace tutti::timing
