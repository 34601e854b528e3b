// Verifies a schedule of TACOS: the collective gives the initial holders; the queues are replayed.

#include "verify/plan/open_verdict.hpp"
#include "verify/plan/queue_replay.hpp"

#include <fmt/format.h>

namespace tutti::verify {
namespace {

void judge_queues(const plan::TacosPlan& plan, const PlanReading& reading, OpenVerdict& open) {
    plan::QueueStart start;
    start.goal = reading.goal.value_or(CollectiveKind::AllGather);
    start.root = plan::PlanNode(reading.root.value_or(Rank(0)).index());
    open.verdict.collective = plan_name_of(start.goal);
    if (!reading.goal) {
        open.warnings.add("lacks",
                          "the file names no collective and does not say where chunks start; judged as an "
                          "allgather, all that its producer makes");
    }
    if (!start.known()) {
        return open.leave_undecided(
            "which chunk starts where is not in the file, and known for allgather and broadcast only");
    }
    if (start.goal == CollectiveKind::Broadcast) open.verdict.root = rank_of(start.root);
    if (start.root.index() >= static_cast<std::size_t>(plan.nodes)) {
        open.violations.add("root", fmt::format("root {} is no node; there are {}", start.root, plan.nodes));
        return;
    }
    if (start.goal == CollectiveKind::AllGather && plan.chunks % plan.nodes != 0) {
        open.violations.add("chunks", fmt::format("{} chunks cannot be spread evenly over {} nodes",
                                                  plan.chunks, plan.nodes));
    }
    const std::int64_t end = replay_queues(plan, start, open.violations, open.warnings);
    open.verdict.own_cost = fmt::format("{:.3f} us", static_cast<double>(end) / 1e6);
}

}  // namespace

plan::PlanVerdict verify(const plan::TacosPlan& plan, const PlanReading& reading) {
    OpenVerdict open(reading);
    open.verdict.format = "tacos-csv";
    open.verdict.mode = "queues";
    open.verdict.ranks = plan.nodes;
    for (const plan::TacosLink& link : plan.links) open.verdict.steps += link.queue.size();
    judge_queues(plan, reading, open);
    return open.settled();
}

}  // namespace tutti::verify
