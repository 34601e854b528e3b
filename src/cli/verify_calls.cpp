#include "app/judge_calls.hpp"
#include "cli/heartbeat.hpp"
#include "cli/verify.hpp"
#include "text/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace tutti::cli {
namespace {

text::SafeText findings_text(const plan::CallList& list, const std::vector<verify::CallFinding>& findings,
                             std::uint64_t count, const char* prefix) {
    text::SafeText text;
    for (const verify::CallFinding& finding : findings) {
        text += text::safe_text("  {}{}: {}\n", prefix, finding.code, finding.message);
        for (const verify::CallOrder& order : finding.circle) {
            text += text::safe_text("    rank {}: {} does not begin before {} of rank {} is over\n",
                                    order.later.rank, app::call_text(list, order.later),
                                    app::call_text(list, order.earlier), order.earlier.rank);
        }
        if (!finding.circle.empty()) continue;
        for (const verify::CallPlace place : finding.places)
            text += text::safe_text("    rank {}: {}\n", place.rank, app::call_text(list, place));
    }
    if (count > findings.size())
        text += text::safe_text("  {}... and {} more (--max-violations)\n", prefix, count - findings.size());
    return text;
}

text::SafeText page_of(const app::JudgedCalls& judged, bool colours) {
    const verify::CallVerdict& verdict = judged.verdict;
    std::string word(app::name_of(verdict.verdict));
    std::ranges::transform(word, word.begin(), [](unsigned char c) { return std::toupper(c); });
    const Tone tone = verdict.verdict == verify::CallClass::Valid     ? Tone::Good
                      : verdict.verdict == verify::CallClass::Invalid ? Tone::Bad
                                                                      : Tone::Strong;
    text::SafeText page = text::safe_text("{}  {}\n", toned(tone, word, colours), judged.file);
    text::Facts facts{{"ranks", std::to_string(judged.list.ranks.size())},
                      {"groups", std::to_string(judged.list.groups.size())},
                      {"calls", std::to_string(verdict.calls)}};
    if (verdict.violation_count > 0)
        facts.emplace_back("violations", std::to_string(verdict.violation_count));
    if (verdict.warning_count > 0) facts.emplace_back("warnings", std::to_string(verdict.warning_count));
    for (const std::string& note : judged.list.notes) facts.emplace_back("note", note);
    page += text::fact_sheet(facts, 2);
    page += findings_text(judged.list, verdict.violations, verdict.violation_count, "");
    page += findings_text(judged.list, verdict.warnings, verdict.warning_count, "warning: ");
    return page;
}

}  // namespace

ExitCode verify_calls(const app::CallOptions& options, const Talk& talk, const Process& process) {
    const app::JudgedCalls judged = [&] {
        Heartbeat heartbeat(process.streams, talk);
        return app::judge_calls(options, heartbeat.watch(process));
    }();
    if (talk.json) {
        process.streams.out.print("{}\n", io::json_line(app::json_of(judged)));
    } else {
        process.streams.out << page_of(judged, process.streams.colour_out);
    }
    return judged.verdict.verdict == verify::CallClass::Invalid ? ExitCode::Failed : ExitCode::Done;
}

}  // namespace tutti::cli
