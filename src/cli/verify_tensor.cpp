#include "app/judge_tensor.hpp"
#include "cli/heartbeat.hpp"
#include "cli/verify.hpp"
#include "text/format.hpp"
#include "text/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tutti::cli {
namespace {

std::string difference_text(const app::JudgedTensor& judged, const verify::RunReport& report) {
    const verify::Difference& difference = *report.difference;
    return fmt::format("{}: {} '{}' on rank {}, element [{}], {}", app::sizes_text(judged, report),
                       difference.state ? "state" : "output", difference.value, difference.rank,
                       fmt::join(difference.index, ", "), difference.poison ? "is not there" : "is another");
}

void add_parting(const app::JudgedTensor& judged, text::Facts& facts) {
    const verify::Parting& parting = *judged.verdict.parting;
    if (!parting.output.empty()) facts.emplace_back("output", parting.output);
    if (!parting.subterm.empty()) facts.emplace_back("subterm", parting.subterm);
    if (judged.step) facts.emplace_back("step", std::to_string(*judged.step));
    facts.emplace_back("reason", fmt::format("{}: {}", parting.code, parting.words));
    if (!judged.verdict.example) return;
    const verify::RunReport& example = *judged.verdict.example;
    facts.emplace_back(
        "example", example.difference
                       ? difference_text(judged, example)
                       : fmt::format("none in {}: they may be equal, by a law that the proof does not use",
                                     text::count_text(example.runs, "run")));
}

text::SafeText page_of(const app::JudgedTensor& judged, bool colours) {
    const std::string files = judged.other.empty() ? judged.file : judged.file + " and " + judged.other;
    if (judged.refused) {
        const tensor::Refusal& refusal = *judged.refused;
        text::Facts facts{{"code", refusal.code()}};
        if (!refusal.value().empty()) facts.emplace_back("value", refusal.value());
        if (!refusal.place().empty()) facts.emplace_back("place", refusal.place());
        facts.emplace_back("reason", refusal.words());
        return text::safe_text("{}  {}\n", toned(Tone::Bad, "REFUSED", colours),
                               refusal.file().empty() ? files : refusal.file()) +
               text::fact_sheet(facts, 2);
    }
    text::Facts facts{{"program", judged.program},
                      {"values", std::to_string(judged.values)},
                      {"kernels", std::to_string(judged.kernels)}};
    if (judged.steps > 0) facts.emplace_back("steps", std::to_string(judged.steps));
    if (judged.verdict.parting) {
        add_parting(judged, facts);
    } else if (judged.other.empty()) {
        facts.emplace_back("checked", "it types; there is no schedule or second program to compare it with");
    } else {
        facts.emplace_back("proof",
                           "placement erased, for all sizes and numbers of ranks at which both type");
    }
    for (const app::JudgedRun& run : judged.runs) {
        facts.emplace_back(run.numbers, run.report.difference
                                            ? difference_text(judged, run.report)
                                            : fmt::format("{}, no difference (last {})",
                                                          text::count_text(run.report.runs, "run"),
                                                          app::sizes_text(judged, run.report)));
    }
    return text::safe_text(
               "{}  {}\n",
               judged.fine() ? toned(Tone::Good, judged.other.empty() ? "WELL-TYPED" : "EQUIVALENT", colours)
                             : toned(Tone::Bad, "NOT EQUIVALENT", colours),
               files) +
           text::fact_sheet(facts, 2);
}

}  // namespace

ExitCode verify_tensor(const app::TensorJudgeOptions& options, const Talk& talk, const Process& process) {
    const app::JudgedTensor judged = [&] {
        Heartbeat heartbeat(process.streams, talk);
        return app::judge_tensor(options, heartbeat.watch(process));
    }();
    if (talk.json) {
        process.streams.out.print("{}\n", io::json_line(app::json_of(judged)));
    } else if (judged.refused) {
        process.streams.err << page_of(judged, process.streams.colour_err);
    } else {
        process.streams.out << page_of(judged, process.streams.colour_out);
    }
    if (judged.refused) return ExitCode::BadInput;
    return judged.fine() ? ExitCode::Done : ExitCode::Failed;
}

}  // namespace tutti::cli
