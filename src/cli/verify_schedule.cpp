#include "app/bug.hpp"
#include "app/instance.hpp"
#include "cli/failure.hpp"
#include "cli/heartbeat.hpp"
#include "cli/verify.hpp"
#include "text/collective_table.hpp"
#include "text/format.hpp"
#include "text/table.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace tutti::cli {
namespace {

text::SafeText line_of(const Violation& violation, const Topology& topology) {
    std::vector<std::string> place;
    if (violation.link && violation.link->index() < topology.links().size())
        place.push_back(name_of(topology, *violation.link));
    if (!violation.collective.empty()) place.push_back("collective " + violation.collective);
    return text::safe_text("  V{} {}: {}{}\n", number_of(violation.rule), code_of(violation.rule),
                           violation.message,
                           place.empty() ? "" : fmt::format(" [{}]", fmt::join(place, "; ")));
}

/// A judged schedule as text.
text::SafeText page_of(const app::JudgedSchedule& judged, const app::ScheduleJudge& judge, bool colours) {
    const Verdict& verdict = judged.verdict;
    const std::optional<Bound>& bound = judged.bound;
    const Units units = judge.instance().topology().units();
    text::SafeText page = text::safe_text(
        "{}  {}\n",
        verdict.valid() ? toned(Tone::Good, "VALID", colours) : toned(Tone::Bad, "INVALID", colours),
        judged.file);
    text::Facts facts{{"makespan", text::ticks_text(verdict.makespan, units)},
                      {"sends", std::to_string(verdict.sends)}};
    if (bound)
        facts.emplace_back("bound",
                           fmt::format("{}, {}", text::ticks_text(bound->value, units), bound->kind));
    // The gap of an invalid schedule is meaningless.
    if (bound && verdict.valid()) {
        facts.emplace_back("gap", text::gap_text(gap(verdict.makespan, bound->value)));
        const bool has_gap = verdict.makespan > bound->value;
        if (has_gap && !judged.skipped.empty())
            facts.emplace_back("skipped", text::skipped_text(judged.skipped));
    }
    if (const Bandwidths bandwidths = judge.bandwidths(judged); bandwidths.algbw_GBps) {
        facts.emplace_back("algbw", text::bandwidth_text(bandwidths.algbw_GBps));
        facts.emplace_back("busbw", text::bandwidth_text(bandwidths.busbw_GBps));
    }
    if (!verdict.valid()) facts.emplace_back("violations", std::to_string(verdict.violation_count));
    page += text::fact_sheet(facts, 2);
    const text::SafeText collectives = text::collective_table(judge.collectives(judged), units);
    if (!collectives.empty()) page += text::safe_text("\n{}", collectives);
    for (const Violation& violation : verdict.violations)
        page += line_of(violation, judge.instance().topology());
    const std::uint64_t left = verdict.violation_count - verdict.violations.size();
    if (left > 0) page += text::safe_text("  ... and {} more (--max-violations)\n", left);
    return page;
}

ExitCode report_malformed(io::Json json, const InputError& error, const Talk& talk, const Streams& streams) {
    const Failure failure = failure_of(std::make_exception_ptr(error));
    if (talk.json) {
        json.update(failure_json(failure));
        streams.out.print("{}\n", io::json_line(json));
    }
    report(failure, {}, streams);
    return failure.code;
}

ExitCode verify_schedule(const std::string& file, app::ScheduleJudge& judge, const Talk& talk,
                         const Process& process) {
    const Streams& streams = process.streams;
    app::JudgedSchedule judged;
    try {
        Heartbeat heartbeat(streams, talk);
        judged = judge.judge(file, heartbeat.watch(process).stop());
    } catch (const LimitError&) {
        streams.err.print("error: interrupted before {} was judged\n", text::input_name(file));
        return ExitCode::Interrupted;
    }
    if (!talk.quiet) {
        for (const std::string& note : judged.notes) streams.err.print("note: {}\n", note);
    }
    if (judged.malformed) return report_malformed(judge.json_of(judged), *judged.malformed, talk, streams);
    streams.out << (talk.json ? text::safe_text("{}\n", io::json_line(judge.json_of(judged)))
                              : page_of(judged, judge, streams.colour_out));
    if (!judged.verdict.valid()) return ExitCode::Failed;
    return process.was_interrupted() ? ExitCode::Interrupted : ExitCode::Done;
}

}  // namespace

ExitCode verify_schedules(const app::ScheduleFiles& files, const app::JudgeOptions& options, const Talk& talk,
                          const Process& process) {
    std::optional<Instance> instance;
    try {
        instance = app::read_instance(files.instance, options.variation, Stop({}, process.interrupted));
    } catch (const InputError& error) {
        return report_malformed(app::malformed_json(files.instance, error), error, talk, process.streams);
    }
    return app::with_instance(*instance, [&] {
        app::ScheduleJudge judge(*instance,
                                 {options.max_violations, options.expand, options.variation.bytes});
        ExitCode worst = ExitCode::Done;
        for (const std::string& file : files.schedules)
            worst = std::max(worst, verify_schedule(file, judge, talk, process));
        return worst;
    });
}

}  // namespace tutti::cli
