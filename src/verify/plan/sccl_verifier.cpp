// Verifies a plan of SCCL or TACCL: its clock determines how the sends are replayed, and the chunks' nodes
// whether it is the requested collective.

#include "verify/plan/findings.hpp"
#include "verify/plan/plan_verifier.hpp"
#include "verify/plan/send_bandwidth.hpp"
#include "verify/plan/send_flights.hpp"
#include "verify/plan/send_goal.hpp"
#include "verify/plan/send_replay.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::verify {
namespace {

using plan::PlanClass;
using plan::ScclPlan;
using plan::SendClock;

class ScclVerifier {
  public:
    ScclVerifier(const ScclPlan& plan, const PlanReading& reading)
        : plan_(plan),
          reading_(reading),
          violations_(reading.max_findings),
          warnings_(reading.max_findings) {}

    plan::PlanVerdict run() {
        verdict_.format = "sccl-json";
        verdict_.name = plan_.name;
        verdict_.mode = name_of(plan_.clock);
        verdict_.ranks = plan_.nodes;
        verdict_.steps = plan_.sends.size();
        for (const std::string& remark : plan_.remarks) warnings_.add("claim", remark);
        warn_of_condition(reading_, warnings_);
        check_goal();
        const auto flights = flights_of(plan_, &plan_, violations_, warnings_);
        const bool too_large = !replay(plan_, flights, violations_, warnings_);
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
        settle(verdict_,
               too_large             ? PlanClass::Malformed
               : violations_.empty() ? PlanClass::Valid
                                     : PlanClass::Invalid,
               violations_, warnings_);
        return std::move(verdict_);
    }

  private:
    void count_rounds() {
        std::int64_t rounds = 0;
        for (const std::int64_t each : plan_.rounds) rounds = std::min(rounds + each, std::int64_t{1} << 60U);
        const auto steps = static_cast<std::int64_t>(plan_.rounds.size());
        verdict_.own_cost = fmt::format("{} steps, {} rounds", steps, rounds);
        // msccl-tools itself checks an algorithm against its instance only where extra rounds were allowed.
        const std::int64_t extra = plan_.extra_rounds.value_or(0);
        if (extra > 0 && rounds > steps + extra) {
            warnings_.add("claim", fmt::format("the steps take {} rounds, the instance allows {}", rounds,
                                               steps + extra));
        }
    }

    /// Compares the collective that the file's chunks form with the requested one.
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

    const ScclPlan& plan_;
    const PlanReading& reading_;
    Findings violations_, warnings_;
    plan::PlanVerdict verdict_;
};

}  // namespace

plan::PlanVerdict verify(const ScclPlan& plan, const PlanReading& reading) {
    return ScclVerifier(plan, reading).run();
}

}  // namespace tutti::verify
