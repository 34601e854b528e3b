#include "app/run_plan.hpp"

#include "cli/heartbeat.hpp"
#include "cli/option_groups.hpp"
#include "cli/plan_readings.hpp"
#include "cli/run_table.hpp"

#include <boost/program_options.hpp>

#include <algorithm>

namespace tutti::cli {
namespace {

app::RunOptions run_options(const Values& values) {
    app::RunOptions options;
    options.files = values.list("files");
    if (options.files.empty()) values.refuse("expected at least one plan");
    options.plan = plan_reading_options(values);
    options.sizes = byte_sizes(values, "bytes");
    options.counts = comma_list<std::int64_t>(values, "count", "whole numbers from 1 on with commas",
                                              whole_number<std::int64_t>(1, kMostBytes / 8));
    if (options.sizes.empty() && options.counts.empty()) options.sizes = {std::int64_t{1} << 20};
    if (values.flag("dtype")) {
        options.types = comma_list<run::ElementType>(
            values, "dtype", fmt::format("types ({})", fmt::join(run::element_type_names(), ", ")),
            run::element_type, run::element_type_names());
    }
    if (values.flag("op")) {
        options.operators = comma_list<run::Operator>(
            values, "op", fmt::format("operators ({})", fmt::join(run::operator_names(), ", ")),
            run::reduction, run::operator_names());
    }
    if (values.flag("mode")) options.in_place = values.choice("mode", {"in-place", "out-of-place"}) == 0;
    options.engine = static_cast<run::Engine>(values.choice("engine", {"pieces", "streams"}));
    options.workers = values.number<unsigned>("threads", 0, 1, kMostThreads);
    options.processes = values.number<std::uint32_t>("processes", 0, 1, 1024);
    options.private_arrays = values.flag("arrays") && values.choice("arrays", {"shared", "private"}) == 1;
    if (options.private_arrays && options.processes == 0)
        values.refuse("option --arrays: expected --processes with it, which have the arrays");
    if (options.private_arrays && options.engine != run::Engine::Pieces)
        values.refuse("option --arrays: expected --engine pieces with private arrays");
    if (options.processes > 0 && (options.workers > 0 || options.orders > 0)) {
        values.refuse("option --processes: expected neither --threads nor --orders with it");
    }
    options.piece_bytes = byte_size(values, "piece", 1).value_or(0);
    options.iterations = values.number<std::uint32_t>("iterations", 0, 1, 1'000'000);
    options.orders = values.number<std::uint32_t>("orders", 0, 1, 1'000'000);
    options.seed = values.number<std::uint64_t>("seed", 1, 0);
    options.anyway = values.flag("anyway");
    return options;
}

ExitCode run_run(const app::RunOptions& options, const Talk& talk, const Process& process) {
    const Streams& streams = process.streams;
    RunTable table(options, streams);
    const app::RunResult result = [&] {
        Heartbeat heartbeat(streams, talk);
        app::RunListener listener;
        if (!talk.json) {
            listener.row = [&](const app::RunRow& row) { table.add(row); };
            listener.refused = [&](const app::RefusedPlan& plan) { table.add(plan); };
        }
        return app::run_plans(options, heartbeat.watch(process), listener);
    }();
    if (talk.json) {
        streams.out.print("{}\n", io::json_line(app::json_of(result)));
    } else {
        table.end(result);
    }
    if (!result.lost.empty()) {
        streams.err.print("error: {}\n", result.lost);
        return ExitCode::Failed;
    }
    if (!result.complete) {
        streams.err.print("error: interrupted\n");
        return ExitCode::Interrupted;
    }
    const auto malformed = [](const app::RefusedPlan& plan) { return plan.verdict == "malformed"; };
    if (std::ranges::any_of(result.refused, malformed)) return ExitCode::BadInput;
    return result.any_wrong() || !result.refused.empty() ? ExitCode::Failed : ExitCode::Done;
}

}  // namespace

Command run_command() {
    Command command;
    command.name = "run";
    command.summary = "execute plans on real data, here, and check and time them";
    command.usage = "PLAN... [options]";
    command.about =
        "Executes plans (MSCCL XML, MSCCL++ JSON) for all their ranks on data in the memory of\n"
        "this machine, compares every element of every output with what the collective demands,\n"
        "and prints times as nccl-tests does. A plan is judged first, and not run if it is wrong.\n";
    command.examples =
        "tutti run ring.xml --bytes 1K:1G\n"
        "tutti run ring.xml tree.xml --bytes 4K:64M --dtype f32,bf16 --op sum,max\n"
        "tutti run plan.json --engine streams --count 1,17,1000003\n"
        "tutti run racy.xml --anyway --orders 100\n";
    OptionGroup calls{"Calls"};
    calls.options.add_options()  //
        ("bytes", text_value("LIST"),
         "sizes of the call, as nccl-tests counts them: 1K,1M or 1K:1G (default: 1M)")  //
        ("count", text_value("LIST"),
         "the same in elements: of a rank's share, or of the buffer where there are no shares")  //
        ("dtype", text_value("LIST"),
         "types of the elements: f16, bf16, f32 (default), f64, i8, u8, i32, i64, u64")                    //
        ("op", text_value("LIST"), "sum (default), prod, min, max, avg")                                   //
        ("mode", text_value("MODE"), "in-place or out-of-place (default: all that the plan can do)")       //
        ("iterations", text_value("N"), "calls that are timed (default: as many as fit in 0.3 s)")         //
        ("anyway", flag(), "run plans, too, that are wrong or of which nobody knows what they should do")  //
        ("orders", text_value("N"),
         "do not time: run in N random orders of those that the plan allows, which shows what a race does")  //
        ("seed", text_value("N"), "of the data and of the orders (default 1)");
    OptionGroup engine{"How"};
    engine.options.add_options()  //
        ("engine", text_value("NAME"),
         "pieces (default): all ranks in one order, part of the elements after part, the fastest where "
         "memory is "
         "shared; streams: each thread block by itself, as on GPUs")                    //
        ("threads", text_value("N"), "threads that work (default: one for each core)")  //
        ("processes", text_value("N"),
         "run in N new processes, each with one or more of the ranks, that share memory")  //
        ("arrays", text_value("WHERE"),
         "of processes: shared (default): in the memory that they share; private: each rank's process has "
         "its own, and they are copied piece by piece")  //
        ("piece", text_value("BYTES"),
         "how much of each chunk is worked on at a time (default: what suits the caches)");
    command.groups = std::vector<OptionGroup>{calls, engine, plan_readings(), common_options()};
    command.positional = "files";
    command.parse = parsed_by(run_options, run_run);
    return command;
}

}  // namespace tutti::cli
