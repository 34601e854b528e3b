#include "app/bench_plan.hpp"

#include "cli/heartbeat.hpp"
#include "cli/option_groups.hpp"
#include "text/format.hpp"

#include <fmt/ranges.h>
#include <boost/program_options.hpp>

#include <algorithm>
#include <utility>

namespace tutti::cli {
namespace {

app::BenchOptions bench_options(const Values& values) {
    app::BenchOptions options;
    options.files = values.list("files");
    if (options.files.empty()) values.refuse("expected at least one plan");
    options.against = static_cast<app::BenchOptions::Against>(values.choice("against", {"mpi", "memory"}));
    options.sizes = byte_sizes(values, "bytes");
    if (options.sizes.empty()) options.sizes = {4 << 10, 64 << 10, 1 << 20, 16 << 20};
    if (values.flag("dtype")) {
        options.type =
            comma_list<run::ElementType>(
                values, "dtype", fmt::format("a type ({})", fmt::join(run::element_type_names(), ", ")),
                run::element_type, run::element_type_names())
                .front();
    }
    if (values.flag("op")) {
        options.op =
            comma_list<run::Operator>(values, "op",
                                      fmt::format("an operator ({})", fmt::join(run::operator_names(), ", ")),
                                      run::reduction, run::operator_names())
                .front();
    }
    options.workers = values.number<unsigned>("threads", 0, 1, kMostThreads);
    options.rounds = values.number<std::uint32_t>("rounds", 9, 1, 10'000);
    return options;
}

/// With three digits or more.
std::string us_cell(double us) { return fmt::format("{:.{}f}", us, us < 1 ? 3 : us < 10 ? 2 : 1); }

void print_row(const app::BenchRow& row, const app::BenchOptions& options, bool first,
               const Streams& streams) {
    const bool mpi = options.against == app::BenchOptions::Against::Mpi;
    if (first) {
        streams.out.print("{:<24} {:>5} {:>12} {:>11}", "plan", "ranks", "size (B)",
                          mpi ? "MPI (us)" : "limit (us)");
        for (const app::BenchVariant& variant : row.variants)
            streams.out.print(" {:>12} {:>20}", variant.name + " (us)", mpi ? "MPI / it" : "it / limit");
        streams.out.print("{} {:>7}\n", mpi ? "" : "   ns per op", "#wrong");
    }
    streams.out.print("{:<24} {:>5} {:>12} {:>11}", text::printable(row.file), row.ranks, row.bytes,
                      us_cell(row.yardstick_us));
    for (const app::BenchVariant& variant : row.variants) {
        streams.out.print(" {:>12} {:>20}", us_cell(variant.median_us),
                          fmt::format("{:.2f} [{:.2f}-{:.2f}]", variant.ratio.median, variant.ratio.low,
                                      variant.ratio.high));
    }
    if (!mpi)
        streams.out.print(" {:>11.1f}", row.variants.front().median_us * 1000 /
                                            static_cast<double>(std::max<std::uint64_t>(row.steps, 1)));
    streams.out.print(" {:>7}\n", row.wrong);
}

ExitCode run_bench(const app::BenchOptions& options, const Talk& talk, const Process& process) {
    const Streams& streams = process.streams;
    bool first = true;
    const app::BenchResult result = [&] {
        Heartbeat heartbeat(streams, talk);
        return app::bench_plans(options, heartbeat.watch(process), [&](const app::BenchRow& row) {
            if (!talk.json) print_row(row, options, std::exchange(first, false), streams);
        });
    }();
    if (talk.json && result.is_first) streams.out.print("{}\n", io::json_line(app::json_of(result, options)));
    if (!talk.json && result.is_first)
        streams.out.print("\n{} rounds, median [quartiles]; against {}\n", options.rounds,
                          text::printable(result.yardstick));
    const bool wrong =
        std::ranges::any_of(result.rows, [](const app::BenchRow& row) { return row.wrong > 0; });
    return wrong ? ExitCode::Failed : ExitCode::Done;
}

}  // namespace

Command bench_command() {
    Command command;
    command.name = "bench";
    command.summary = "time plans beside MPI's own collectives, or beside the limit of memory";
    command.usage = "PLAN... [options]";
    command.about =
        "Times plans in paired rounds with something else that does the same, and prints the\n"
        "median and the quartiles of the ratio. Every output is checked first.\n"
        "\n"
        "--against mpi: started by mpirun with as many processes as the plan has ranks, on one\n"
        "machine. Beside MPI's collective the plan is run by both engines with arrays in shared\n"
        "memory, and with each process's own arrays, which are copied. Every rank rewrites its\n"
        "buffers before each call, and a call takes as long as its slowest process.\n"
        "--against memory: all ranks in this process beside a loop that reads every input and\n"
        "writes every output once. Only for plans of an all-reduce, whose loop this is.\n";
    command.examples =
        "tutti bench ring.xml --against memory --threads 1\n"
        "mpirun -n 4 tutti bench ring.xml --against mpi --bytes 4K:64M:4\n";
    OptionGroup calls{"Calls"};
    calls.options.add_options()                                                                       //
        ("against", text_value("WHAT"), "mpi (default) or memory")                                    //
        ("bytes", text_value("LIST"), "sizes of the call: 4K,1M or 4K:64M (default: 4K,64K,1M,16M)")  //
        ("dtype", text_value("TYPE"), "of the elements (default: f32)")                               //
        ("op", text_value("OP"), "sum (default), prod, min, max, avg")                                //
        ("rounds", text_value("N"), "of all contenders (default 9)")                                  //
        ("threads", text_value("N"), "against memory: threads that work (default: one for each core)");
    command.groups = std::vector<OptionGroup>{calls, common_options()};
    command.positional = "files";
    command.parse = parsed_by(bench_options, run_bench);
    return command;
}

}  // namespace tutti::cli
