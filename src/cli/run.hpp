#pragma once

#include "cli/exit_code.hpp"
#include "cli/options.hpp"
#include "cli/streams.hpp"

#include <atomic>

namespace tutti::cli {

/// What commands need of the process besides their options.
struct Process {
    Streams streams;
    const std::atomic<bool>* interrupted = nullptr;  ///< raised by Ctrl-C; may be null
};

/// Each runs one command to its exit code. What cannot be done at all is thrown: see failure.hpp.
[[nodiscard]] ExitCode run_synth(const SynthOptions& options, const Process& process);
[[nodiscard]] ExitCode run_verify(const VerifyOptions& options, const Process& process);
[[nodiscard]] ExitCode run_convert(const ConvertOptions& options, const Process& process);
[[nodiscard]] ExitCode run_bound(const BoundOptions& options, const Process& process);
[[nodiscard]] ExitCode run_topology(const TopologyOptions& options, const Process& process);
[[nodiscard]] ExitCode run_batch(const BatchOptions& options, const Process& process);
[[nodiscard]] ExitCode run_results(const ResultsOptions& options, const Process& process);
[[nodiscard]] ExitCode run_view(const ViewOptions& options, const Process& process);
[[nodiscard]] ExitCode run_pareto(const ParetoOptions& options, const Process& process);
[[nodiscard]] ExitCode run_model(const ModelOptions& options, const Process& process);
[[nodiscard]] ExitCode run_doctor(const DoctorOptions& options, const Process& process);

/// Whichever it is; help and version too.
[[nodiscard]] ExitCode run(const Options& options, const Process& process);

}  // namespace tutti::cli
