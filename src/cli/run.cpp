#include "cli/run.hpp"

#include "cli/version.hpp"

namespace tutti::cli {
namespace {

struct Runner {
    const Process& process;

    ExitCode operator()(const HelpOptions& options) const {
        process.streams.out << help_text(options.command);
        return ExitCode::Done;
    }
    ExitCode operator()(const VersionOptions&) const {
        process.streams.out << "tutti " << version() << '\n';
        return ExitCode::Done;
    }
    ExitCode operator()(const SynthOptions& options) const { return run_synth(options, process); }
    ExitCode operator()(const VerifyOptions& options) const { return run_verify(options, process); }
    ExitCode operator()(const ConvertOptions& options) const { return run_convert(options, process); }
    ExitCode operator()(const BoundOptions& options) const { return run_bound(options, process); }
    ExitCode operator()(const TopologyOptions& options) const { return run_topology(options, process); }
    ExitCode operator()(const BatchOptions& options) const { return run_batch(options, process); }
    ExitCode operator()(const ResultsOptions& options) const { return run_results(options, process); }
    ExitCode operator()(const ViewOptions& options) const { return run_view(options, process); }
    ExitCode operator()(const ParetoOptions& options) const { return run_pareto(options, process); }
    ExitCode operator()(const ModelOptions& options) const { return run_model(options, process); }
    ExitCode operator()(const DoctorOptions& options) const { return run_doctor(options, process); }
};

}  // namespace

ExitCode run(const Options& options, const Process& process) { return std::visit(Runner{process}, options); }

}  // namespace tutti::cli
