#pragma once

#include "batch/results_request.hpp"
#include "batch/schedule_output.hpp"
#include "compile/msccl_lowering.hpp"
#include "core/collective.hpp"
#include "verify/plan/plan_verifier.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tutti::cli {

using batch::ScheduleFormat;

/// What the user asked for: argv as plain data. Parsing reads no file and runs nothing.

/// `tutti --help`, `tutti help synth`, `tutti synth --help`.
struct HelpOptions {
    std::string command{};  ///< empty: the whole program
    friend bool operator==(const HelpOptions&, const HelpOptions&) = default;
};

struct VersionOptions {
    friend bool operator==(const VersionOptions&, const VersionOptions&) = default;
};

struct SynthOptions {
    std::string instance{};                  ///< a path, or "-"
    std::string output{};                    ///< a path, "-", or empty for <name>.schedule.json
    std::optional<ScheduleFormat> format{};  ///< where not given: by the output's suffix, or by size
    bool expand = false;                     ///< generator forms are written out
    std::string method = "auto";
    std::uint64_t seed = 1;
    unsigned threads = 1;
    std::optional<double> time_limit{};         ///< seconds
    std::optional<std::size_t> memory_limit{};  ///< bytes
    bool baselines = false;
    bool json = false;
    bool quiet = false;
    friend bool operator==(const SynthOptions&, const SynthOptions&) = default;
};

/// How plans of other tools are read, judged and timed.
struct PlanOptions {
    bool operand_is_destination = false;   ///< of reducing receives
    bool copies_first = false;             ///< <copy> is executed
    std::optional<CollectiveKind> goal{};  ///< whatever the file says
    std::optional<Rank> root{};
    bool strict_dependencies = false;
    bool strict_descriptors = false;
    std::optional<std::string> condition{};  ///< a path
    std::optional<plan::Target> target{};
    std::vector<std::vector<std::int32_t>> groups{};  ///< NPUs by rank: of all files, or one for each
    std::optional<std::string> topology{};
    std::optional<std::int64_t> bytes{};  ///< of the call; only with a topology
    friend bool operator==(const PlanOptions&, const PlanOptions&) = default;
};

struct VerifyOptions {
    /// An instance and its schedules, unless `instance` names it; plans of other tools; folders.
    std::vector<std::string> files{};
    std::optional<std::string> instance{};
    std::size_t max_violations = 20;
    bool expand = false;  ///< generator forms are judged send by send
    PlanOptions plan{};
    unsigned threads = 0;  ///< files at a time; 0: as many as the machine has cores
    bool json = false;
    bool quiet = false;
    friend bool operator==(const VerifyOptions&, const VerifyOptions&) = default;
};

struct TopologyOptions {
    std::string what{};  ///< a generator's kind, a JSON text, a path or "-"; empty: list the kinds
    /// Fields of the generator and of the topology, as typed; a flag without a value has "true".
    std::vector<std::pair<std::string, std::string>> fields{};
    bool links = false;
    bool json = false;
    bool quiet = false;
    friend bool operator==(const TopologyOptions&, const TopologyOptions&) = default;
};

struct BatchOptions {
    /// What the command line says of the run; a run file has what it leaves open.
    struct Asked {
        std::vector<std::string> paths{};
        std::optional<std::string> set{};  ///< a .test file
        std::vector<std::string> methods{};
        std::vector<std::uint64_t> chunks{}, seeds{};
        std::vector<std::int64_t> bytes{};
        std::optional<unsigned> threads{}, jobs{};
        std::optional<double> time_limit{};           ///< seconds, for each instance
        std::optional<std::uint64_t> memory_limit{};  ///< bytes, for each instance
        std::optional<std::pair<std::uint64_t, std::uint64_t>> shard{};
        friend bool operator==(const Asked&, const Asked&) = default;
    };
    Asked asked{};
    std::optional<std::string> run{};  ///< a run file
    std::string results{};             ///< a folder, or empty for results/<time>
    bool resume = false;
    bool retry_failed = false;
    bool update_solu = false;
    bool report = true;  ///< make report.html
    bool json = false;
    bool quiet = false;
    friend bool operator==(const BatchOptions&, const BatchOptions&) = default;
};

enum class ResultsAction { Show, Compare, Merge };

struct ResultsOptions {
    ResultsAction action = ResultsAction::Show;
    std::vector<std::string> runs{};  ///< folders, results.jsonl files or "-"
    batch::Selection selection{};     ///< show
    bool csv = false;                 ///< show
    batch::Comparing comparing{};     ///< compare
    batch::Merging merging{};         ///< merge
    std::string output{};             ///< show: where the CSV goes; empty or "-": standard output
    bool json = false;
    bool quiet = false;
    friend bool operator==(const ResultsOptions&, const ResultsOptions&) = default;
};

struct ViewOptions {
    /// A schedule and its instance, in any order, unless `instance` names it; or a folder with results.
    std::vector<std::string> files{};
    std::optional<std::string> instance{};
    std::string output{};                  ///< a path or "-"; empty: named after the schedule or the folder
    std::optional<std::uint64_t> sends{};  ///< at most so many are shown
    bool json = false;
    bool quiet = false;
    friend bool operator==(const ViewOptions&, const ViewOptions&) = default;
};

struct ParetoOptions {
    std::string instance{};  ///< a path, or "-"
    std::string output{};    ///< a folder, or empty
    std::optional<int> max_steps{}, max_chunks{}, max_rounds{}, k{};
    std::optional<std::array<int, 3>> point{};  ///< steps, rounds, chunks
    std::string backend = "auto";
    std::uint64_t seed = 1;
    unsigned threads = 1;
    std::optional<double> time_limit{};  ///< seconds
    bool json = false;
    bool quiet = false;
    friend bool operator==(const ParetoOptions&, const ParetoOptions&) = default;
};

struct BoundOptions {
    std::string instance{};              ///< a path, or "-"
    std::optional<double> time_limit{};  ///< seconds
    bool json = false;
    bool quiet = false;
    friend bool operator==(const BoundOptions&, const BoundOptions&) = default;
};

/// What a schedule can be turned into: one of ours, or a plan of somebody else's runtime.
enum class ConvertFormat { Json, Stream, MscclXml, MscclppJson, ScclJson, Chakra, Perfetto };
/// Which calls a plan shall serve.
enum class CallMode { Both, InPlace, OutOfPlace };

struct ConvertOptions {
    /// An instance and a schedule, in any order; for a folder several such pairs, and folders with results.
    std::vector<std::string> files{};
    std::string output{};  ///< a path, or "-"
    std::string folder{};  ///< instead of `output`: where plans for a runtime shall go
    ConvertFormat format = ConvertFormat::Json;
    std::optional<std::string> collective{};  ///< its id; all of them where not given
    plan::Target target = plan::Target::MscclExecutor;
    plan::Protocol protocol = plan::Protocol::Simple;
    CallMode mode = CallMode::Both;
    std::optional<std::int64_t> min_bytes{}, max_bytes{};
    bool json = false;
    bool quiet = false;
    friend bool operator==(const ConvertOptions&, const ConvertOptions&) = default;
};

enum class ModelEncoding { TimeIndexed, Symmetric, Intervals };
enum class ModelFormat { Mps, Smt2, CpSat };

struct ModelOptions {
    std::string instance{};                 ///< a path, or "-"
    std::optional<std::int64_t> horizon{};  ///< ticks; the best bound where not given
    ModelEncoding encoding = ModelEncoding::TimeIndexed;
    std::optional<ModelFormat> format{};  ///< by the output's suffix where not given
    std::string output{};                 ///< a path; "-" or empty: standard output
    bool json = false;
    bool quiet = false;
    friend bool operator==(const ModelOptions&, const ModelOptions&) = default;
};

struct DoctorOptions {
    bool require_all = false;
    bool json = false;
    bool quiet = false;
    friend bool operator==(const DoctorOptions&, const DoctorOptions&) = default;
};

using Options = std::variant<HelpOptions, VersionOptions, SynthOptions, VerifyOptions, ConvertOptions,
                             BoundOptions, TopologyOptions, BatchOptions, ResultsOptions, ViewOptions,
                             ParetoOptions, ModelOptions, DoctorOptions>;

/// `arguments` are those after the program's name. Throws InputError, with a suggestion where a name is
/// close.
[[nodiscard]] Options parse(const std::vector<std::string>& arguments);

/// The text of `tutti --help`, or of `tutti COMMAND --help`. Precondition: the command exists, or is empty.
[[nodiscard]] std::string help_text(const std::string& command);

}  // namespace tutti::cli
