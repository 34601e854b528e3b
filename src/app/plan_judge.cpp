#include "app/plan_judge.hpp"

#include "io/json_text.hpp"
#include "io/plan_condition_json.hpp"
#include "plan/plan_error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

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
    const std::size_t shown = std::min(sniffed.fields.size(), kShown);
    return fmt::format(
        "a JSON object with {}{}",
        fmt::join(sniffed.fields.begin(), sniffed.fields.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
        shown < sniffed.fields.size() ? ", ..." : "");
}

}  // namespace

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
    if (asked.condition) {
        io::Source source(*asked.condition);
        reading.condition = io::read_plan_condition(source);
    }
    return reading;
}

JudgedPlan PlanJudge::judge(const std::string& file, const Stop& stop) const {
    std::string_view format, code = "unreadable";
    try {
        io::Source source(file, stop);
        const Sniffed sniffed = sniff(source.peek(io::Source::kBlock));
        const PlanKind* kind = plan_kind(sniffed);
        if (kind == nullptr) return judge_other_file(file, source, sniffed);
        format = kind->format;
        code = kind->syntax;
        AnyPlan plan = kind->read(source);
        JudgedPlan judged;
        judged.file = file;
        judged.verdict = app::judge(plan, reading_);
        judged.verdict.format = format;
        judged.right_as = right_as(plan, judged.verdict);
        if (keep_plans_) judged.plan = std::move(plan);
        return judged;
    } catch (const plan::PlanError& error) {
        return malformed(file, format, error.code(), error);
    } catch (const InputError& error) {
        return malformed(file, format, std::string(code), error);
    }
}

/// Files are often mislabelled: an all-to-all that says allgather. The strongest postconditions come first,
/// as a plan that reduces to all ranks also reduces to one.
std::optional<CollectiveKind> PlanJudge::right_as(const AnyPlan& plan,
                                                  const plan::PlanVerdict& verdict) const {
    using enum CollectiveKind;
    constexpr std::int64_t kMostSteps = 20'000;
    const bool asks =
        verdict.verdict == plan::PlanClass::Invalid || verdict.verdict == plan::PlanClass::StructureOnly;
    if (!asks || other_files_ == OtherFiles::Skipped || reading_.goal || reading_.condition ||
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
