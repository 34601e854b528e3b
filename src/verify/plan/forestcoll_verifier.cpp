// Trees of ForestColl.

#include "verify/plan/findings.hpp"
#include "verify/plan/plan_verifier.hpp"
#include "verify/plan/send_trees.hpp"

#include <fmt/format.h>

namespace tutti::verify {
namespace {

using plan::PlanClass;

class ForestCollVerifier {
  public:
    ForestCollVerifier(const plan::ForestCollPlan& plan, const PlanReading& reading)
        : plan_(plan),
          reading_(reading),
          violations_(reading.max_findings),
          warnings_(reading.max_findings) {}

    plan::PlanVerdict run() {
        verdict_.format = "forestcoll-xml";
        verdict_.mode = "trees";
        verdict_.ranks = plan_.nodes();
        for (const plan::ForestTree& tree : plan_.trees) verdict_.steps += tree.sends.size();
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

    const plan::ForestCollPlan& plan_;
    const PlanReading& reading_;
    Findings violations_, warnings_;
    plan::PlanVerdict verdict_;
    bool undecided_ = false;
};

}  // namespace

plan::PlanVerdict verify(const plan::ForestCollPlan& plan, const PlanReading& reading) {
    return ForestCollVerifier(plan, reading).run();
}

}  // namespace tutti::verify
