#pragma once

#include "app/json.hpp"
#include "app/schedule_output.hpp"
#include "app/watch.hpp"
#include "core/variation.hpp"
#include "io/result_jsonl.hpp"
#include "synth/baselines.hpp"
#include "synth/synthesize.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace tutti::app {

struct SynthesisOptions {
    std::string instance{};                  ///< a path, or "-"
    Variation variation{};                   ///< in place of what the instance says
    std::string output{};                    ///< a path, "-", or empty for <name>.schedule.json
    std::optional<ScheduleFormat> format{};  ///< where not given: by the output's suffix, or by size
    bool expand = false;                     ///< generator forms are written out
    std::string method = "auto";             ///< a name of synth::methods()
    std::string heuristic{};                 ///< a name of synth::heuristics(), to be run alone; empty: all
    SearchOptions options{};
    std::uint64_t seed = 1;
    unsigned threads = 1;
    std::optional<double> time_limit{};         ///< seconds, of the search
    std::optional<std::size_t> memory_limit{};  ///< bytes
    bool baselines = false;  ///< say also what members alone, and one collective after the other, take
    friend bool operator==(const SynthesisOptions&, const SynthesisOptions&) = default;
};

struct Synthesized {
    io::ResultLine line{};  ///< what was asked and what came of it, as results.jsonl has it
    /// The instance as it was solved, where it was varied: written beside the schedule. Empty where it is
    /// what the file says, and where the schedule went to standard output.
    std::string instance_file{};
    Units units = Units::Abstract;
    std::optional<synth::Result> result{};  ///< none: the line's status says so, and its error why
    std::optional<synth::Baselines> baselines{};
};

/// Reads the instance, finds a schedule, verifies and writes it. "No schedule exists" and "none within the
/// limits" are results, not exceptions. Throws InputError (wrong input, or an output that cannot be written)
/// and BugError.
[[nodiscard]] Synthesized synthesize(const SynthesisOptions& options, const Watch& watch = {});

/// The keys of results/README.md and `certificate`; with baselines, `baselines`; of a varied instance
/// `instance_file`.
[[nodiscard]] io::Json json_of(const Synthesized& synthesized);

}  // namespace tutti::app
