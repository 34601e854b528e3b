// Verifies a schedule of TACOS: the collective gives the initial holders; the queues are replayed.

#include "verify/plan/findings.hpp"
#include "verify/plan/plan_verifier.hpp"
#include "verify/plan/queue_replay.hpp"

#include <fmt/format.h>

namespace tutti::verify {
namespace {

using plan::PlanClass;

class TacosVerifier {
  public:
    TacosVerifier(const plan::TacosPlan& plan, const PlanReading& reading)
        : plan_(plan),
          reading_(reading),
          violations_(reading.max_findings),
          warnings_(reading.max_findings) {}

    plan::PlanVerdict run() {
        verdict_.format = "tacos-csv";
        verdict_.mode = "queues";
        verdict_.ranks = plan_.nodes;
        for (const plan::TacosLink& link : plan_.links) verdict_.steps += link.queue.size();
        warn_of_condition(reading_, warnings_);
        judge();
        settle(verdict_,
               !violations_.empty() ? PlanClass::Invalid
               : undecided_         ? PlanClass::StructureOnly
                                    : PlanClass::Valid,
               violations_, warnings_);
        return std::move(verdict_);
    }

  private:
    void judge() {
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
        if (start.goal == CollectiveKind::AllGather && plan_.chunks % plan_.nodes != 0) {
            violations_.add("chunks", fmt::format("{} chunks cannot be spread evenly over {} nodes",
                                                  plan_.chunks, plan_.nodes));
        }
        const std::int64_t end = replay_queues(plan_, start, violations_, warnings_);
        verdict_.own_cost = fmt::format("{:.3f} us", static_cast<double>(end) / 1e6);
    }

    void undecided(const std::string& why) {
        undecided_ = true;
        warnings_.add("lacks", why);
    }

    const plan::TacosPlan& plan_;
    const PlanReading& reading_;
    Findings violations_, warnings_;
    plan::PlanVerdict verdict_;
    bool undecided_ = false;
};

}  // namespace

plan::PlanVerdict verify(const plan::TacosPlan& plan, const PlanReading& reading) {
    return TacosVerifier(plan, reading).run();
}

}  // namespace tutti::verify
