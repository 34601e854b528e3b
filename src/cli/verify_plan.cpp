#include "app/plan_json.hpp"
#include "cli/heartbeat.hpp"
#include "cli/plan_comparison_text.hpp"
#include "cli/plan_cost_text.hpp"
#include "cli/plan_report.hpp"
#include "cli/verify.hpp"
#include "text/format.hpp"
#include "text/table.hpp"

#include <algorithm>

namespace tutti::cli {
namespace {

void print_together(const app::PlanCost& cost, const Topology& topology,
                    const std::vector<std::string>& files, const Talk& talk, const Streams& streams) {
    if (talk.json) {
        io::Json json{{"files", files}, {"verdict", nullptr}};
        json.update(app::json_of(cost, topology));
        streams.out.print("{}\n", io::json_line(json));
    } else {
        streams.out.print("{}\n{}", toned(Tone::Strong, "TOGETHER", streams.colour_out),
                          text::fact_sheet(facts_of(cost, topology), 2));
    }
}

}  // namespace

ExitCode verify_plans(const std::vector<std::string>& files, const app::JudgeOptions& options,
                      const std::optional<app::PlanNetwork>& network, const Talk& talk,
                      const Process& process) {
    const Streams& streams = process.streams;
    const bool together = network && options.plan.groups.size() > 1;
    const bool compares = network && !network->sizes.empty();
    ExitCode worst = ExitCode::Done;
    std::size_t printed = 0;
    app::PlanListener listener;
    listener.judged = [&](const app::JudgedPlan& judged) {
        const PlanView view{app::group_of(options.plan, printed),
                            together || !network ? nullptr : &network->topology, streams.colour_out};
        // What is right has its rows in the table.
        const bool in_table = compares && judged.verdict.acceptable();
        if (talk.json || !in_table)
            streams.out << (talk.json ? plan_line(judged, view) : plan_page(judged, view));
        worst = std::max(worst, exit_code_of(judged.verdict));
        const auto not_timed = [](const app::SizedCost& at) { return !at.cost; };
        if (!judged.not_timed.empty() || std::ranges::any_of(judged.sizes, not_timed))
            worst = std::max(worst, ExitCode::BadInput);
        ++printed;
    };
    const app::JudgedPlans plans = [&] {
        Heartbeat heartbeat(streams, talk);
        return app::judge_plans(files, options, network, heartbeat.watch(process), listener);
    }();
    if (!plans.complete) {
        streams.err.print("error: interrupted before {}\n",
                          plans.judged < files.size() ? text::input_name(files[plans.judged]) + " was judged"
                                                      : "the plans were timed together or compared");
        return ExitCode::Interrupted;
    }
    if (compares)
        streams.out << (talk.json ? comparison_line(plans, *network) : comparison_page(plans, *network));
    if (plans.together) print_together(*plans.together, network->topology, files, talk, streams);
    if (!plans.not_together.empty() && !talk.quiet)
        streams.err.print("note: not timed together, as {} is wrong\n", plans.not_together);
    return worst;
}

}  // namespace tutti::cli
