// Trees of ForestColl.

#include "verify/plan/open_verdict.hpp"
#include "verify/plan/send_trees.hpp"

#include <fmt/format.h>

namespace tutti::verify {
namespace {

void judge_trees(const plan::ForestCollPlan& plan, const PlanReading& reading, OpenVerdict& open) {
    const CollectiveKind goal = reading.goal.value_or(CollectiveKind::AllGather);
    open.verdict.collective = plan_name_of(goal);
    if (!reading.goal) {
        open.warnings.add("lacks",
                          "the file names no collective; judged as an allgather, which is a reduce_scatter "
                          "with the trees reversed, and an allreduce with both");
    }
    if (plan.trees.empty()) open.violations.add("tree", "the file has no tree");
    const std::int64_t height = check_trees(plan, open.violations, open.warnings);
    open.verdict.own_cost =
        fmt::format("trees of height {}, {} chunks over the busiest link", height, plan.busiest_link);
    open.warnings.add("lacks",
                      "the file has no bandwidths: whether the trees share links well is not judged");
    if (!plan::trees_make(goal))
        open.leave_undecided(
            "trees that broadcast every node's share are an allgather, reduce_scatter or allreduce");
}

}  // namespace

plan::PlanVerdict verify(const plan::ForestCollPlan& plan, const PlanReading& reading) {
    OpenVerdict open(reading);
    open.verdict.format = "forestcoll-xml";
    open.verdict.mode = "trees";
    open.verdict.ranks = plan.nodes();
    for (const plan::ForestTree& tree : plan.trees) open.verdict.steps += tree.sends.size();
    judge_trees(plan, reading, open);
    return open.settled();
}

}  // namespace tutti::verify
