#include "cli/heartbeat.hpp"
#include "cli/in_order.hpp"
#include "cli/plan_report.hpp"
#include "cli/verify.hpp"
#include "core/error.hpp"

#include <algorithm>

namespace tutti::cli {
namespace {

/// The group of the file at that place; empty where none was given.
std::span<const std::int32_t> group_of(std::size_t file, const PlanOptions& options) {
    if (options.groups.empty()) return {};
    return options.groups[options.groups.size() == 1 ? 0 : file];
}

void expect_groups_fit(const VerifyFiles& files, const PlanOptions& options) {
    if (options.groups.size() > 1 && options.groups.size() != files.plans.size()) {
        throw InputError(fmt::format("expected one --group, or one for each of the {} plans; found {}",
                                     files.plans.size(), options.groups.size()));
    }
}

void expect_group_fits(const JudgedPlan& judged, std::span<const std::int32_t> group) {
    const auto ranks = static_cast<std::size_t>(judged.verdict.ranks);
    if (!group.empty() && ranks > 0 && ranks != group.size()) {
        throw InputError(
            fmt::format("the plan is for {} ranks, and --group names {} NPUs", ranks, group.size()), {},
            judged.file);
    }
}

}  // namespace

ExitCode verify_plans(const VerifyFiles& files, const VerifyOptions& options, const Process& process) {
    expect_groups_fit(files, options.plan);
    const PlanJudge judge(reading_of(options), PlanJudge::Strangers::Malformed, false);
    std::vector<JudgedPlan> judged(files.plans.size());
    const Streams& streams = process.streams;
    Streams watched = streams;
    watched.terminal_err = streams.terminal_err && !options.quiet;
    ExitCode worst = ExitCode::Done;
    const auto deliver = [&](std::size_t i) {
        const auto group = group_of(i, options.plan);
        expect_group_fits(judged[i], group);
        streams.out << (options.json ? plan_line(judged[i], group)
                                     : plan_page(judged[i], group, streams.colour_out));
        worst = std::max(worst, exit_code_of(judged[i].verdict));
        judged[i] = {};
    };
    const std::size_t delivered = [&] {
        const Heartbeat heartbeat(watched);
        return run_in_order({.count = judged.size(),
                             .threads = threads_of(options),
                             .work = [&](std::size_t i) { judged[i] = judge.judge(files.plans[i]); },
                             .deliver = deliver,
                             .stop = process.interrupted});
    }();
    if (delivered < judged.size()) {
        streams.err << fmt::format("error: interrupted before {} was judged\n", files.plans[delivered]);
        return ExitCode::Interrupted;
    }
    return worst;
}

}  // namespace tutti::cli
