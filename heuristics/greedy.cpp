// From demands to a schedule, in two phases.
//
// 1. Reductions gather. On the network turned round, with time running backwards, a reduction at a root is a
//    chunk that spreads from the root to all contributors; played backwards the tree gathers, and each
//    contribution is added exactly once. All reductions are spread at once; the mirrored transfers then end
//    at tick T1 (plus the latest release, before which nothing may start).
// 2. Everything else spreads forwards, at once, in the gaps that phase 1 left and after it: plain chunks from
//    their holders, and the sums of reductions with several receivers from their root, once they are complete
//    there. An all-reduce is so a reduce-scatter and an all-gather that overlap where the links allow it.
//
// Each phase takes the best of the portfolio. All-reduces on networks of NPUs alone are also tried as one
// flow (overlapped_sums). At the end all transfers are moved as early as possible. Where one-way links leave
// a reduction without a common root, it is summed up at several (separate_sums), between the phases.

#include "heuristics/greedy.hpp"

#include "heuristics/compaction.hpp"
#include "heuristics/portfolio.hpp"
#include "heuristics/rootless_reduction.hpp"
#include "heuristics/roots.hpp"
#include "heuristics/trees/pipelined_all_reduce.hpp"

#include <algorithm>
#include <unordered_map>

namespace tutti::heuristics {
namespace {

/// Sends of an all-reduce up to which it is also tried as one flow.
constexpr std::size_t kSendsToOverlap = 300'000;
constexpr std::size_t kSendsToOverlapAnytime = 4'000'000;

class Greedy {
  public:
    /// `at_switches`: sums that several want are made at switches, where there are such that can.
    Greedy(const Instance& instance, const GreedyRequest& request, bool at_switches, Rng& rng)
        : instance_(instance),
          request_(request),
          phases_(request.effort),
          rng_(rng),
          at_switches_(at_switches),
          graph_(instance),
          gather_graph_(instance, HopGraph::Use::Gather),
          calendar_(links()) {}

    std::optional<Schedule> run() {
        sort_demands();
        // Where one flow is possible it is the better use of time.
        const bool may_overlap = can_overlap();
        if (may_overlap) phases_ = Effort::Quick;
        if (!gather()) return std::nullopt;
        reduce_without_root();
        if (!spread()) return std::nullopt;
        // Separate sums depend on what is overwritten when, which moving transfers would change.
        // What meets the target cannot become shorter.
        if (!has_separate_sums_ && makespan_of(moves_) > request_.target) moves_ = compacted(moves_);
        while (may_overlap && makespan_of(moves_) > request_.target && !request_.stop.requested()) {
            overlap();
            if (request_.effort == Effort::Quick) break;
        }
        return schedule(moves_);
    }

  private:
    /// A reduction: gathered at the root, or at several, then spread to the other receivers.
    struct Reduction {
        ChunkId chunk;
        std::vector<NodeId> roots;
        [[nodiscard]] bool is_separate() const { return roots.size() > 1; }
    };

    [[nodiscard]] std::size_t links() const { return instance_.topology().links().size(); }

    void sort_demands() {
        std::vector<std::size_t> shares(instance_.collectives().size(), 0);
        Roots roots(graph_);
        for (std::size_t c = 0; c < instance_.chunks(); ++c) {
            const ChunkId chunk(c);
            const Demand demand = instance_.demand(chunk);
            if (demand.reduction && demand.holders.size() > 1) {
                // Roots take turns, so that no receiver sums up more than its share.
                const std::size_t turn = shares[demand.collective.index()]++;
                const bool shared = at_switches_ && demand.receivers.size() > 1;
                auto root = shared ? roots.at_switch(chunk, turn) : std::nullopt;
                if (!root) root = roots.common(chunk, turn);
                reductions_.push_back({chunk, root ? std::vector{*root} : roots.separate(chunk)});
            } else {
                plain_.push_back({chunk, demand.holders, instance_.release(chunk), demand.receivers});
            }
        }
    }

    /// What the second phase leaves to the first.
    [[nodiscard]] Stop half_the_time() const {
        const auto left = request_.stop.remaining();
        return left ? request_.stop.within(*left / 2) : request_.stop;
    }

    /// Phase 1.
    bool gather() {
        if (reductions_.empty()) return true;
        const HopGraph backwards = gather_graph_.reversed();
        SpreadProblem problem{backwards, {}, LinkCalendar(links()), Ticks(0)};
        Ticks release;
        bool only_gathers = plain_.empty();
        for (const Reduction& reduction : reductions_) {
            if (reduction.is_separate()) continue;
            const ChunkId chunk = reduction.chunk;
            const Demand demand = instance_.demand(chunk);
            problem.spreads.push_back({chunk, reduction.roots, Ticks(0), demand.holders});
            release = std::max(release, instance_.release(chunk));
            only_gathers = only_gathers && demand.receivers.size() == 1;
        }
        if (only_gathers) problem.target = request_.target - std::min(request_.target, release);
        const auto solution = best_spread(problem, phases_, rng_, request_.threads,
                                          only_gathers ? request_.stop : half_the_time());
        if (!solution) return false;
        for (const auto& [hop, chunk, start] : solution->transfers) {
            const Ticks mirrored = solution->makespan - start - gather_graph_.transit(hop, chunk);
            moves_.push_back({&gather_graph_, {hop, chunk, mirrored + release}, Op::Reduce});
        }
        // Mirrored, rigid hops may meet at a switch that they passed at different ticks backwards.
        moves_ = gather_graph_.is_simple() ? compacted(moves_) : retimed(moves_);
        for (const Move& move : moves_) {
            const auto& [hop, chunk, start] = move.transfer;
            calendar_.book(*move.graph, hop, chunk, start);
            complete_[chunk] = std::max(complete_[chunk], move.arrival());
        }
        return true;
    }

    /// Between the phases.
    void reduce_without_root() {
        for (const auto& [chunk, roots] : reductions_) {
            if (roots.size() == 1) continue;
            has_separate_sums_ = true;
            const auto complete = heuristics::reduce_without_root(graph_, chunk, roots, calendar_, moves_);
            if (!complete) {
                throw LimitError(
                    "greedy knows no schedule: a reduction has no root that all its holders can reach and "
                    "that "
                    "can reach all its receivers");
            }
            complete_[chunk] = *complete;
        }
    }

    /// Phase 2.
    bool spread() {
        SpreadProblem problem{graph_, std::move(plain_), std::move(calendar_), request_.target};
        for (const auto& [chunk, roots] : reductions_) {
            problem.spreads.push_back({chunk, roots, complete_[chunk], instance_.demand(chunk).receivers});
        }
        const auto solution = best_spread(problem, phases_, rng_, request_.threads, request_.stop);
        if (!solution) return false;
        moves_.reserve(moves_.size() + solution->transfers.size());
        for (const Transfer& transfer : solution->transfers) moves_.push_back({&graph_, transfer, Op::Copy});
        return true;
    }

    /// Whether all there is are sums that several want, on links between NPUs, and not too many of them.
    [[nodiscard]] bool can_overlap() const {
        if (!plain_.empty() || !graph_.is_direct()) return false;
        std::size_t sends = 0;
        for (const Reduction& reduction : reductions_) {
            const Demand demand = instance_.demand(reduction.chunk);
            if (reduction.is_separate() || demand.receivers.size() == 1) return false;
            sends += demand.holders.size() + demand.receivers.size();
        }
        return sends <= (request_.effort == Effort::Quick ? kSendsToOverlap : kSendsToOverlapAnytime);
    }

    /// One flow instead of two phases, if that is shorter.
    void overlap() {
        const HopGraph backwards = graph_.reversed();
        SpreadProblem gather{backwards, {}, LinkCalendar(links()), Ticks(0)};
        SpreadProblem spread{graph_, {}, LinkCalendar(links()), request_.target};
        for (const auto& [chunk, roots] : reductions_) {
            const Demand demand = instance_.demand(chunk);
            gather.spreads.push_back({chunk, roots, instance_.release(chunk), demand.holders});
            spread.spreads.push_back({chunk, roots, instance_.release(chunk), demand.receivers});
        }
        const auto sums = pipeline_all_reduce(gather, spread, rng_, request_.stop);
        if (!sums || sums->makespan >= makespan_of(moves_)) return;
        moves_.clear();
        for (const Transfer& transfer : sums->gather) moves_.push_back({&graph_, transfer, Op::Reduce});
        for (const Transfer& transfer : sums->spread) moves_.push_back({&graph_, transfer, Op::Copy});
    }

    [[nodiscard]] Schedule schedule(const std::vector<Move>& moves) const {
        Schedule schedule{instance_.name(), makespan_of(moves), {}};
        const Topology& topology = instance_.topology();
        schedule.sends.reserve(moves.size());
        std::vector<LegTime> legs;
        for (const auto& [graph, transfer, op] : moves) {
            const auto link = graph->only_link(transfer.hop);
            if (link && topology.is_npu(topology.link(*link).dst)) {
                schedule.sends.push_back({transfer.chunk, *link, transfer.start, op});
                continue;
            }
            graph->leg_times(transfer.hop, transfer.chunk, legs);
            for (const LegTime& leg : legs) {
                // A switch that does not reduce passes a contribution on as it is.
                const NodeId to = topology.link(leg.link).dst;
                const bool passes =
                    topology.is_switch(to) && (&leg != &legs.back() || !topology.rule(to).reduce);
                schedule.sends.push_back(
                    {transfer.chunk, leg.link, transfer.start + leg.offset, passes ? Op::Copy : op});
            }
        }
        put_in_order(schedule, topology.links().size());
        return schedule;
    }

    const Instance& instance_;
    const GreedyRequest& request_;
    Effort phases_;
    Rng& rng_;
    const bool at_switches_;
    HopGraph graph_;
    HopGraph gather_graph_;
    LinkCalendar calendar_;
    std::vector<Spread> plain_;
    std::vector<Reduction> reductions_;
    std::unordered_map<ChunkId, Ticks> complete_;  ///< when a reduction is whole at its roots
    bool has_separate_sums_ = false;
    std::vector<Move> moves_;
};

}  // namespace

std::optional<Schedule> greedy(const Instance& instance, const GreedyRequest& request) {
    Rng rng(request.seed);
    if (!has_root_switch(instance.topology())) return Greedy(instance, request, false, rng).run();
    GreedyRequest first = request;
    if (const auto left = request.stop.remaining()) first.stop = request.stop.within(*left / 2);
    auto best = Greedy(instance, first, false, rng).run();
    if (best && best->makespan <= request.target) return best;
    auto other = Greedy(instance, request, true, rng).run();
    return other && (!best || other->makespan < best->makespan) ? other : best;
}

}  // namespace tutti::heuristics
