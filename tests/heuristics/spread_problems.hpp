#pragma once

#include "heuristics/spread.hpp"
#include "verify/schedule_verifier.hpp"

#include <string>

namespace tutti::test {

/// All demands of an instance without reductions, as one problem on free links.
inline heuristics::SpreadProblem spread_problem(const heuristics::HopGraph& graph, Ticks target = {}) {
    const Instance& instance = graph.instance();
    heuristics::SpreadProblem problem{
        graph, {}, heuristics::LinkCalendar(instance.topology().links().size()), target};
    for (std::size_t c = 0; c < instance.chunks(); ++c) {
        const Demand demand = instance.demand(ChunkId(c));
        problem.spreads.push_back(
            {ChunkId(c), demand.holders, instance.release(ChunkId(c)), demand.receivers});
    }
    return problem;
}

/// What the verifier finds wrong with a solution; empty if nothing.
inline std::string complaint(const heuristics::HopGraph& graph, const heuristics::SpreadSolution& solution) {
    Schedule schedule{graph.instance().name(), solution.makespan, {}};
    std::vector<heuristics::LegTime> legs;
    for (const heuristics::Transfer& transfer : solution.transfers) {
        graph.leg_times(transfer.hop, transfer.chunk, legs);
        for (const heuristics::LegTime& leg : legs) {
            schedule.sends.push_back({transfer.chunk, leg.link, transfer.start + leg.offset, Op::Copy});
        }
    }
    const Verdict verdict = verify::verify(graph.instance(), schedule);
    return verdict.valid() ? std::string() : verdict.violations.front().message;
}

}  // namespace tutti::test
