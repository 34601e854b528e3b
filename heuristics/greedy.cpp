// Makes a schedule from demands, in two phases.
//
// 1. Reductions gather. On the reversed network, with time running backwards, a reduction at a root is a
// chunk
//    that spreads from the root to all contributors; reversed in time, the tree gathers, and each
//    contribution is added exactly once. All reductions are spread at once; the mirrored transfers then end
//    at tick T1 (plus the latest release, before which nothing may start).
// 2. Everything else spreads forwards, at once, in the gaps that phase 1 left and after it: plain chunks from
//    their holders, and the sums of reductions with several receivers from their root, once they are complete
//    there. So an all-reduce is a reduce-scatter and an all-gather that overlap where the links allow it.
//
// Each phase takes the best result of the portfolio. All-reduces on networks without switches are also tried
// as one flow (pipelined_all_reduce). At the end all transfers are moved as early as possible. Where one-way
// links leave a reduction without a common root, it is summed at several roots (rootless_reduction), between
// the phases.
//
// A switch that can do more must never make a schedule longer, but some heuristics are misled by what they
// may do there. So where switches copy or reduce, the instance is also solved as if they did not.

#include "heuristics/greedy.hpp"

#include "heuristics/compaction.hpp"
#include "heuristics/portfolio.hpp"
#include "heuristics/releases.hpp"
#include "heuristics/rootless_reduction.hpp"
#include "heuristics/roots.hpp"

#include <algorithm>
#include <chrono>
#include <unordered_map>

namespace tutti::heuristics {
namespace {

constexpr std::string_view kPlainSwitches = "plain switches";

std::string joined_part(const std::string& part, std::string_view more) {
    return part.empty() ? std::string(more) : part + ", " + std::string(more);
}

/// Whether a sum for several has contributors with different releases.
bool has_late_sums(const Instance& instance) {
    for (std::size_t c = 0; c < instance.chunks(); ++c) {
        const ChunkId chunk(c);
        if (instance.is_staggered(chunk) && instance.demands().is_reduction(chunk) &&
            instance.demand(chunk).receivers.size() > 1)
            return true;
    }
    return false;
}

/// Where reductions with several receivers have their root, if they can.
enum class RootsAt {
    Receivers,  ///< in turn
    Switches,   ///< one that can reduce
    LastRank    ///< the contributor that is released last: the sum of the others comes to it while it is late
};

class Greedy {
  public:
    Greedy(const Instance& instance, const GreedyRequest& request, RootsAt roots_at, Rng& rng)
        : instance_(instance),
          request_(request),
          phases_(request.effort),
          rng_(rng),
          roots_at_(roots_at),
          graph_(instance),
          gather_graph_(instance, HopGraph::Use::Gather),
          calendar_(links()) {}

    GreedyResult run() {
        sort_demands();
        const bool flow_alone = request_.alone != nullptr && request_.alone->as<FlowHeuristic>() != nullptr;
        // Where one flow is possible, the time is better spent on it.
        const bool may_overlap = flow_alone || (request_.alone == nullptr && can_overlap());
        if (may_overlap) phases_ = Effort::Quick;
        if (!flow_alone && !in_phases()) return std::move(result_);
        while (may_overlap && !request_.stop.requested() && !(has_moves_ && turn().requested())) {
            if (has_moves_ && makespan_of(moves_) <= request_.target) break;
            overlap();
            if (request_.effort == Effort::Quick) break;
        }
        if (has_moves_) result_.schedule = schedule_of(instance_, moves_);
        return std::move(result_);
    }

    /// Why the heuristic cannot do it alone.
    std::string why_not(const Heuristic& heuristic) {
        sort_demands();
        if (heuristic.as<FlowHeuristic>() != nullptr) return why_no_flow();
        const auto* phase = heuristic.as<PhaseHeuristic>();
        const auto* improvement = heuristic.as<Improvement>();
        const auto reason = [&](const SpreadProblem& problem) -> std::string {
            if (problem.spreads.empty()) return {};
            return phase != nullptr ? phase->why_not(problem) : improvement->why_not(problem);
        };
        const HopGraph backwards = gather_graph_.reversed();
        if (std::string why = reason(gather_problem(backwards)); !why.empty()) return why;
        SpreadProblem spread = spread_problem();
        leave_out_settled(spread);
        return reason(spread);
    }

  private:
    /// A reduction: gathered at one or several roots, then spread to the other receivers.
    struct Reduction {
        ChunkId chunk;
        std::vector<NodeId> roots;
        [[nodiscard]] bool is_separate() const { return roots.size() > 1; }
    };

    /// The portfolio's candidates for one phase.
    struct Part {
        std::string name, winner;
        std::vector<Candidate> candidates;
    };

    [[nodiscard]] std::size_t links() const { return instance_.topology().links().size(); }

    void sort_demands() {
        std::vector<std::size_t> shares(instance_.collectives().size(), 0);
        Roots roots(graph_);
        for (std::size_t c = 0; c < instance_.chunks(); ++c) {
            const ChunkId chunk(c);
            const Demand demand = instance_.demand(chunk);
            if (demand.reduction && demand.holders.size() > 1) {
                // Roots rotate, so that no receiver sums up more than its share.
                const std::size_t turn = shares[demand.collective.index()]++;
                auto root = demand.receivers.size() > 1 ? special_root(chunk, turn, roots) : std::nullopt;
                if (!root) root = roots.common(chunk, turn);
                reductions_.push_back({chunk, root ? std::vector{*root} : roots.separate(chunk)});
            } else {
                plain_.push_back({chunk, demand.holders, instance_.last_release(chunk), demand.receivers});
            }
        }
    }

    [[nodiscard]] std::optional<NodeId> special_root(ChunkId chunk, std::size_t turn, Roots& roots) const {
        if (roots_at_ == RootsAt::Switches) return roots.at_switch(chunk, turn);
        if (roots_at_ == RootsAt::Receivers || !instance_.is_staggered(chunk)) return std::nullopt;
        const Demand demand = instance_.demand(chunk);
        const auto last = std::ranges::max_element(
            demand.receivers, {}, [&](NodeId npu) { return release_at(instance_, chunk, npu); });
        const auto turn_of_last = static_cast<std::size_t>(last - demand.receivers.begin());
        return roots.common(chunk, turn_of_last);
    }

    /// The first phase's share of the time.
    [[nodiscard]] Stop part_of_the_turn() const {
        const auto left = turn().remaining();
        return left ? turn().within(*left * request_.options.reduction_share) : turn();
    }
    [[nodiscard]] Stop turn() const { return request_.turn.value_or(request_.stop); }

    /// Reductions first, then everything else. False: stopped, or no solution was found.
    bool in_phases() {
        if (!gather()) return false;
        reduce_without_root();
        if (!spread()) return false;
        has_moves_ = true;
        // With several roots the result depends on which copy is overwritten when, which moving transfers
        // would change. A schedule that meets the target cannot become shorter.
        Ticks makespan = makespan_of(moves_);
        if (!has_rootless_sums_ && makespan > request_.target) {
            moves_ = compacted(moves_);
            makespan = makespan_of(moves_);
        }
        report_whole(makespan);
        return true;
    }

    [[nodiscard]] SpreadProblem gather_problem(const HopGraph& backwards) const {
        SpreadProblem problem{backwards, {}, LinkCalendar(links()), Ticks(0), request_.options};
        for (const Reduction& reduction : reductions_) {
            if (reduction.is_separate()) continue;
            const ChunkId chunk = reduction.chunk;
            problem.spreads.push_back({chunk, reduction.roots, Ticks(0), instance_.demand(chunk).holders});
        }
        return problem;
    }

    /// Phase 1.
    bool gather() {
        if (reductions_.empty()) return true;
        const HopGraph backwards = gather_graph_.reversed();
        SpreadProblem problem = gather_problem(backwards);
        Ticks release;
        bool only_gathers = plain_.empty();
        for (const Spread& spread : problem.spreads) {
            release = std::max(release, release_of_senders(spread));
            only_gathers = only_gathers && instance_.demand(spread.chunk).receivers.size() == 1;
        }
        if (only_gathers) problem.target = request_.target - std::min(request_.target, release);
        const auto solution = solve(problem, "reduction", only_gathers ? turn() : part_of_the_turn());
        if (!solution) return false;
        for (Part& part : parts_) {
            for (Candidate& candidate : part.candidates)
                if (candidate.makespan) *candidate.makespan += release;
        }
        for (const auto& [hop, chunk, start] : solution->transfers) {
            const Ticks mirrored = solution->makespan - start - gather_graph_.transit(hop, chunk);
            moves_.push_back({&gather_graph_, {hop, chunk, mirrored + release}, Op::Reduce});
        }
        // Mirrored rigid hops may collide at a switch that they passed at different ticks backwards.
        moves_ = gather_graph_.is_simple() ? compacted(moves_) : retimed(moves_);
        for (const Move& move : moves_) {
            const auto& [hop, chunk, start] = move.transfer;
            calendar_.book(*move.graph, hop, chunk, start);
            complete_[chunk] = std::max(complete_[chunk], move.arrival());
        }
        for (const auto& [chunk, roots] : reductions_)
            complete_[chunk] = std::max(complete_[chunk], release_at(instance_, chunk, roots.front()));
        return true;
    }

    /// When all contributors to a reduction but its root may have sent.
    [[nodiscard]] Ticks release_of_senders(const Spread& backwards) const {
        const ChunkId chunk = backwards.chunk;
        Ticks release = instance_.release(chunk);
        if (!instance_.is_staggered(chunk)) return release;
        for (const NodeId holder : backwards.targets) {
            if (holder != backwards.sources.front())
                release = std::max(release, instance_.release(chunk, holder));
        }
        return release;
    }

    /// Between the phases.
    void reduce_without_root() {
        for (const auto& [chunk, roots] : reductions_) {
            if (roots.size() == 1) continue;
            has_rootless_sums_ = true;
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

    [[nodiscard]] SpreadProblem spread_problem() {
        SpreadProblem problem{graph_, std::move(plain_), std::move(calendar_), request_.target,
                              request_.options};
        for (const auto& [chunk, roots] : reductions_) {
            problem.spreads.push_back({chunk, roots, complete_[chunk], instance_.demand(chunk).receivers});
        }
        return problem;
    }

    /// Phase 2.
    bool spread() {
        SpreadProblem problem = spread_problem();
        const auto solution = solve(problem, "distribution", turn());
        if (!solution) return false;
        moves_.reserve(moves_.size() + solution->transfers.size());
        for (const Transfer& transfer : solution->transfers) moves_.push_back({&graph_, transfer, Op::Copy});
        return true;
    }

    /// Removes chunks that all their receivers already hold.
    static void leave_out_settled(SpreadProblem& problem) {
        std::erase_if(problem.spreads, [](const Spread& spread) {
            return std::ranges::all_of(spread.targets, [&](NodeId target) {
                return std::ranges::find(spread.sources, target) != spread.sources.end();
            });
        });
    }

    /// One phase by the portfolio.
    std::optional<SpreadSolution> solve(SpreadProblem& problem, const char* part, const Stop& turn) {
        if (request_.alone != nullptr) leave_out_settled(problem);
        SpreadResult found =
            best_spread(problem, {phases_, request_.threads, request_.alone, turn}, rng_, request_.stop);
        // A solution without transfers says nothing about the heuristics.
        if (!found.solution || !found.solution->transfers.empty())
            parts_.push_back({part, std::move(found.heuristic), std::move(found.candidates)});
        if (!found.solution) report_parts();
        return std::move(found.solution);
    }

    /// Reports the parts' candidates. A single part is the whole.
    void report_parts() {
        for (Part& part : parts_) {
            for (Candidate& candidate : part.candidates) {
                if (parts_.size() > 1) candidate.part = part.name;
                enter_candidate(std::move(candidate));
            }
        }
    }

    /// Reports the parts' candidates, and the combined result.
    void report_whole(Ticks makespan) {
        Candidate whole;
        whole.makespan = makespan;
        for (const Move& move : moves_) whole.sends += move.graph->hop(move.transfer.hop).legs.size();
        for (Part& part : parts_) {
            if (!whole.heuristic.empty() && whole.heuristic != part.winner) whole.heuristic += " + ";
            if (whole.heuristic != part.winner) whole.heuristic += part.winner;
            for (Candidate& candidate : part.candidates) {
                whole.seconds += candidate.seconds;
                // Compaction may have made the whole shorter than its one part was.
                if (parts_.size() > 1 || candidate.heuristic != part.winner) continue;
                candidate.makespan = whole.makespan;
                candidate.sends = whole.sends;
            }
        }
        result_.heuristic = whole.heuristic;
        report_parts();
        if (parts_.size() > 1) enter_candidate(std::move(whole));
    }

    void enter_candidate(Candidate candidate) {
        if (roots_at_ != RootsAt::Receivers && !reductions_.empty()) {
            candidate.part =
                joined_part(candidate.part,
                            roots_at_ == RootsAt::Switches ? "sums at switches" : "sums at the last rank");
        }
        enter(result_.candidates, std::move(candidate));
    }

    /// Why the instance's all-reduces cannot be solved as one flow; empty if they can.
    [[nodiscard]] std::string why_no_flow() const {
        if (!graph_.is_direct()) return "the network has switches";
        if (!plain_.empty()) return "there are chunks that are no sums";
        for (const Reduction& reduction : reductions_) {
            if (reduction.is_separate()) return "a reduction has no NPU that all its holders reach";
            if (instance_.demand(reduction.chunk).receivers.size() == 1) return "a sum has only one receiver";
        }
        return {};
    }

    /// Whether there are only reductions with several receivers, on links between NPUs, and not too many.
    [[nodiscard]] bool can_overlap() const {
        if (!why_no_flow().empty()) return false;
        std::size_t sends = 0;
        for (const Reduction& reduction : reductions_) {
            const Demand demand = instance_.demand(reduction.chunk);
            sends += demand.holders.size() + demand.receivers.size();
        }
        const SearchOptions& options = request_.options;
        return sends <=
               (request_.effort == Effort::Quick ? options.pipeline_sends : options.pipeline_sends_anytime);
    }

    /// One flow instead of two phases, if that is shorter.
    void overlap() {
        const HopGraph backwards = graph_.reversed();
        SpreadProblem gather{backwards, {}, LinkCalendar(links()), Ticks(0), request_.options};
        SpreadProblem spread{graph_, {}, LinkCalendar(links()), request_.target, request_.options};
        for (const auto& [chunk, roots] : reductions_) {
            const Demand demand = instance_.demand(chunk);
            gather.spreads.push_back({chunk, roots, instance_.last_release(chunk), demand.holders});
            spread.spreads.push_back({chunk, roots, instance_.last_release(chunk), demand.receivers});
        }
        const Heuristic& heuristic = *find_heuristic(kPipelinedAllReduce);
        const auto begin = std::chrono::steady_clock::now();
        const auto sums = heuristic.as<FlowHeuristic>()->run(gather, spread, rng_, request_.stop);
        Candidate candidate{.heuristic = std::string(heuristic.name)};
        candidate.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        if (sums) {
            candidate.makespan = sums->makespan;
            candidate.sends = sums->gather.size() + sums->spread.size();
        } else {
            candidate.why_none = request_.stop.requested() ? "stopped" : "it found no path";
        }
        enter_candidate(std::move(candidate));
        if (!sums || (has_moves_ && sums->makespan >= makespan_of(moves_))) return;
        result_.heuristic = heuristic.name;
        has_moves_ = true;
        moves_.clear();
        for (const Transfer& transfer : sums->gather) moves_.push_back({&graph_, transfer, Op::Reduce});
        for (const Transfer& transfer : sums->spread) moves_.push_back({&graph_, transfer, Op::Copy});
        // The flow begins with the last release of a chunk.
        if (std::ranges::any_of(reductions_,
                                [&](const Reduction& r) { return instance_.is_staggered(r.chunk); }))
            moves_ = compacted(moves_);
    }

    const Instance& instance_;
    const GreedyRequest& request_;
    Effort phases_;
    Rng& rng_;
    const RootsAt roots_at_;
    HopGraph graph_;
    HopGraph gather_graph_;
    LinkCalendar calendar_;
    std::vector<Spread> plain_;
    std::vector<Reduction> reductions_;
    std::unordered_map<ChunkId, Ticks> complete_;  ///< when a reduction is whole at its roots
    bool has_rootless_sums_ = false;
    bool has_moves_ = false;  ///< a solution: they may be none
    std::vector<Move> moves_;
    std::vector<Part> parts_;
    GreedyResult result_;
};

}  // namespace

std::optional<Instance> without_abilities(const Instance& instance) {
    TopologyParts topology = instance.topology().parts();
    bool any = false;
    for (SwitchRule& rule : topology.switches) {
        any = any || rule.copy || rule.reduce;
        rule.copy = rule.reduce = false;
    }
    if (!any) return std::nullopt;
    return Instance({instance.name(), std::move(topology), instance.groups(), instance.collectives()});
}

GreedyResult greedy_search(const Instance& instance, const GreedyRequest& request) {
    Rng rng(request.seed);
    GreedyResult best;
    const bool at_switches = has_root_switch(instance.topology());
    const auto plain = without_abilities(instance);
    const bool late = has_late_sums(instance);
    unsigned searches = 1U + (at_switches ? 1U : 0U) + (late ? 1U : 0U) + (plain ? 1U : 0U);
    // Each has an equal part of the time.
    const auto search = [&](const Instance& on, RootsAt roots_at, std::string_view part, Rng& random) {
        GreedyRequest next = request;
        const auto left = request.stop.remaining();
        if (left && searches > 1) next.turn = request.stop.within(*left / searches);
        --searches;
        if (best.schedule && (best.schedule->makespan <= request.target || request.stop.requested())) return;
        GreedyResult found = Greedy(on, next, roots_at, random).run();
        for (Candidate& candidate : found.candidates) {
            if (!part.empty()) candidate.part = joined_part(candidate.part, part);
            enter(best.candidates, std::move(candidate));
        }
        if (!found.schedule || (best.schedule && found.schedule->makespan >= best.schedule->makespan)) return;
        best.schedule = std::move(found.schedule);
        best.heuristic = std::move(found.heuristic);
    };
    search(instance, RootsAt::Receivers, {}, rng);
    if (late) search(instance, RootsAt::LastRank, {}, rng);
    if (at_switches) search(instance, RootsAt::Switches, {}, rng);
    Rng same(request.seed);  // the very search that the plain instance would have
    if (plain) search(*plain, RootsAt::Receivers, kPlainSwitches, same);
    return best;
}

std::optional<Schedule> greedy(const Instance& instance, const GreedyRequest& request) {
    return greedy_search(instance, request).schedule;
}

std::string why_not(const Instance& instance, const Heuristic& heuristic) {
    if (const auto* orbits = heuristic.as<OrbitHeuristic>()) return orbits->why_not(instance);
    if (const auto* direct = heuristic.as<DirectHeuristic>()) return direct->why_not(instance);
    if (const auto* exchange = heuristic.as<ExchangeHeuristic>()) return exchange->why_not(instance);
    Rng rng(1);
    const GreedyRequest request;
    return Greedy(instance, request, RootsAt::Receivers, rng).why_not(heuristic);
}

}  // namespace tutti::heuristics
