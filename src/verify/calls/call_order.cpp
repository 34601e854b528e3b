#include "verify/calls/call_order.hpp"

#include "verify/calls/call_graph.hpp"
#include "verify/calls/call_matching.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace tutti::verify {
namespace {

using plan::CallList;

/// The edges as orders of two calls: neighbours of one rank are one, so that beginnings and ends of batches
/// and waits in between go.
std::vector<CallOrder> orders_of(std::vector<CallGraph::Edge> edges, const CallMatching& matching) {
    const auto rank_of = [&](const CallGraph::Edge& edge) { return matching.place_of(edge.later).rank; };
    const auto turn = std::ranges::adjacent_find(
        edges, [&](const auto& a, const auto& b) { return rank_of(a) != rank_of(b); });
    if (turn == edges.end()) {  // all of one rank
        std::vector<CallOrder> orders;
        for (const auto& edge : edges)
            orders.push_back({matching.place_of(edge.earlier), matching.place_of(edge.later)});
        return orders;
    }
    std::ranges::rotate(edges, turn + 1);
    std::vector<CallOrder> orders;
    for (std::size_t i = 0; i < edges.size(); ++i) {
        const CallPlace earlier = matching.place_of(edges[i].earlier),
                        later = matching.place_of(edges[i].later);
        const bool goes_on = !orders.empty() && orders.back().later.rank == earlier.rank &&
                             earlier.rank == later.rank &&
                             orders.back().earlier.rank == orders.back().later.rank;
        if (goes_on) {
            orders.back().later = later;
        } else {
            orders.push_back({earlier, later});
        }
    }
    return orders;
}

std::string message_of(const std::vector<CallOrder>& circle) {
    std::set<std::uint32_t> ranks;
    for (const CallOrder& order : circle) ranks.insert({order.earlier.rank, order.later.rank});
    if (ranks.size() == 1)
        return fmt::format("rank {} waits for a call that it makes only afterwards", *ranks.begin());
    if (ranks.size() == 2)
        return fmt::format("ranks {} and {} wait for each other", *ranks.begin(), *ranks.rbegin());
    return fmt::format("{} ranks wait for each other in a circle: {} and others", ranks.size(),
                       *ranks.begin());
}

CallFinding deadlock(const char* code, const std::vector<CallGraph::Edge>& edges,
                     const CallMatching& matching, const char* addition) {
    CallFinding finding{code, {}, {}, orders_of(edges, matching)};
    finding.message = message_of(finding.circle) + addition;
    finding.places = {finding.circle.front().later};
    return finding;
}

}  // namespace

CallVerdict judge_calls(const CallList& list, std::size_t max_findings) {
    CallVerdict verdict;
    for (const plan::RankCalls& rank : list.ranks) {
        const auto own_work = std::ranges::count(rank.calls, plan::CallKind::Local, &plan::Call::kind);
        verdict.calls += rank.calls.size() - static_cast<std::size_t>(own_work);
    }
    CallFindings wrong(max_findings), doubtful(max_findings), ignored(0);
    const CallMatching matching = match_calls(list, false, wrong);
    const CallCircles circles = circles_of(call_graph(list, matching, Streams::AsGiven), max_findings);
    if (circles.count > 0) {
        const CallMatching buffered = match_calls(list, true, ignored);
        const bool needs_buffers = circles_of(call_graph(list, buffered, Streams::AsGiven), 1).count == 0;
        for (const auto& circle : circles.circles)
            wrong.add(
                deadlock("deadlock", circle, matching, needs_buffers ? "; not if sends are buffered" : ""));
    } else if (const auto one = circles_of(call_graph(list, matching, Streams::One), max_findings);
               one.count > 0) {
        for (const auto& circle : one.circles)
            doubtful.add(deadlock("needs-concurrency", circle, matching,
                                  " wherever the streams of a rank cannot run at the same time"));
        verdict.warning_count = one.count;
    }
    verdict.violation_count =
        wrong.count() + circles.count - std::min<std::uint64_t>(circles.count, circles.circles.size());
    verdict.violations = wrong.take();
    verdict.warnings = doubtful.take();
    verdict.verdict = verdict.violation_count > 0 ? CallClass::Invalid
                      : verdict.warning_count > 0 ? CallClass::ValidIfConcurrent
                                                  : CallClass::Valid;
    return verdict;
}

}  // namespace tutti::verify
