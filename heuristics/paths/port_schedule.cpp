// List scheduling where a transfer needs several links at once: rigid hops through bufferless switches.
//
// A **port** is a link on which hops begin. A free port checks its hops with waiting transfers, and starts
// the most urgent transfer whose other links are free at their times too; equals are served round robin. The
// lists of hops begin at different places for different NPUs (hop_graph), so round robin in that order makes
// all ports of a crossbar serve different destinations at once, a Latin square; random greedy choices reach
// only about three quarters of that. A port that finds nothing tries again when the first of its hops could
// start. It knows the highest rank among its waiting transfers, and stops looking once it can start one of
// that rank: where all are equal, that is the first.
//
// Without earlier bookings each link is filled in order of time, and a test is a comparison with the end of
// its last booking. With earlier bookings, and for trees, whose copies must not meet in a switch, the
// calendar decides.

#include "heuristics/paths/port_schedule.hpp"

#include "heuristics/event_queue.hpp"
#include "heuristics/paths/hop_times.hpp"
#include "heuristics/paths/urgency.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace tutti::heuristics {
namespace {

constexpr std::uint32_t kNoPort = UINT32_MAX;

class PortScheduler {
  public:
    PortScheduler(const SpreadProblem& problem, const TreePlan& plan, const ListOptions& options,
                  const Stop& stop)
        : problem_(problem),
          graph_(problem.graph),
          plan_(plan),
          stop_(stop),
          booked_(problem.calendar.horizon() > Ticks(0)),
          asks_calendar_(booked_ || !plan.parents.empty()),
          calendar_(problem.calendar),
          link_free_(graph_.instance().topology().links().size()),
          ranks_(urgency_ranks(problem, HopTimes(problem), plan, options)),
          spread_of_(plan.hops.size()),
          first_child_(plan.hops.size(), kNoPort),
          sibling_(plan.hops.size(), kNoPort),
          queues_(graph_.hops()) {
        set_up_ports();
        set_up_arcs();
        set_up_starts(options.seed);
    }

    std::optional<SpreadSolution> run() {
        for (std::uint64_t round = 0; !events_.empty(); ++round) {
            if ((round & 63U) == 0 && stop_.requested()) return std::nullopt;
            events_.pop(batch_);
            const Ticks now(batch_.front().time);
            for (const Event& event : batch_) {
                if (event.is_port) {
                    mark(event.id, now);
                } else {
                    wait(event.id, now);
                }
            }
            std::ranges::sort(marked_, {}, [&](std::uint32_t port) { return ports_[port].turn; });
            for (const std::uint32_t port : marked_) serve(port, now);
            marked_.clear();
        }
        return std::move(solution_);
    }

  private:
    struct Event {
        std::int64_t time;
        std::uint32_t id;  ///< a port to try, or an arc that may start
        bool is_port;
    };
    struct Waiting {
        std::uint8_t rank;
        std::uint32_t lot;
        std::uint32_t arc;
        bool operator<(const Waiting& other) const {
            return rank != other.rank ? rank < other.rank : lot < other.lot;
        }
    };
    struct Port {
        std::vector<std::uint32_t> hops;
        std::size_t waiting = 0;
        std::array<std::uint32_t, 256> waiting_of{};  ///< by rank
        std::uint8_t highest = 0;                     ///< none of these has a higher rank
        std::size_t next = 0;                         ///< the hop whose turn it is
        std::uint64_t turn = 0;
        Ticks tried{-1};
        Ticks due = Ticks::max();  ///< of the next try, where one is due
    };

    void set_up_ports() {
        port_of_.resize(graph_.hops());
        std::vector<std::uint32_t> port_of_link(link_free_.size(), kNoPort);
        for (std::size_t n = 0; n < graph_.nodes(); ++n) {
            for (const auto& [to, hop] : graph_.out(NodeId(n))) {
                std::uint32_t& port = port_of_link[graph_.legs(hop).front().index()];
                if (port == kNoPort) {
                    port = static_cast<std::uint32_t>(ports_.size());
                    ports_.emplace_back();
                }
                ports_[port].hops.push_back(hop.value());
                port_of_[hop.index()] = port;
            }
        }
    }

    void set_up_arcs() {
        for (std::size_t i = 0; i + 1 < plan_.begin.size(); ++i) {
            for (std::uint32_t a = plan_.begin[i + 1]; a-- > plan_.begin[i];) {
                spread_of_[a] = static_cast<std::uint32_t>(i);
                const std::uint32_t parent = parent_of(plan_, plan_.begin[i], a);
                if (parent == TreePlan::kRoot) continue;
                sibling_[a] = first_child_[parent];
                first_child_[parent] = a;
            }
        }
    }

    void set_up_starts(std::uint64_t seed) {
        Rng rng(seed);
        for (auto& port : ports_) port.turn = rng.next() >> 32U;
        std::vector<std::uint32_t> lots(plan_.hops.size());
        std::iota(lots.begin(), lots.end(), 0U);
        rng.shuffle(lots);
        lots_ = std::move(lots);
        for (std::size_t i = 0; i + 1 < plan_.begin.size(); ++i) {
            for (std::uint32_t a = plan_.begin[i]; a < plan_.begin[i + 1]; ++a) {
                if (parent_of(plan_, plan_.begin[i], a) != TreePlan::kRoot) continue;
                events_.push({problem_.spreads[i].ready.count(), a, false});
            }
        }
    }

    void wait(std::uint32_t arc, Ticks now) {
        const std::size_t hop = plan_.hops[arc].index();
        auto& queue = queues_[hop];
        queue.push_back({ranks_[arc], lots_[arc], arc});
        std::push_heap(queue.begin(), queue.end());
        Port& port = ports_[port_of_[hop]];
        ++port.waiting;
        ++port.waiting_of[ranks_[arc]];
        port.highest = std::max(port.highest, ranks_[arc]);
        mark(port_of_[hop], now);
    }

    void mark(std::uint32_t id, Ticks now) {
        Port& port = ports_[id];
        if (port.due <= now) port.due = Ticks::max();
        if (port.waiting == 0 || port.tried == now) return;
        port.tried = now;
        marked_.push_back(id);
    }

    /// A lower bound of the first start >= now at which the hop's links are free.
    Ticks possible_start(HopId hop, ChunkId chunk, Ticks now) {
        if (booked_) return calendar_.earliest(graph_, hop, chunk, now);
        graph_.leg_times(hop, chunk, legs_);
        Ticks start = now;
        for (const LegTime& leg : legs_) {
            start = std::max(start, link_free_[leg.link.index()] - leg.offset);
        }
        if (start == now && asks_calendar_) start = calendar_.earliest(graph_, hop, chunk, now);
        return start;
    }

    void serve(std::uint32_t id, Ticks now) {
        Port& port = ports_[id];
        Ticks retry = Ticks::max();
        std::size_t best = port.hops.size();
        const std::size_t count = port.hops.size();
        std::size_t seen = 0;
        while (port.highest > 0 && port.waiting_of[port.highest] == 0) --port.highest;
        for (std::size_t k = 0; k < count && seen < port.waiting; ++k) {
            const std::size_t h = port.next + k < count ? port.next + k : port.next + k - count;
            const auto& queue = queues_[port.hops[h]];
            seen += queue.size();
            if (queue.empty()) continue;
            const bool better = best == count || queue.front().rank > queues_[port.hops[best]].front().rank;
            if (!better) continue;
            const ChunkId chunk = problem_.spreads[spread_of_[queue.front().arc]].chunk;
            const Ticks start = possible_start(HopId(port.hops[h]), chunk, now);
            if (start == now) {
                best = h;
                if (queue.front().rank == port.highest) break;
            } else {
                retry = std::min(retry, start);
            }
        }
        if (best < count) retry = start(port, best, now);
        if (port.waiting > 0 && retry < port.due) {
            port.due = retry;
            events_.push({retry.count(), id, true});
        }
    }

    /// Starts the hop's most urgent transfer. Returns when the port is free again.
    Ticks start(Port& port, std::size_t h, Ticks now) {
        const HopId hop(port.hops[h]);
        auto& queue = queues_[hop.index()];
        const std::uint32_t arc = queue.front().arc;
        std::pop_heap(queue.begin(), queue.end());
        queue.pop_back();
        --port.waiting;
        --port.waiting_of[ranks_[arc]];
        port.next = h + 1 < port.hops.size() ? h + 1 : 0;

        const ChunkId chunk = problem_.spreads[spread_of_[arc]].chunk;
        if (asks_calendar_) calendar_.book(graph_, hop, chunk, now);
        graph_.leg_times(hop, chunk, legs_);
        for (const LegTime& leg : legs_) {
            Ticks& free = link_free_[leg.link.index()];
            free = std::max(free, now + leg.offset + leg.busy);
        }
        const Ticks arrival = now + graph_.transit(hop, chunk);
        for (std::uint32_t child = first_child_[arc]; child != kNoPort; child = sibling_[child]) {
            events_.push({arrival.count(), child, false});
        }
        solution_.transfers.push_back({hop, chunk, now});
        solution_.makespan = std::max(solution_.makespan, arrival);
        return now + legs_.front().busy;
    }

    const SpreadProblem& problem_;
    const HopGraph& graph_;
    const TreePlan& plan_;
    const Stop& stop_;
    const bool booked_;
    const bool asks_calendar_;
    LinkCalendar calendar_;
    std::vector<Ticks> link_free_;  ///< after all that was started here
    std::vector<std::uint8_t> ranks_;
    std::vector<std::uint32_t> spread_of_, first_child_, sibling_, lots_;
    std::vector<std::vector<Waiting>> queues_;  ///< heaps, by hop
    std::vector<Port> ports_;
    std::vector<std::uint32_t> port_of_;  ///< by hop
    std::vector<std::uint32_t> marked_;
    EventQueue<Event> events_;
    std::vector<Event> batch_;
    std::vector<LegTime> legs_;
    SpreadSolution solution_;
};

}  // namespace

std::optional<SpreadSolution> schedule_by_ports(const SpreadProblem& problem, const TreePlan& plan,
                                                const ListOptions& options, const Stop& stop) {
    return PortScheduler(problem, plan, options, stop).run();
}

}  // namespace tutti::heuristics
