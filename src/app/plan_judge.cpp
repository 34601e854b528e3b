#include "app/plan_judge.hpp"

#include "io/json_text.hpp"
#include "plan/plan_error.hpp"
#include "verify/plan/judged_program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

namespace tutti::app {
namespace {

JudgedPlan malformed(const std::string& file, std::string_view format, std::string code,
                     const InputError& error) {
    JudgedPlan judged;
    judged.file = file;
    judged.place = error.place();
    judged.verdict.verdict = plan::PlanClass::Malformed;
    judged.verdict.format = format;
    judged.verdict.violations.push_back({std::move(code), error.message(), {}, {}});
    judged.verdict.violation_count = 1;
    return judged;
}

/// Describes a file in a folder that is no plan.
std::string word_for(const Sniffed& sniffed) {
    if (sniffed.shape == Sniffed::Shape::Stream) return "a schedule without its instance";
    if (sniffed.shape == Sniffed::Shape::Xml) return "a topology";
    if (sniffed.shape != Sniffed::Shape::Json) return "no schedule";
    if (sniffed.has_field("tutti") || sniffed.has_field("collectives")) return "an instance";
    if (sniffed.has_field("tutti_condition")) return "a condition";
    for (const char* field : {"tutti_schedule", "tutti_symmetric_schedule", "sends"}) {
        if (sniffed.has_field(field)) return "a schedule without its instance";
    }
    return "other JSON";
}

/// The content of a file that is no plan, for a message.
std::string found_in(const Sniffed& sniffed) {
    constexpr std::size_t kShown = 6;
    if (sniffed.shape == Sniffed::Shape::Stream) return "a schedule of tutti's own";
    if (sniffed.shape == Sniffed::Shape::Xml) return fmt::format("XML with the root <{}>", sniffed.root);
    if (sniffed.shape != Sniffed::Shape::Json) return "text";
    if (sniffed.fields.empty()) return "JSON without fields";
    if (sniffed.has_field("tutti_condition"))
        return "a condition (--condition takes it, or it lies beside its plan)";
    const std::size_t shown = std::min(sniffed.fields.size(), kShown);
    return fmt::format(
        "a JSON object with {}{}",
        fmt::join(sniffed.fields.begin(), sniffed.fields.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
        shown < sniffed.fields.size() ? ", ..." : "");
}

verify::PlanReading reading_of(const JudgeOptions& options) {
    using Reading = verify::PlanReading;
    const PlanOptions& asked = options.plan;
    Reading reading;
    reading.operand = asked.operand_is_destination ? Reading::Operand::Destination : Reading::Operand::Source;
    reading.copies_first = asked.copies_first;
    reading.goal = asked.goal;
    reading.root = asked.root;
    reading.strict_dependencies = asked.strict_dependencies;
    reading.strict_descriptors = asked.strict_descriptors;
    reading.target = asked.target;
    reading.max_findings = options.max_violations;
    return reading;
}

/// Whether the plan has buffers, of which conditions speak.
bool has_buffers(const AnyPlan& plan) {
    return std::holds_alternative<plan::MscclPlan>(plan) || std::holds_alternative<plan::ExecutionPlan>(plan);
}

verify::PlanReading with(verify::PlanReading reading, const NamedCondition& condition) {
    if (condition.condition) reading.condition = *condition.condition;
    return reading;
}

}  // namespace

PlanJudge::PlanJudge(const JudgeOptions& options, OtherFiles other_files, bool keep_plans)
    : reading_(reading_of(options)), other_files_(other_files), keep_plans_(keep_plans) {
    for (const std::string& file : options.plan.conditions) conditions_.push_back(read_condition(file));
}

JudgedPlan PlanJudge::judge(const std::string& file, std::size_t position, const Stop& stop) const {
    std::string_view format, code = "unreadable";
    try {
        io::Source source(file, stop);
        const Sniffed sniffed = sniff(source.peek(io::Source::kBlock));
        const PlanKind* kind = plan_kind(sniffed);
        if (kind == nullptr) return judge_other_file(file, source, sniffed);
        format = kind->format;
        code = kind->syntax;
        AnyPlan plan = kind->read(source);
        JudgedPlan judged = judge_plan(file, plan, position);
        judged.verdict.format = format;
        if (keep_plans_) judged.plan = std::move(plan);
        return judged;
    } catch (const plan::PlanError& error) {
        return malformed(file, format, error.code(), error);
    } catch (const InputError& error) {
        return malformed(file, format, std::string(code), error);
    }
}

JudgedPlan PlanJudge::judge_plan(const std::string& file, const AnyPlan& plan, std::size_t position) const {
    JudgedPlan judged;
    judged.file = file;
    if (!conditions_.empty()) judged.condition = conditions_[conditions_.size() == 1 ? 0 : position];
    judged.verdict = app::judge(plan, with(reading_, judged.condition));
    if (conditions_.empty() && !reading_.goal) judge_by_condition_beside(judged, plan);
    judged.right_as = right_as(plan, judged);
    return judged;
}

std::vector<verify::JudgedProgram> PlanJudge::programs_of(const JudgedPlan& judged) const {
    std::vector<verify::JudgedProgram> programs;
    const verify::PlanReading reading = with(reading_, judged.condition);
    if (const auto* msccl = std::get_if<plan::MscclPlan>(&*judged.plan))
        (void)verify::verify(*msccl, reading, programs);
    if (const auto* execution = std::get_if<plan::ExecutionPlan>(&*judged.plan))
        (void)verify::verify(*execution, reading, programs);
    for (verify::JudgedProgram& program : programs)
        program.postcondition.condition = judged.condition.condition.get();
    return programs;
}

/// A plan whose file says what it is for is judged by that: a condition beside it may be left from another
/// plan of the same name. One that cannot be read is no fault of the plan.
void PlanJudge::judge_by_condition_beside(JudgedPlan& judged, const AnyPlan& plan) const {
    if (judged.verdict.verdict != plan::PlanClass::StructureOnly || !has_buffers(plan)) return;
    const std::string beside = condition_beside(judged.file);
    std::error_code unknown;
    if (judged.file == "-" || !std::filesystem::is_regular_file(beside, unknown)) return;
    try {
        judged.condition = read_condition(beside);
        judged.verdict = app::judge(plan, with(reading_, judged.condition));
    } catch (const InputError& error) {
        judged.verdict.warnings.push_back(
            {"condition",
             fmt::format("{} beside the plan cannot be used: {}", beside, error.message()),
             {},
             {}});
        ++judged.verdict.warning_count;
        judged.condition = {};
    }
}

/// Files are often mislabelled: an all-to-all that says allgather. The strongest postconditions come first,
/// as a plan that reduces to all ranks also reduces to one.
std::optional<CollectiveKind> PlanJudge::right_as(const AnyPlan& plan, const JudgedPlan& judged) const {
    using enum CollectiveKind;
    constexpr std::int64_t kMostSteps = 20'000;
    const plan::PlanVerdict& verdict = judged.verdict;
    const bool asks =
        verdict.verdict == plan::PlanClass::Invalid || verdict.verdict == plan::PlanClass::StructureOnly;
    if (!asks || other_files_ == OtherFiles::Skipped || reading_.goal || judged.condition.condition ||
        static_cast<std::int64_t>(verdict.steps) > kMostSteps) {
        return std::nullopt;
    }
    verify::PlanReading reading = reading_;
    for (const CollectiveKind goal :
         {AllReduce, AllToAll, AllGather, ReduceScatter, Broadcast, Reduce, Gather, Scatter}) {
        reading.goal = goal;
        try {
            const plan::PlanClass found = app::judge(plan, reading).verdict;
            if (found == plan::PlanClass::Valid || found == plan::PlanClass::ValidIfBuffered) return goal;
        } catch (const InputError&) {
            // It cannot be read as that collective, so it is none.
        }
    }
    return std::nullopt;
}

JudgedPlan PlanJudge::judge_other_file(const std::string& file, io::Source& source,
                                       const Sniffed& sniffed) const {
    if (sniffed.shape == Sniffed::Shape::Json) {
        // A text that is no JSON may be a truncated plan.
        try {
            io::parse_json_events(source, [](io::JsonEvent, io::Json&) {});
        } catch (const InputError& error) {
            return malformed(file, "", "json", error);
        }
    }
    if (other_files_ == OtherFiles::Skipped) {
        JudgedPlan judged;
        judged.file = file;
        judged.skipped = word_for(sniffed);
        return judged;
    }
    return malformed(
        file, "", "unknown-format",
        InputError(fmt::format("expected a plan ({}), found {}", plan_kind_labels(), found_in(sniffed))));
}

}  // namespace tutti::app
