#include "cli/run_tensor.hpp"

#include "cli/heartbeat.hpp"
#include "text/format.hpp"
#include "text/table.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tutti::cli {
namespace {

std::string milliseconds(double seconds) { return fmt::format("{:.3f}", seconds * 1e3); }

void print(const app::TensorRun& run, const app::RunTensorOptions& options, const Streams& streams) {
    std::vector<text::Table::Column> columns{{"kernel"},
                                             {"values", text::Align::Right},
                                             {"from (ms)", text::Align::Right},
                                             {"ms", text::Align::Right}};
    if (run.predicted) columns.push_back({"predicted", text::Align::Right});
    text::Table kernels(columns);
    const auto add = [&](std::vector<std::string> cells, std::optional<double> predicted) {
        if (run.predicted) cells.push_back(predicted ? milliseconds(*predicted) : "");
        kernels.add(cells);
    };
    for (const app::TensorKernel& kernel : run.kernels) {
        add({kernel.name, fmt::format("{}", kernel.values), milliseconds(kernel.begin),
             milliseconds(kernel.seconds)},
            kernel.predicted);
    }
    add({"all", "", "", milliseconds(run.seconds)}, run.predicted);
    streams.out.print("{}", kernels.text());
    if (run.calls > 1) {
        streams.out.print("median of {} calls; a quarter took less than {} ms, a quarter more than {} ms\n",
                          run.calls, milliseconds(run.quartiles[0]), milliseconds(run.quartiles[1]));
    }
    text::Table outputs({{"output"}, {"type"}, {"verdict"}});
    for (const app::TensorOutput& output : run.outputs) {
        outputs.add({output.name, output.type,
                     output.difference   ? "WRONG: " + *output.difference
                     : run.compared      ? "right"
                     : options.reference ? "not compared (too large)"
                                         : "not compared"});
    }
    streams.out.print("\n{}", outputs.text());
    if (!run.check) return;
    streams.out.print("\nin the field: {}\n",
                      run.check->difference.empty()
                          ? fmt::format("{} runs, every element right", run.check->runs)
                          : "WRONG: " + run.check->difference);
}

}  // namespace

ExitCode run_tensor_program(const app::RunTensorOptions& options, const Talk& talk, const Process& process) {
    const Streams& streams = process.streams;
    const app::TensorRun run = [&] {
        Heartbeat heartbeat(streams, talk);
        return app::run_tensor(options, heartbeat.watch(process));
    }();
    if (!run.lost.empty()) {
        streams.err.print("error: {}\n", run.lost);
        return ExitCode::Failed;
    }
    if (!run.is_first) return ExitCode::Done;  // one process of MPI prints for all
    if (talk.json) {
        streams.out.print("{}\n", io::json_line(app::json_of(run)));
    } else if (run.refused.empty()) {
        print(run, options, streams);
    }
    if (!run.not_compiled.empty() && !talk.quiet)
        streams.err.print("note: kernels are interpreted: {}\n", run.not_compiled);
    if (!run.refused.empty()) {
        streams.err.print("error: {}: not equivalent to {}, and not run: {}\n", options.schedule,
                          options.program, run.refused);
    }
    return run.wrong() ? ExitCode::Failed : ExitCode::Done;
}

}  // namespace tutti::cli
