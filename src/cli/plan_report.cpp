#include "cli/plan_report.hpp"

#include "app/plan_json.hpp"
#include "cli/plan_cost_text.hpp"
#include "text/format.hpp"
#include "text/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <numeric>

namespace tutti::cli {
namespace {

using plan::PlanClass;

std::string npu_words(OptionalId<Rank> gpu, std::span<const std::int32_t> group) {
    if (!gpu || (*gpu).index() >= group.size()) return "";
    return fmt::format("gpu {} is NPU {}", *gpu, group[(*gpu).index()]);
}

std::string without_commas(std::string text) {
    std::erase(text, ',');
    return text;
}

/// " [gpu 3, tb 2, step 5]", unless the message contains it; and the NPUs of all gpus that it names.
std::string place_words(const plan::PlanFinding& finding, std::span<const std::int32_t> group) {
    std::vector<std::string> parts;
    const std::string place = text_of(finding.place);
    plan::Place step = finding.place;
    step.buffer.reset();
    const bool said =
        without_commas(finding.message).find(without_commas(text_of(step))) != std::string::npos;
    if (!place.empty() && !said) parts.push_back(place);
    const auto add_npu = [&](const plan::Place& at) {
        std::string words = npu_words(at.gpu, group);
        if (!words.empty() && std::ranges::find(parts, words) == parts.end())
            parts.push_back(std::move(words));
    };
    add_npu(finding.place);
    for (const plan::Place& other : finding.others) add_npu(other);
    return parts.empty() ? "" : fmt::format(" [{}]", fmt::join(parts, "; "));
}

std::string fifo_words(const plan::FifoNeed& need) {
    return fmt::format("needs {} per connection when chunks are large, {} when small; the protocol holds {}",
                       text::count_text(static_cast<std::uint64_t>(need.chunks), "message"), need.steps,
                       need.capacity);
}

using text::Facts;

Facts verdict_facts(const plan::PlanVerdict& verdict) {
    Facts facts;
    if (!verdict.format.empty()) facts.emplace_back("format", app::label_of_format(verdict.format));
    if (verdict.ranks > 0) {
        if (!verdict.name.empty()) facts.emplace_back("name", verdict.name);
        facts.emplace_back("collective", verdict.mode.empty()
                                             ? verdict.collective
                                             : fmt::format("{}, {}", verdict.collective, verdict.mode));
        if (verdict.root) facts.emplace_back("root", std::to_string(verdict.root->value()));
        facts.emplace_back("ranks", std::to_string(verdict.ranks));
        // Formats with a cost model of their own list sends; their "steps" are something else.
        facts.emplace_back(verdict.own_cost.empty() ? "steps" : "sends", std::to_string(verdict.steps));
        if (!verdict.own_cost.empty()) facts.emplace_back("own cost", verdict.own_cost);
    }
    if (verdict.fifo) facts.emplace_back("buffering", fifo_words(*verdict.fifo));
    if (verdict.violation_count > 0 && verdict.verdict != PlanClass::Malformed)
        facts.emplace_back("violations", std::to_string(verdict.violation_count));
    if (verdict.warning_count > 0) facts.emplace_back("warnings", std::to_string(verdict.warning_count));
    return facts;
}

text::SafeText findings_text(const std::vector<plan::PlanFinding>& findings, std::uint64_t count,
                             const char* prefix, std::span<const std::int32_t> group) {
    text::SafeText text;
    for (const plan::PlanFinding& finding : findings) {
        text += text::safe_text("  {}{}: {}{}\n", prefix, finding.code, finding.message,
                                place_words(finding, group));
    }
    const std::uint64_t left = count - std::min<std::uint64_t>(count, findings.size());
    if (left > 0) text += text::safe_text("  {}... and {} more (--max-violations)\n", prefix, left);
    return text;
}

}  // namespace

text::SafeText verdict_word(PlanClass verdict, bool colours) {
    std::string word(name_of(verdict));
    std::ranges::transform(word, word.begin(), [](unsigned char c) { return std::toupper(c); });
    const bool wrong = verdict == PlanClass::Invalid || verdict == PlanClass::Malformed;
    return toned(wrong ? Tone::Bad : verdict == PlanClass::Valid ? Tone::Good : Tone::Strong, word, colours);
}

text::SafeText plan_page(const app::JudgedPlan& judged, const PlanView& view) {
    const plan::PlanVerdict& verdict = judged.verdict;
    text::SafeText page =
        text::safe_text("{}  {}\n", verdict_word(verdict.verdict, view.colours), judged.file);
    Facts facts = verdict_facts(verdict);
    if (judged.condition.condition) facts.emplace_back("condition", judged.condition.file);
    if (judged.cost) std::ranges::move(facts_of(*judged.cost, *view.topology), std::back_inserter(facts));
    if (judged.right_as) {
        facts.emplace_back("right as",
                           fmt::format("{0}: --as {0} accepts it", plan_name_of(*judged.right_as)));
    }
    if (!judged.not_timed.empty()) facts.emplace_back("makespan", "not known: " + judged.not_timed);
    page += text::fact_sheet(facts, 2);
    if (!judged.place.empty() && verdict.violations.size() == 1) {
        const plan::PlanFinding& finding = verdict.violations.front();
        return page + text::safe_text("  {}: at {}: {}\n", finding.code, judged.place, finding.message);
    }
    page += findings_text(verdict.violations, verdict.violation_count, "", view.group);
    return page + findings_text(verdict.warnings, verdict.warning_count, "warning ", view.group);
}

text::SafeText plan_line(const app::JudgedPlan& judged, const PlanView& view) {
    io::Json json = app::json_of(judged, view.group, view.topology);
    if (judged.verdict.verdict == PlanClass::Malformed)
        json["exit_code"] = static_cast<int>(ExitCode::BadInput);
    return text::safe_text("{}\n", io::json_line(json));
}

std::string warning_text(const plan::PlanVerdict& verdict) {
    if (verdict.warnings.empty()) return "";
    const std::string more =
        verdict.warning_count > 1 ? fmt::format(" (and {} more)", verdict.warning_count - 1) : "";
    return fmt::format("warning: {}{}", verdict.warnings.front().message, more);
}

namespace {

/// Without what it was judged by.
std::string bare_reason_of(const app::JudgedPlan& judged) {
    const plan::PlanVerdict& verdict = judged.verdict;
    switch (verdict.verdict) {
        case PlanClass::Valid:
            return warning_text(verdict);
        case PlanClass::ValidIfBuffered:
            return verdict.fifo
                       ? fmt::format("needs {} messages per connection, {} if small, of {}",
                                     verdict.fifo->chunks, verdict.fifo->steps, verdict.fifo->capacity)
                       : "";
        case PlanClass::StructureOnly:
            return verdict.warnings.empty() ? "the file does not say what is right (--condition or --as does)"
                                            : warning_text(verdict);
        case PlanClass::Invalid:
        case PlanClass::Malformed:
            break;
    }
    if (verdict.violations.empty()) return "";
    const plan::PlanFinding& first = verdict.violations.front();
    const std::string place = judged.place.empty() ? "" : fmt::format("at {}: ", judged.place);
    return fmt::format("{}: {}{}", first.code, place, first.message);
}

}  // namespace

std::string reason_of(const app::JudgedPlan& judged) {
    const std::string reason = bare_reason_of(judged);
    if (!judged.condition.condition) return reason;
    return fmt::format("condition {}{}{}", std::filesystem::path(judged.condition.file).filename().string(),
                       reason.empty() ? "" : ": ", reason);
}

ExitCode exit_code_of(const plan::PlanVerdict& verdict) {
    if (verdict.verdict == PlanClass::Malformed) return ExitCode::BadInput;
    return verdict.acceptable() ? ExitCode::Done : ExitCode::Failed;
}

void PlanTally::add(const app::JudgedPlan& judged) {
    if (judged.skipped.empty()) {
        ++verdicts_[static_cast<std::size_t>(judged.verdict.verdict)];
    } else {
        ++skipped_;
    }
}

std::uint64_t PlanTally::judged() const {
    return std::accumulate(verdicts_.begin(), verdicts_.end(), std::uint64_t{0});
}

std::uint64_t PlanTally::wrong() const {
    return verdicts_[static_cast<std::size_t>(PlanClass::Invalid)] +
           verdicts_[static_cast<std::size_t>(PlanClass::Malformed)];
}

std::string PlanTally::text() const {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < verdicts_.size(); ++i) {
        if (verdicts_[i] > 0)
            parts.push_back(fmt::format("{} {}", verdicts_[i], name_of(static_cast<PlanClass>(i))));
    }
    std::string text = text::count_text(judged(), "file");
    if (!parts.empty()) text += fmt::format(": {}", fmt::join(parts, ", "));
    if (skipped_ > 0) text += fmt::format("; {} skipped", skipped_);
    return text;
}

}  // namespace tutti::cli
