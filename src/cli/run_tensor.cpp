#include "cli/run_tensor.hpp"

#include "cli/heartbeat.hpp"
#include "text/format.hpp"
#include "text/table.hpp"

#include <fmt/format.h>

namespace tutti::cli {
namespace {

std::string milliseconds(double seconds) { return fmt::format("{:.3f}", seconds * 1e3); }

void print(const app::TensorRun& run, const Streams& streams) {
    text::Table kernels({{"kernel"}, {"values", text::Align::Right}, {"ms", text::Align::Right}});
    for (const app::TensorKernel& kernel : run.kernels)
        kernels.add({kernel.name, fmt::format("{}", kernel.values), milliseconds(kernel.seconds)});
    kernels.add({"all", "", milliseconds(run.seconds)});
    streams.out.print("{}", kernels.text());
    text::Table outputs({{"output"}, {"type"}, {"verdict"}});
    for (const app::TensorOutput& output : run.outputs) {
        outputs.add({output.name, output.type,
                     output.difference ? "WRONG: " + *output.difference
                     : run.compared    ? "right"
                                       : "not compared (too large)"});
    }
    streams.out.print("\n{}", outputs.text());
}

}  // namespace

ExitCode run_tensor_program(const app::RunTensorOptions& options, const Talk& talk, const Process& process) {
    const Streams& streams = process.streams;
    const app::TensorRun run = [&] {
        Heartbeat heartbeat(streams, talk);
        return app::run_tensor(options, heartbeat.watch(process));
    }();
    if (talk.json) {
        streams.out.print("{}\n", io::json_line(app::json_of(run)));
    } else if (run.refused.empty()) {
        print(run, streams);
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
