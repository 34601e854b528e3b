#include "app/plan_formats.hpp"

#include "app/round_formats.hpp"
#include "compile/execution_lowering.hpp"
#include "compile/msccl_lowering.hpp"
#include "compile/round_lowering.hpp"
#include "io/msccl_xml.hpp"
#include "io/mscclpp_json.hpp"
#include "io/plan_condition_json.hpp"
#include "verify/plan/plan_verifier.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace tutti::app {
namespace {

/// Who is who, where relays take part: users have to make a communicator of exactly these.
std::string ranks_words(std::span<const NodeId> npus, std::uint32_t members) {
    const auto numbers = [](std::span<const NodeId> of) {
        std::vector<std::uint32_t> list;
        for (const NodeId npu : of) list.push_back(npu.value());
        return list;
    };
    const auto group = numbers(npus.first(members)), relays = numbers(npus.subspan(members));
    const auto ranks = [](std::size_t first, std::size_t count) {
        return count == 1 ? fmt::format("rank {} is NPU", first)
                          : fmt::format("ranks {}-{} are NPUs", first, first + count - 1);
    };
    return fmt::format("{} {} (the group); {} {} ({})", ranks(0, group.size()), fmt::join(group, ", "),
                       ranks(group.size(), relays.size()), fmt::join(relays, ", "),
                       relays.size() == 1 ? "a relay, which contributes and gets nothing"
                                          : "relays, which contribute and get nothing");
}

/// The ranks of a plan without a file for its condition.
struct RanksOf {
    std::vector<NodeId> npus{};
    std::uint32_t members = 0;
    std::optional<plan::Condition> condition{};
};

/// What is common to the plans of all formats: the condition beside it, who is who.
template <class Result>
void describe_ranks(const Result& result, const Collective& collective, MadePlan& made) {
    io::Json npus = io::Json::array();
    for (const NodeId npu : result.npus) npus.push_back(npu.value());
    made.facts["npus"] = std::move(npus);
    made.npus = result.npus;
    made.facts["relays"] = result.npus.size() - result.members;
    if (result.npus.size() > result.members) made.ranks = ranks_words(result.npus, result.members);
    if (!result.condition) return;
    const std::string what = fmt::format("{} of {} ranks", name_of(collective.kind), result.members);
    made.condition = io::plan_condition_text(
        *result.condition, made.ranks.empty() ? what : fmt::format("{}; {}", what, made.ranks));
}

/// "custom", or "custom (all_reduce of 4 ranks, 2 relays)".
template <class Result>
std::string name_with_relays(const Result& result, std::string_view name, const Collective& collective) {
    const std::size_t relays = result.npus.size() - result.members;
    if (relays == 0) return std::string(name);
    return fmt::format("{} ({} of {} ranks, with {} relay{})", name, name_of(collective.kind), result.members,
                       relays, relays == 1 ? "" : "s");
}

/// Custom collectives are called by their number, so their mode is not compared with the call's.
std::string_view words_of(const plan::MscclPlan& plan, plan::Target target) {
    if (*plan.in_place && *plan.out_of_place) {
        return target == plan::Target::Msccl && plan.collective != "custom"
                   ? "in-place and out-of-place calls (msccl uses it in place only)"
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
                   {"target", plan::name_of(result.target)},
                   {"mode", mode_of(plan)},
                   {"protocol", plan::name_of(plan.protocol)},
                   {"steps", plan::steps_of(plan)},
                   {"channels", plan.channels},
                   {"min_bytes", *plan.min_bytes},
                   {"max_bytes", *plan.max_bytes}};
    if (result.root) facts["root"] = result.root->value();
    return facts;
}

/// Nothing leaves that could not be verified.
void refuse_too_large(const plan::PlanVerdict& verdict) {
    if (verdict.violations.empty() || verdict.violations.front().code != "too-large") return;
    throw InputError(
        fmt::format("the plan is too large to be verified: {}; larger ones can be had as schedules",
                    verdict.violations.front().message));
}

/// Judges candidate plans like files of other tools, and keeps the last verdict.
class Judge {
  public:
    plan::PlanClass operator()(const compile::MscclResult& candidate) {
        verify::PlanReading reading;
        reading.root = candidate.root;
        reading.condition = candidate.condition;
        reading.target = candidate.target;
        reading.strict_dependencies = true;
        last_ = verify::verify(candidate.plan, reading);
        if (last_.verdict == plan::PlanClass::Valid && last_.warning_count > 0) {
            throw InternalError(fmt::format("the plan has a warning: {}", last_.warnings.front().message));
        }
        return last_.verdict;
    }
    [[nodiscard]] const plan::PlanVerdict& last() const { return last_; }

  private:
    plan::PlanVerdict last_;
};

MadePlan make_msccl(const Instance& instance, const Schedule& schedule, CollectiveId collective,
                    const ConvertOptions& options) {
    compile::MscclOptions lowering;
    lowering.target = options.target;
    lowering.protocol = options.protocol;
    lowering.name = options.plan_name;
    lowering.in_place = options.mode != CallMode::OutOfPlace;
    lowering.out_of_place = options.mode != CallMode::InPlace;
    lowering.min_bytes = options.min_bytes;
    lowering.max_bytes = options.max_bytes;
    Judge judge;
    const auto result = compile::first_valid_msccl(instance, schedule, collective, lowering,
                                                   [&](const auto& c) { return judge(c); });
    if (!result) {
        const plan::PlanVerdict& last = judge.last();
        refuse_too_large(last);
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
    const Collective& of = instance.collective(collective);
    made.words = fmt::format("{} among {} ranks, {} steps on {} channel{}, for {}{}, verified",
                             name_with_relays(*result, *result->plan.collective, of), result->plan.ranks,
                             plan::steps_of(result->plan), result->plan.channels,
                             result->plan.channels == 1 ? "" : "s", words_of(result->plan, result->target),
                             !options.target && result->condition ? " of the msccl runtime" : "");
    made.facts = facts_of(*result, of.id);
    describe_ranks(*result, of, made);
    made.collective = collective;
    made.plan = result->plan;
    made.verdict = judge.last();
    return made;
}

/// Unless a mode is requested, an in-place plan where that is valid.
MadePlan make_mscclpp(const Instance& instance, const Schedule& schedule, CollectiveId collective,
                      const ConvertOptions& options) {
    compile::ExecutionOptions lowering;
    lowering.name = options.plan_name;
    if (options.mode != CallMode::Both) lowering.in_place = options.mode == CallMode::InPlace;
    if (options.min_bytes) lowering.min_bytes = static_cast<std::uint64_t>(*options.min_bytes);
    if (options.max_bytes.value_or(0) > 0)
        lowering.max_bytes = static_cast<std::uint64_t>(*options.max_bytes);
    const compile::ExecutionResult result =
        compile::lower_to_execution_plan(instance, schedule, collective, lowering);
    verify::PlanReading reading;
    reading.target = plan::Target::Mscclpp;
    reading.condition = result.condition;
    const plan::PlanVerdict verdict = verify::verify(result.plan, reading);
    if (verdict.verdict != plan::PlanClass::Valid) {
        refuse_too_large(verdict);
        const std::string why = verdict.violations.empty() ? "" : verdict.violations.front().message;
        throw InternalError(fmt::format("the execution plan is {}: {}", name_of(verdict.verdict), why));
    }
    MadePlan made;
    made.text = io::mscclpp_json_text(result.plan);
    const std::string& coll = result.condition ? result.plan.collective : verdict.collective;
    const Collective& of = instance.collective(collective);
    made.words = fmt::format("{} among {} ranks, {} operations, for {} calls, verified",
                             name_with_relays(result, coll, of), verdict.ranks, verdict.steps, verdict.mode);
    made.facts = {{"collective", of.id}, {"coll", coll},         {"ranks", verdict.ranks},
                  {"verdict", "valid"},  {"mode", verdict.mode}, {"steps", verdict.steps}};
    describe_ranks(result, of, made);
    made.collective = collective;
    made.plan = result.plan;
    made.verdict = verdict;
    return made;
}

/// The condition is in the plan, not in a file: nothing else reads the source that it becomes.
template <RoundFormat Format>
MadePlan make_rounds(const Instance& instance, const Schedule& schedule, CollectiveId collective,
                     const ConvertOptions& options) {
    const Collective& of = instance.collective(collective);
    const auto make = [&](bool in_place) {
        plan::RoundPlan plan = compile::lower_to_rounds(instance, schedule, collective, in_place);
        plan.name =
            options.plan_name.empty() ? fmt::format("{} {}", instance.name(), of.id) : options.plan_name;
        return plan;
    };
    std::uint64_t block_bytes = 0;
    if (Format == RoundFormat::Goal) {
        const auto chunk = static_cast<std::uint64_t>(of.chunk_bytes.count);
        if (!options.bytes && chunk == 0)
            throw InputError(
                "the instance gives it no chunk_bytes; expected --bytes N, the size of the call");
        block_bytes =
            options.bytes ? block_bytes_of(make(false), *options.bytes) : chunk * make(false).block_chunks;
    }
    const RoundFile file = round_file(make, Format, block_bytes);
    const plan::RoundPlan& plan = file.plan;
    MadePlan made;
    made.text = file.text;
    made.words = fmt::format("{} among {} ranks, {} steps in {} round{}, for {} calls, verified",
                             name_with_relays(RanksOf{plan.npus, plan.members}, plan_name_of(plan.goal), of),
                             plan.ranks, plan.size(), plan.rounds, plan.rounds == 1 ? "" : "s",
                             plan.in_place ? "in-place and out-of-place" : "out-of-place");
    made.facts = {{"collective", of.id},  {"coll", plan_name_of(plan.goal)}, {"ranks", plan.ranks},
                  {"verdict", "valid"},   {"mode", file.verdict.mode},       {"steps", plan.size()},
                  {"rounds", plan.rounds}};
    describe_ranks(RanksOf{plan.npus, plan.members}, of, made);
    made.collective = collective;
    made.verdict = file.verdict;
    return made;
}

constexpr std::array kFormats{
    PlanFormat{ConvertFormat::MscclppJson, "mscclpp-json", make_mscclpp},
    PlanFormat{ConvertFormat::MscclXml, "msccl-xml", make_msccl},
    PlanFormat{ConvertFormat::NcclP2p, "nccl-p2p", make_rounds<RoundFormat::NcclP2p>},
    PlanFormat{ConvertFormat::MpiP2p, "mpi-p2p", make_rounds<RoundFormat::MpiP2p>},
    PlanFormat{ConvertFormat::Goal, "goal", make_rounds<RoundFormat::Goal>},
};

}  // namespace

std::span<const PlanFormat> plan_formats() { return kFormats; }

}  // namespace tutti::app
