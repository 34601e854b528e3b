// A plan of sends between nodes: its clock says which replay decides, and the chunks' nodes say whether it is
// the collective that was asked for.

#include "verify/plan/findings.hpp"
#include "verify/plan/plan_verifier.hpp"
#include "verify/plan/queue_replay.hpp"
#include "verify/plan/send_bandwidth.hpp"
#include "verify/plan/send_flights.hpp"
#include "verify/plan/send_goal.hpp"
#include "verify/plan/send_replay.hpp"
#include "verify/plan/send_trees.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tutti::verify {
namespace {
using plan::PlanClass;
using plan::SendClock;
using plan::SendPlan;

class SendPlanVerifier {
  public:
    SendPlanVerifier(const SendPlan& plan, const PlanReading& reading)
        : plan_(plan),
          reading_(reading),
          violations_(reading.max_findings),
          warnings_(reading.max_findings) {}

    plan::PlanVerdict run() {
        verdict_.format = plan_.format;
        verdict_.name = plan_.name;
        verdict_.mode = name_of(plan_.clock);
        verdict_.ranks = plan_.nodes;
        verdict_.steps = plan_.sends.size();
        for (const std::string& remark : plan_.remarks) warnings_.add("claim", remark);
        if (reading_.condition)
            warnings_.add("ignored", "conditions are for plans with buffers; this one is not used");
        switch (plan_.clock) {
            case SendClock::Queues:
                judge_queues();
                break;
            case SendClock::Trees:
                judge_trees();
                break;
            default:
                judge_timed();
        }
        finish();
        return std::move(verdict_);
    }

  private:
    void judge_timed() {
        check_goal();
        const auto flights = flights_of(plan_, violations_, warnings_);
        too_large_ = !replay(plan_, flights, violations_, warnings_);
        if (plan_.clock == SendClock::Epochs) return;
        check_bandwidth(plan_, violations_, warnings_);
        if (plan_.clock == SendClock::Times) {
            std::int64_t last = 0;
            for (const Flight& flight : flights) last = std::max(last, flight.arrival);
            // TACCL counts in tenths of microseconds.
            verdict_.own_cost = fmt::format("{:.1f} us", static_cast<double>(last) / plan::kFinePerTime / 10);
        } else {
            count_rounds();
        }
        if (!plan_.has_links) {
            warnings_.add("lacks", "the file has no topology: which links there are is not judged");
        }
    }

    void count_rounds() {
        std::int64_t rounds = 0;
        for (const std::int64_t each : plan_.rounds) rounds = std::min(rounds + each, std::int64_t{1} << 60U);
        const auto steps = static_cast<std::int64_t>(plan_.rounds.size());
        verdict_.own_cost = fmt::format("{} steps, {} rounds", steps, rounds);
        // msccl-tools itself holds an algorithm to its instance only where extra rounds were granted.
        if (plan_.extra_rounds > 0 && rounds > steps + plan_.extra_rounds) {
            warnings_.add("claim", fmt::format("the steps take {} rounds, the instance allows {}", rounds,
                                               steps + plan_.extra_rounds));
        }
    }

    /// What the file's own chunks make, against what was asked for.
    void check_goal() {
        const ChunkShape shape(plan_.chunks, plan_.nodes);
        const CollectiveKind found = shape.goal();
        CollectiveKind goal = found;
        if (reading_.goal && plan_kind_of(*reading_.goal) != CollectiveKind::Custom) {
            goal = *reading_.goal;
            if (!shape.makes(goal)) {
                violations_.add("collective", fmt::format("the chunks in the file make {}, not {}",
                                                          words_for(found), plan_name_of(goal)));
            }
        } else if (const auto named = kind_in_plan(plan_.runtime);
                   named && *named != CollectiveKind::Custom && !shape.makes(*named)) {
            warnings_.add("collective",
                          fmt::format("the runtime is told that this is {}, but the chunks make {}",
                                      plan_.runtime, words_for(found)));
        }
        verdict_.root = shape.root(goal);
        if (reading_.root && verdict_.root && *reading_.root != *verdict_.root) {
            violations_.add("root", fmt::format("the root is {}, not {}", *verdict_.root, *reading_.root));
        }
        verdict_.collective = goal == CollectiveKind::Custom && !plan_.collective.empty()
                                  ? plan_.collective
                                  : std::string(plan_name_of(goal));
    }

    [[nodiscard]] std::string words_for(CollectiveKind goal) const {
        return goal == CollectiveKind::Custom ? "no collective that has a name"
                                              : std::string(plan_name_of(goal));
    }

    void judge_queues() {
        QueueStart start;
        start.goal = reading_.goal.value_or(CollectiveKind::AllGather);
        start.root = static_cast<std::int32_t>(reading_.root.value_or(Rank(0)).value());
        verdict_.collective = plan_name_of(start.goal);
        if (!reading_.goal) {
            warnings_.add("lacks",
                          "the file names no collective and does not say where chunks start; judged as an "
                          "allgather, all that its producer makes");
        }
        if (start.goal != CollectiveKind::AllGather && start.goal != CollectiveKind::Broadcast) {
            undecided(
                "which chunk starts where is not in the file, and known for allgather and broadcast "
                "only");
            return;
        }
        if (start.goal == CollectiveKind::Broadcast)
            verdict_.root = Rank(static_cast<std::size_t>(start.root));
        if (start.root < 0 || start.root >= plan_.nodes) {
            violations_.add("root", fmt::format("root {} is no node; there are {}", start.root, plan_.nodes));
            return;
        }
        if (start.goal == CollectiveKind::AllGather && plan_.addresses % plan_.nodes != 0) {
            violations_.add("chunks", fmt::format("{} chunks cannot be spread evenly over {} nodes",
                                                  plan_.addresses, plan_.nodes));
        }
        const std::int64_t end = replay_queues(plan_, start, violations_, warnings_);
        verdict_.own_cost = fmt::format("{:.3f} us", static_cast<double>(end) / 1e6);
    }

    void judge_trees() {
        const CollectiveKind goal = reading_.goal.value_or(CollectiveKind::AllGather);
        verdict_.collective = plan_name_of(goal);
        if (!reading_.goal) {
            warnings_.add("lacks",
                          "the file names no collective; judged as an allgather, which is a reduce_scatter "
                          "with the trees reversed, and an allreduce with both");
        }
        if (plan_.trees.empty()) violations_.add("tree", "the file has no tree");
        const std::int64_t height = check_trees(plan_, violations_, warnings_);
        verdict_.own_cost =
            fmt::format("trees of height {}, {} chunks over the busiest link", height, plan_.busiest_link);
        warnings_.add("lacks",
                      "the file has no bandwidths: whether the trees share links well is not judged");
        if (goal != CollectiveKind::AllGather && goal != CollectiveKind::ReduceScatter &&
            goal != CollectiveKind::AllReduce)
            undecided(
                "trees that broadcast every node's share are an allgather, reduce_scatter or allreduce");
    }

    void undecided(const std::string& why) {
        undecided_ = true;
        warnings_.add("lacks", why);
    }

    void finish() {
        verdict_.verdict = too_large_             ? PlanClass::Malformed
                           : !violations_.empty() ? PlanClass::Invalid
                           : undecided_           ? PlanClass::StructureOnly
                                                  : PlanClass::Valid;
        verdict_.violation_count = violations_.count();
        verdict_.violations = violations_.take();
        verdict_.warning_count = warnings_.count();
        verdict_.warnings = warnings_.take();
    }

    const SendPlan& plan_;
    const PlanReading& reading_;
    Findings violations_, warnings_;
    plan::PlanVerdict verdict_;
    bool too_large_ = false, undecided_ = false;
};

}  // namespace

plan::PlanVerdict verify(const SendPlan& plan, const PlanReading& reading) {
    return SendPlanVerifier(plan, reading).run();
}

}  // namespace tutti::verify
