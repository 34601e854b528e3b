#include "app/plan_formats.hpp"

#include "compile/execution_lowering.hpp"
#include "compile/msccl_lowering.hpp"
#include "io/msccl_xml.hpp"
#include "io/mscclpp_json.hpp"
#include "io/plan_condition_json.hpp"
#include "verify/plan/plan_verifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tutti::app {
namespace {

std::string_view words_of(const plan::MscclPlan& plan, plan::Target target) {
    if (*plan.in_place && *plan.out_of_place) {
        return target == plan::Target::Msccl ? "in-place and out-of-place calls (msccl uses it in place only)"
                                             : "in-place and out-of-place calls";
    }
    return *plan.in_place ? "in-place calls" : "out-of-place calls";
}

std::string_view mode_of(const plan::MscclPlan& plan) {
    if (*plan.in_place && *plan.out_of_place) return "both";
    return *plan.in_place ? "in-place" : "out-of-place";
}

io::Json facts_of(const compile::MscclResult& result, const std::string& collective) {
    const plan::MscclPlan& plan = result.plan;
    io::Json facts{{"collective", collective},
                   {"coll", *plan.collective},
                   {"ranks", plan.ranks},
                   {"root", nullptr},
                   {"verdict", "valid"},
                   {"mode", mode_of(plan)},
                   {"protocol", plan::name_of(plan.protocol)},
                   {"steps", plan::steps_of(plan)},
                   {"channels", plan.channels},
                   {"min_bytes", *plan.min_bytes},
                   {"max_bytes", *plan.max_bytes}};
    if (result.root) facts["root"] = result.root->value();
    return facts;
}

/// Judges candidate plans like files of other tools, and keeps the last verdict.
class Judge {
  public:
    explicit Judge(plan::Target target) : target_(target) {}

    plan::PlanClass operator()(const compile::MscclResult& candidate) {
        verify::PlanReading reading;
        reading.root = candidate.root;
        reading.condition = candidate.condition;
        reading.target = target_;
        reading.strict_dependencies = true;
        last_ = verify::verify(candidate.plan, reading);
        if (last_.verdict == plan::PlanClass::Valid && last_.warning_count > 0) {
            throw InternalError(fmt::format("the plan has a warning: {}", last_.warnings.front().message));
        }
        return last_.verdict;
    }
    [[nodiscard]] const plan::PlanVerdict& last() const { return last_; }

  private:
    plan::Target target_;
    plan::PlanVerdict last_;
};

MadePlan make_msccl(const Instance& instance, const Schedule& schedule, CollectiveId collective,
                    const ConvertOptions& options) {
    compile::MscclOptions lowering;
    lowering.target = options.target;
    lowering.protocol = options.protocol;
    lowering.in_place = options.mode != CallMode::OutOfPlace;
    lowering.out_of_place = options.mode != CallMode::InPlace;
    lowering.min_bytes = options.min_bytes;
    lowering.max_bytes = options.max_bytes;
    Judge judge(options.target);
    const auto result = compile::first_valid_msccl(instance, schedule, collective, lowering,
                                                   [&](const auto& c) { return judge(c); });
    if (!result) {
        const plan::PlanVerdict& last = judge.last();
        const std::string why = last.violations.empty() ? "it hangs" : last.violations.front().message;
        if (options.mode != CallMode::InPlace || last.verdict != plan::PlanClass::Invalid) {
            throw InternalError(fmt::format("the plan is {}: {}", name_of(last.verdict), why));
        }
        throw InputError(
            fmt::format("in place this schedule overwrites what it still has to send ({}); "
                        "--mode out-of-place can be had",
                        why));
    }
    MadePlan made;
    made.text = io::msccl_xml_text(result->plan);
    if (result->condition) made.condition = io::plan_condition_text(*result->condition);
    made.words =
        fmt::format("{} among {} ranks, {} steps on {} channel{}, for {}, verified", *result->plan.collective,
                    result->plan.ranks, plan::steps_of(result->plan), result->plan.channels,
                    result->plan.channels == 1 ? "" : "s", words_of(result->plan, options.target));
    made.facts = facts_of(*result, instance.collective(collective).id);
    return made;
}

/// Unless a mode is requested, an in-place plan where that is valid.
MadePlan make_mscclpp(const Instance& instance, const Schedule& schedule, CollectiveId collective,
                      const ConvertOptions& options) {
    compile::ExecutionOptions lowering;
    if (options.mode != CallMode::Both) lowering.in_place = options.mode == CallMode::InPlace;
    if (options.min_bytes) lowering.min_bytes = static_cast<std::uint64_t>(*options.min_bytes);
    if (options.max_bytes.value_or(0) > 0)
        lowering.max_bytes = static_cast<std::uint64_t>(*options.max_bytes);
    const plan::ExecutionPlan plan =
        compile::lower_to_execution_plan(instance, schedule, collective, lowering);
    verify::PlanReading reading;
    reading.target = plan::Target::Mscclpp;
    const plan::PlanVerdict verdict = verify::verify(plan, reading);
    if (verdict.verdict != plan::PlanClass::Valid) {
        const std::string why = verdict.violations.empty() ? "" : verdict.violations.front().message;
        throw InternalError(fmt::format("the execution plan is {}: {}", name_of(verdict.verdict), why));
    }
    MadePlan made;
    made.text = io::mscclpp_json_text(plan);
    made.words = fmt::format("{} among {} ranks, {} operations, for {} calls, verified", verdict.collective,
                             verdict.ranks, verdict.steps, verdict.mode);
    made.facts = {{"collective", instance.collective(collective).id},
                  {"coll", verdict.collective},
                  {"ranks", verdict.ranks},
                  {"verdict", "valid"},
                  {"mode", verdict.mode},
                  {"steps", verdict.steps}};
    return made;
}

constexpr std::array kFormats{
    PlanFormat{ConvertFormat::MscclppJson, "mscclpp-json", make_mscclpp},
    PlanFormat{ConvertFormat::MscclXml, "msccl-xml", make_msccl},
};

}  // namespace

std::span<const PlanFormat> plan_formats() { return kFormats; }

}  // namespace tutti::app
