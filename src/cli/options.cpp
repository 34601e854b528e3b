#include "cli/options.hpp"

#include "batch/run_file.hpp"
#include "cli/commands.hpp"
#include "core/error.hpp"
#include "io/json_view.hpp"
#include "models/backends/registry.hpp"
#include "synth/synthesize.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <boost/program_options.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>

namespace tutti::cli {
namespace {

namespace po = boost::program_options;

using Names = std::vector<std::string_view>;

[[noreturn]] void fail(const std::string& message, std::string_view command) {
    throw InputError(
        fmt::format("{} (see 'tutti{}{} --help')", message, command.empty() ? "" : " ", command));
}

std::string suggestion(std::string_view name, const Names& names) {
    const auto guess = io::nearest(name, names);
    return guess ? fmt::format("; did you mean '{}'?", *guess) : "";
}

/// The values of a command's options, and questions about them that either answer or complain.
class Values {
  public:
    Values(const Command& command, po::variables_map map) : command_(command.name), map_(std::move(map)) {}

    [[nodiscard]] bool flag(const char* name) const { return map_.count(name) > 0; }

    [[nodiscard]] std::optional<std::string> text(const char* name) const {
        if (!flag(name)) return std::nullopt;
        std::string value = list(name).back();
        if (value.empty()) fail(fmt::format("option --{} has an empty value", name), command_);
        return value;
    }

    [[nodiscard]] std::vector<std::string> list(const char* name) const {
        return flag(name) ? map_[name].as<std::vector<std::string>>() : std::vector<std::string>();
    }

    template <class Number>
    [[nodiscard]] Number number(const char* name, Number otherwise, Number least,
                                Number most = std::numeric_limits<Number>::max()) const {
        const auto value = text(name);
        if (!value) return otherwise;
        Number result{};
        const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), result);
        if (error != std::errc() || end != value->data() + value->size() || result < least || result > most) {
            fail(fmt::format("option --{}: expected a whole number from {} to {}, found '{}'", name, least,
                             most, *value),
                 command_);
        }
        return result;
    }

    [[nodiscard]] std::optional<double> seconds(const char* name) const {
        const auto value = text(name);
        if (!value) return std::nullopt;
        double result = 0;
        const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), result);
        if (error != std::errc() || end != value->data() + value->size() || !std::isfinite(result) ||
            result <= 0) {
            fail(fmt::format("option --{}: expected a positive number of seconds, found '{}'", name, *value),
                 command_);
        }
        return result;
    }

    /// Given in megabytes, as people think of memory.
    [[nodiscard]] std::optional<std::size_t> megabytes(const char* name) const {
        if (!flag(name)) return std::nullopt;
        return number<std::size_t>(name, 1, 1, std::size_t{1} << 40) * 1'000'000;
    }

    [[nodiscard]] std::size_t choice(const char* name, const Names& choices) const {
        const std::string value = text(name).value_or(std::string(choices.front()));
        const auto found = std::ranges::find(choices, value);
        if (found == choices.end()) {
            fail(fmt::format("option --{}: expected {}, found '{}'{}", name, fmt::join(choices, " or "),
                             value, suggestion(value, choices)),
                 command_);
        }
        return static_cast<std::size_t>(found - choices.begin());
    }

    [[nodiscard]] std::optional<ScheduleFormat> schedule_format(const char* name) const {
        if (!flag(name)) return std::nullopt;
        return choice(name, {"json", "stream"}) == 0 ? ScheduleFormat::Json : ScheduleFormat::Stream;
    }

    [[nodiscard]] std::string method() const {
        Names names;
        for (const synth::Method& method : synth::methods()) names.push_back(method.name);
        return std::string(names[choice("method", names)]);
    }

    [[nodiscard]] std::string one_positional(const char* name, std::string_view what) const {
        const auto all = list(name);
        if (all.empty()) fail(fmt::format("expected {}", what), command_);
        if (all.size() > 1)
            fail(fmt::format("expected one argument, {}; found also '{}'", what, all[1]), command_);
        return all.front();
    }

    [[noreturn]] void refuse(const std::string& message) const { fail(message, command_); }

  private:
    std::string_view command_;
    po::variables_map map_;
};

constexpr unsigned kMostThreads = 1024;
/// Of steps, rounds and chunks: far beyond what can be solved, far from what could overflow.
constexpr int kMostParetoSize = 10'000;
/// Of a horizon, in ticks.
constexpr std::int64_t kMostHorizon = std::int64_t{1} << 53;

SynthOptions synth_options(const Values& values) {
    SynthOptions options;
    options.instance = values.one_positional("instance", "an instance file, or - for standard input");
    options.output = values.text("output").value_or("");
    options.format = values.schedule_format("format");
    options.expand = values.flag("expand");
    options.method = values.method();
    options.seed = values.number<std::uint64_t>("seed", 1, 0);
    options.threads = values.number<unsigned>("threads", 1, 1, kMostThreads);
    options.time_limit = values.seconds("time-limit");
    options.memory_limit = values.megabytes("memory-limit");
    options.baselines = values.flag("baselines");
    options.json = values.flag("json");
    options.quiet = values.flag("quiet");
    if (options.json && options.output == "-") {
        values.refuse("--json and --output - both want standard output; give one of them a file");
    }
    return options;
}

/// "8388608", or as nccl-tests has it "8M": K, M and G are powers of 1024.
std::optional<std::int64_t> byte_size(const Values& values, const char* name, std::int64_t least) {
    constexpr std::int64_t kMost = std::int64_t{1} << 50;
    const auto text = values.text(name);
    if (!text) return std::nullopt;
    std::int64_t bytes = -1;
    const char* const last = text->data() + text->size();
    const auto [stop, error] = std::from_chars(text->data(), last, bytes);
    const std::string_view suffix(stop, last);
    const std::size_t power = suffix.empty() ? 0 : std::string_view("KMG").find(suffix) + 1;
    const bool known = suffix.empty() || (suffix.size() == 1 && power > 0);
    const int shift = static_cast<int>(10 * power);
    if (error != std::errc() || !known || bytes < least || bytes > kMost >> shift) {
        values.refuse(fmt::format(
            "option --{}: expected a number of bytes like 1048576 or 1M (at most 2^50), found '{}'", name,
            *text));
    }
    return bytes << shift;
}

/// "0,8,16,24": different NPUs, by rank.
std::vector<std::int32_t> group_in(const std::string& text, const Values& values) {
    std::vector<std::int32_t> group;
    const char* const last = text.data() + text.size();
    for (const char* at = text.data();; ++at) {
        std::int32_t npu = -1;
        const auto [stop, error] = std::from_chars(at, last, npu);
        const bool fine = error == std::errc() && npu >= 0 && (stop == last || *stop == ',');
        if (!fine || std::ranges::find(group, npu) != group.end()) {
            values.refuse(fmt::format(
                "option --group: expected different NPUs by rank, like 0,8,16,24; found '{}'", text));
        }
        group.push_back(npu);
        if (stop == last) return group;
        at = stop;
    }
}

PlanOptions plan_options(const Values& values) {
    PlanOptions options;
    options.operand_is_destination = values.choice("operand", {"src", "dst"}) == 1;
    options.copies_first = values.choice("copy", {"ignore", "first"}) == 1;
    if (const auto name = values.text("as")) {
        options.goal = plan::goal_of(*name);
        if (!options.goal) (void)values.choice("as", plan::goal_names());
    }
    if (values.flag("root")) options.root = values.number<std::int32_t>("root", 0, 0);
    options.strict_dependencies = values.flag("strict-dependencies");
    options.strict_descriptors = values.flag("strict-descriptors");
    options.condition = values.text("condition");
    if (values.flag("target")) {
        using verify::Target;
        constexpr std::array kTargets{Target::Msccl, Target::MscclExecutor, Target::Rccl, Target::Mscclpp};
        options.target = kTargets[values.choice("target", {"msccl", "msccl-executor", "rccl", "mscclpp"})];
    }
    for (const std::string& group : values.list("group")) options.groups.push_back(group_in(group, values));
    options.topology = values.text("topology");
    options.bytes = byte_size(values, "bytes", 1);
    if (options.bytes && !options.topology)
        values.refuse("--bytes is the size of a call on a network; expected --topology FILE too");
    if (options.condition && options.goal)
        values.refuse("--as and --condition both say what a plan is for; expected one of them");
    return options;
}

VerifyOptions verify_options(const Values& values) {
    VerifyOptions options;
    options.files = values.list("files");
    options.instance = values.text("instance");
    options.max_violations = values.number<std::size_t>("max-violations", 20, 1);
    options.expand = values.flag("expand");
    options.plan = plan_options(values);
    options.threads = values.number<unsigned>("threads", 0, 1, kMostThreads);
    options.json = values.flag("json");
    options.quiet = values.flag("quiet");
    if (options.files.empty())
        values.refuse("expected a plan, a folder, or an instance and at least one schedule");
    const auto inputs = std::ranges::count(options.files, "-") + (options.instance == "-" ? 1 : 0) +
                        (options.plan.condition == "-" ? 1 : 0) + (options.plan.topology == "-" ? 1 : 0);
    if (inputs > 1) values.refuse("only one file can be standard input (-)");
    return options;
}

ConvertFormat convert_format(const Values& values, const ConvertOptions& options) {
    if (values.flag("to")) {
        return static_cast<ConvertFormat>(values.choice(
            "to", {"json", "stream", "msccl-xml", "mscclpp-json", "sccl-json", "chakra", "perfetto"}));
    }
    if (!options.folder.empty() || options.output.ends_with(".xml")) return ConvertFormat::MscclXml;
    return options.output.ends_with(io::kStreamSuffix) ? ConvertFormat::Stream : ConvertFormat::Json;
}

/// Options that mean nothing for the format are refused: who gives one expects it to count.
void check_convert_format(const Values& values, const ConvertOptions& options) {
    const bool is_msccl = options.format == ConvertFormat::MscclXml;
    for (const char* name : {"target", "protocol", "directory"}) {
        if (values.flag(name) && !is_msccl) values.refuse(fmt::format("--{} is for --to msccl-xml", name));
    }
    const bool is_mscclpp = options.format == ConvertFormat::MscclppJson;
    for (const char* name : {"mode", "min-bytes", "max-bytes", "collective"}) {
        if (values.flag(name) && !is_msccl && !is_mscclpp) {
            values.refuse(fmt::format("--{} is for --to msccl-xml and --to mscclpp-json", name));
        }
    }
    if (options.format == ConvertFormat::Chakra && options.output == "-") {
        values.refuse("a Chakra trace is a file for each NPU; expected --output PREFIX");
    }
    const bool wrong_range = options.min_bytes && options.max_bytes && *options.max_bytes != 0 &&
                             *options.min_bytes > *options.max_bytes;
    if (wrong_range) values.refuse("--min-bytes is above --max-bytes");
}

ConvertOptions convert_options(const Values& values) {
    ConvertOptions options;
    options.files = values.list("files");
    options.output = values.text("output").value_or("");
    options.folder = values.text("directory").value_or("");
    options.format = convert_format(values, options);
    options.collective = values.text("collective");
    if (values.flag("target")) {
        options.target =
            static_cast<compile::MscclTarget>(values.choice("target", compile::msccl_target_names()));
    }
    options.protocol = static_cast<plan::Protocol>(values.choice("protocol", {"Simple", "LL", "LL128"}));
    options.mode = static_cast<CallMode>(values.choice("mode", {"both", "in-place", "out-of-place"}));
    options.min_bytes = byte_size(values, "min-bytes", 0);
    options.max_bytes = byte_size(values, "max-bytes", 0);
    options.json = values.flag("json");
    options.quiet = values.flag("quiet");
    if (options.folder.empty()) {
        if (options.files.size() != 2) values.refuse("expected an instance and a schedule");
        if (options.output.empty()) values.refuse("expected --output FILE, where the schedule shall go");
    } else {
        if (options.files.empty()) {
            values.refuse("expected instances, each with its schedule, or a folder with results");
        }
        if (!options.output.empty()) values.refuse("expected one of --output and --directory");
    }
    if (std::ranges::count(options.files, "-") > 1) values.refuse("only one file can be standard input (-)");
    if (options.json && options.output == "-") {
        values.refuse("--json and --output - both want standard output; give one of them a file");
    }
    check_convert_format(values, options);
    return options;
}

/// Options that the table does not list, with their values. The last one counts here too.
std::vector<std::pair<std::string, std::string>> free_fields(const po::parsed_options& parsed,
                                                             std::string_view command) {
    std::vector<std::pair<std::string, std::string>> fields;
    for (const po::option& option : parsed.options) {
        if (!option.unregistered) continue;
        const std::string& typed = option.original_tokens.front();
        if (!typed.starts_with("--") || typed.size() < 3)
            fail(fmt::format("unknown option '{}'", typed), command);
        std::string name = typed.substr(2, typed.find('=') - 2);
        std::ranges::replace(name, '-', '_');
        std::erase_if(fields, [&](const auto& field) { return field.first == name; });
        fields.emplace_back(std::move(name), option.value.empty() ? "true" : option.value.front());
    }
    return fields;
}

TopologyOptions topology_options(const Values& values, const po::parsed_options& parsed) {
    TopologyOptions options;
    options.fields = free_fields(parsed, "topology");
    if (!values.list("what").empty()) {
        options.what = values.one_positional("what", "a generator's kind, a file or a JSON text");
    }
    options.links = values.flag("links");
    options.json = values.flag("json");
    options.quiet = values.flag("quiet");
    if (options.what.empty() && !options.fields.empty()) {
        values.refuse(
            fmt::format("option --{} needs a generator's kind before it", options.fields.front().first));
    }
    if (options.json && options.links) values.refuse("--links is for people; --json already lists the links");
    return options;
}

/// "1,2,4": what stands between the commas, each read by `read`.
template <class T>
std::vector<T> comma_list(const Values& values, const char* name, std::string_view expected,
                          const std::function<std::optional<T>(std::string_view)>& read) {
    std::vector<T> list;
    const auto text = values.text(name);
    if (!text) return list;
    for (std::size_t begin = 0; begin <= text->size();) {
        const std::size_t end = std::min(text->find(',', begin), text->size());
        const std::string item = text->substr(begin, end - begin);
        const auto value = read(item);
        if (!value) values.refuse(fmt::format("option --{}: expected {}, found '{}'", name, expected, item));
        list.push_back(*value);
        begin = end + 1;
    }
    return list;
}

template <class Number>
std::function<std::optional<Number>(std::string_view)> whole_number(Number least, Number most) {
    return [least, most](std::string_view text) -> std::optional<Number> {
        Number value{};
        const char* const last = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data(), last, value);
        if (error != std::errc() || stop != last || value < least || value > most) return std::nullopt;
        return value;
    };
}

/// --seeds, or --seed as other commands have it.
std::vector<std::uint64_t> seeds_of(const Values& values) {
    if (values.flag("seed") && values.flag("seeds"))
        values.refuse("--seed and --seeds say the same; expected one of them");
    constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
    return comma_list<std::uint64_t>(values, values.flag("seed") ? "seed" : "seeds",
                                     fmt::format("whole numbers from 0 to {}, like 1,2,3", kMost),
                                     whole_number<std::uint64_t>(0, kMost));
}

std::vector<std::string> methods_of(const Values& values) {
    Names names;
    for (const synth::Method& method : synth::methods()) names.push_back(method.name);
    return comma_list<std::string>(values, "method", fmt::format("{}", fmt::join(names, " or ")),
                                   [&](std::string_view text) -> std::optional<std::string> {
                                       if (std::ranges::find(names, text) == names.end()) return std::nullopt;
                                       return std::string(text);
                                   });
}

/// Megabytes, as `synth` has it, or with a letter: "4G".
std::optional<std::uint64_t> memory_of(const Values& values) {
    const auto text = values.text("memory-limit");
    if (!text) return std::nullopt;
    if (const auto size = batch::size_in(*text);
        size && !std::isdigit(static_cast<unsigned char>(text->back())))
        return static_cast<std::uint64_t>(std::max<std::int64_t>(*size, 1));
    return values.megabytes("memory-limit");
}

BatchOptions::Asked asked_of(const Values& values) {
    BatchOptions::Asked asked;
    asked.paths = values.list("paths");
    asked.set = values.text("set");
    asked.methods = methods_of(values);
    constexpr std::uint64_t kMostChunks = std::uint64_t{1} << 26;
    asked.chunks = comma_list<std::uint64_t>(
        values, "chunks", fmt::format("whole numbers from 1 to {}, like 1,2,4", kMostChunks),
        whole_number<std::uint64_t>(1, kMostChunks));
    asked.bytes = comma_list<std::int64_t>(
        values, "bytes", "numbers of bytes like 1048576 or 1M (at most 2^50)", [](std::string_view text) {
            auto size = batch::size_in(text);
            return size && *size >= 1 ? size : std::nullopt;
        });
    asked.seeds = seeds_of(values);
    if (values.flag("threads")) asked.threads = values.number<unsigned>("threads", 1, 1, kMostThreads);
    if (values.flag("jobs")) asked.jobs = values.number<unsigned>("jobs", 1, 1, kMostThreads);
    asked.time_limit = values.seconds("time-limit");
    asked.memory_limit = memory_of(values);
    if (const auto text = values.text("shard")) {
        const auto shard = batch::shard_in(*text);
        if (!shard)
            values.refuse(
                fmt::format("option --shard: expected a part of the run, like 1/8, found '{}'", *text));
        asked.shard = {shard->part, shard->of};
    }
    return asked;
}

BatchOptions batch_options(const Values& values) {
    BatchOptions options;
    options.asked = asked_of(values);
    options.run = values.text("run");
    if (values.flag("results") && values.flag("output"))
        values.refuse("--results is the old name of --output; expected one of them");
    options.results = values.text(values.flag("results") ? "results" : "output").value_or("");
    options.resume = values.flag("resume") || values.flag("retry-failed");
    options.retry_failed = values.flag("retry-failed");
    options.update_solu = values.flag("update-solu");
    options.report = !values.flag("no-report");
    options.json = values.flag("json");
    options.quiet = values.flag("quiet");
    if (options.resume && options.results.empty())
        values.refuse("--resume goes on with the results of a folder; expected --output DIR too");
    const bool nothing = options.asked.paths.empty() && !options.asked.set && !options.run && !options.resume;
    if (nothing) {
        values.refuse("expected folders or files with instances, --set FILE.test or --run FILE.json");
    }
    return options;
}

/// A number of at least 0, like 0.01.
std::optional<double> fraction(const Values& values, const char* name) {
    const auto text = values.text(name);
    if (!text) return std::nullopt;
    double result = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), result);
    if (error != std::errc() || end != text->data() + text->size() || !std::isfinite(result) || result < 0) {
        values.refuse(fmt::format("option --{}: expected a fraction like 0.01, found '{}'", name, *text));
    }
    return result;
}

/// Options that mean nothing for the action are refused: who gives one expects it to count.
void check_results_action(const Values& values, ResultsAction action) {
    struct Owned {
        const char* option;
        ResultsAction action;
    };
    using enum ResultsAction;
    constexpr std::array kOwned{Owned{"sort", Show},         Owned{"reverse", Show},
                                Owned{"filter", Show},       Owned{"failed", Show},
                                Owned{"csv", Show},          Owned{"by", Compare},
                                Owned{"tolerance", Compare}, Owned{"time-tolerance", Compare},
                                Owned{"prefer-last", Merge}, Owned{"force", Merge}};
    constexpr std::array<std::string_view, 3> kNames{"show", "compare", "merge"};
    for (const Owned& owned : kOwned) {
        if (values.flag(owned.option) && owned.action != action) {
            values.refuse(fmt::format("--{} is for tutti results {}", owned.option,
                                      kNames[static_cast<std::size_t>(owned.action)]));
        }
    }
}

batch::Selection selection_of(const Values& values) {
    batch::Selection selection;
    selection.reverse = values.flag("reverse");
    selection.filter = values.text("filter").value_or("");
    selection.failed = values.flag("failed");
    if (auto sort = values.text("sort")) {
        if (sort->starts_with('-')) {
            selection.reverse = !selection.reverse;
            sort->erase(0, 1);
        }
        const Names names{"label", "gap", "seconds", "makespan", "memory", "busbw"};
        const auto found = std::ranges::find(names, *sort);
        if (found == names.end()) {
            values.refuse(fmt::format("option --sort: expected {}, found '{}'{}", fmt::join(names, " or "),
                                      *sort, suggestion(*sort, names)));
        }
        selection.sort = static_cast<batch::SortBy>(found - names.begin());
    }
    return selection;
}

ResultsOptions results_options(const Values& values) {
    ResultsOptions options;
    options.runs = values.list("runs");
    const Names actions{"show", "compare", "merge"};
    if (options.runs.empty()) values.refuse("expected show, compare or merge, and then results");
    const auto action = std::ranges::find(actions, options.runs.front());
    if (action == actions.end()) {
        values.refuse(fmt::format("expected show, compare or merge, found '{}'{}", options.runs.front(),
                                  suggestion(options.runs.front(), actions)));
    }
    options.action = static_cast<ResultsAction>(action - actions.begin());
    options.runs.erase(options.runs.begin());
    check_results_action(values, options.action);
    options.selection = selection_of(values);
    options.csv = values.flag("csv");
    options.comparing.by_label = values.choice("by", {"key", "label"}) == 1;
    options.comparing.tolerance = fraction(values, "tolerance").value_or(0);
    options.comparing.time_tolerance = fraction(values, "time-tolerance");
    options.merging.prefer_last = values.flag("prefer-last");
    options.merging.force = values.flag("force");
    const std::string output = values.text("output").value_or("");
    (options.action == ResultsAction::Merge ? options.merging.output : options.output) = output;
    options.json = values.flag("json");
    options.quiet = values.flag("quiet");
    if (options.runs.empty()) values.refuse("expected a results folder, or a results.jsonl");
    if (std::ranges::count(options.runs, "-") > 1) values.refuse("only one file can be standard input (-)");
    if (options.action == ResultsAction::Compare && options.runs.size() != 2)
        values.refuse(fmt::format("expected two runs to compare, found {}", options.runs.size()));
    if (options.action == ResultsAction::Merge && output.empty())
        values.refuse("expected --output NAME, the folder of the merged results");
    if (options.action != ResultsAction::Merge && !output.empty() && !options.csv)
        values.refuse("--output is for --csv and for tutti results merge");
    if (options.csv && options.json) values.refuse("expected one of --csv and --json");
    return options;
}

ViewOptions view_options(const Values& values) {
    /// Far beyond what a browser can hold.
    constexpr std::uint64_t kMostSends = 10'000'000;
    ViewOptions options;
    options.files = values.list("files");
    options.output = values.text("output").value_or("");
    if (values.flag("sends")) options.sends = values.number<std::uint64_t>("sends", 1, 1, kMostSends);
    options.json = values.flag("json");
    options.quiet = values.flag("quiet");
    options.instance = values.text("instance");
    if (options.files.empty() || options.files.size() > (options.instance ? 1 : 2)) {
        values.refuse("expected a schedule and its instance, or a folder with results");
    }
    const auto inputs = std::ranges::count(options.files, "-") + (options.instance == "-" ? 1 : 0);
    if (inputs > 1) values.refuse("only one file can be standard input (-)");
    if (options.json && options.output == "-") {
        values.refuse("--json and --output - both want standard output; give one of them a file");
    }
    return options;
}

/// "S,R,C": three whole numbers of at least 1.
std::optional<std::array<int, 3>> point_of(const Values& values) {
    const auto text = values.text("point");
    if (!text) return std::nullopt;
    std::array<int, 3> point{};
    const char* at = text->data();
    const char* const end = at + text->size();
    for (std::size_t i = 0; i < point.size(); ++i) {
        const auto [stop, error] = std::from_chars(at, end, point[i]);
        const bool ends_well = i + 1 < point.size() ? stop != end && *stop == ',' : stop == end;
        if (error != std::errc() || point[i] < 1 || point[i] > kMostParetoSize || !ends_well) {
            values.refuse(
                fmt::format("option --point: expected steps,rounds,chunks, each from 1 to {}, found '{}'",
                            kMostParetoSize, *text));
        }
        at = stop + 1;
    }
    return point;
}

ParetoOptions pareto_options(const Values& values) {
    ParetoOptions options;
    options.instance = values.one_positional("instance", "an instance file, or - for standard input");
    options.output = values.text("output").value_or("");
    const auto limit = [&](const char* name, int least) -> std::optional<int> {
        if (!values.flag(name)) return std::nullopt;
        return values.number<int>(name, least, least, kMostParetoSize);
    };
    options.max_steps = limit("max-steps", 1);
    options.max_chunks = limit("max-chunks", 1);
    options.max_rounds = limit("max-rounds", 1);
    options.k = limit("k", 0);
    options.point = point_of(values);
    if (options.point && (options.max_steps || options.max_chunks || options.max_rounds || options.k)) {
        values.refuse("--point asks about one point; limits of the walk have no meaning beside it");
    }
    Names backends{"auto"};
    for (const models::BackendEntry& entry : models::backends()) backends.push_back(entry.name);
    options.backend = std::string(backends[values.choice("backend", backends)]);
    options.seed = values.number<std::uint64_t>("seed", 1, 0);
    options.threads = values.number<unsigned>("threads", 1, 1, kMostThreads);
    options.time_limit = values.seconds("time-limit");
    options.json = values.flag("json");
    options.quiet = values.flag("quiet");
    return options;
}

BoundOptions bound_options(const Values& values) {
    BoundOptions options;
    options.instance = values.one_positional("instance", "an instance file, or - for standard input");
    options.time_limit = values.seconds("time-limit");
    options.json = values.flag("json");
    options.quiet = values.flag("quiet");
    return options;
}

ModelOptions model_options(const Values& values) {
    ModelOptions options;
    options.instance = values.one_positional("instance", "an instance file, or - for standard input");
    if (values.flag("horizon")) options.horizon = values.number<std::int64_t>("horizon", 0, 0, kMostHorizon);
    options.encoding =
        static_cast<ModelEncoding>(values.choice("encoding", {"time-indexed", "symmetric", "intervals"}));
    if (values.flag("format")) {
        options.format = static_cast<ModelFormat>(values.choice("format", {"mps", "smt2", "cpsat"}));
    }
    options.output = values.text("output").value_or("");
    options.json = values.flag("json");
    options.quiet = values.flag("quiet");
    if (options.json && (options.output.empty() || options.output == "-")) {
        values.refuse("--json and the model both want standard output; give the model a file with --output");
    }
    return options;
}

DoctorOptions doctor_options(const Values& values) {
    return {values.flag("require-all"), values.flag("json"), values.flag("quiet")};
}

/// Gives an unlisted option its value: the token after it, unless that is an option itself. boost would leave
/// the token among the arguments without dashes.
std::vector<std::string> with_values_attached(const Command& command, std::vector<std::string> arguments) {
    const auto listed = command.option_names();
    std::vector<std::string> result;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        std::string& argument = arguments[i];
        const bool is_field = argument.starts_with("--") && argument.size() > 2 &&
                              argument.find('=') == argument.npos &&
                              std::ranges::find(listed, argument) == listed.end();
        if (is_field && i + 1 < arguments.size() && !arguments[i + 1].starts_with("--")) {
            argument += "=" + arguments[++i];
        }
        result.push_back(std::move(argument));
    }
    return result;
}

/// All options of a command, and its arguments without dashes as one more. What is parsed refers to this.
po::options_description accepted_by(const Command& command) {
    po::options_description all;
    for (const OptionGroup& group : command.groups) all.add(group.options);
    if (!command.positional.empty()) {
        all.add_options()(std::string(command.positional).c_str(), po::value<std::vector<std::string>>());
    }
    return all;
}

po::parsed_options parse_command_line(const Command& command, const po::options_description& accepted,
                                      const std::vector<std::string>& arguments) {
    po::positional_options_description positions;
    if (!command.positional.empty()) positions.add(std::string(command.positional).c_str(), -1);
    po::command_line_parser parser(command.free_options ? with_values_attached(command, arguments)
                                                        : arguments);
    parser.options(accepted).positional(positions);
    parser.style(po::command_line_style::unix_style & ~po::command_line_style::allow_guessing);
    if (command.free_options) parser.allow_unregistered();
    return parser.run();
}

/// The same, with boost's complaints in our words.
po::parsed_options parsed_or_explained(const Command& command, const po::options_description& accepted,
                                       const std::vector<std::string>& arguments) {
    try {
        return parse_command_line(command, accepted, arguments);
    } catch (const po::unknown_option& error) {
        const auto names = command.option_names();
        const std::string name = error.get_option_name();
        fail(fmt::format("unknown option '{}'{}", name, suggestion(name, Names(names.begin(), names.end()))),
             command.name);
    } catch (const po::too_many_positional_options_error&) {
        fail("expected no arguments besides options", command.name);
    } catch (const po::error_with_option_name& error) {
        if (dynamic_cast<const po::invalid_command_line_syntax*>(&error) == nullptr) {
            fail(error.what(), command.name);
        }
        const auto kind = dynamic_cast<const po::invalid_command_line_syntax&>(error).kind();
        const bool missing = kind == po::invalid_syntax::missing_parameter;
        fail(fmt::format("option '{}' {}", error.get_option_name(),
                         missing ? "needs a value" : "takes no value"),
             command.name);
    } catch (const po::error& error) {
        fail(error.what(), command.name);
    }
}

Values values_of(const Command& command, const po::parsed_options& parsed) {
    po::variables_map map;
    po::store(parsed, map);
    return {command, std::move(map)};
}

Options command_options(const Command& command, const std::vector<std::string>& arguments) {
    const po::options_description accepted = accepted_by(command);
    const po::parsed_options parsed = parsed_or_explained(command, accepted, arguments);
    const Values values = values_of(command, parsed);
    if (values.flag("help")) return HelpOptions{std::string(command.name)};
    if (command.name == "synth") return synth_options(values);
    if (command.name == "verify") return verify_options(values);
    if (command.name == "convert") return convert_options(values);
    if (command.name == "bound") return bound_options(values);
    if (command.name == "topology") return topology_options(values, parsed);
    if (command.name == "batch") return batch_options(values);
    if (command.name == "results") return results_options(values);
    if (command.name == "view") return view_options(values);
    if (command.name == "pareto") return pareto_options(values);
    if (command.name == "model") return model_options(values);
    if (command.name == "doctor") return doctor_options(values);
    throw InternalError(fmt::format("the command '{}' has no options", command.name));
}

const Command& find_command(const std::vector<Command>& table, const std::string& name) {
    const auto found = std::ranges::find(table, name, &Command::name);
    if (found != table.end()) return *found;
    Names names{"help"};
    for (const Command& command : table) names.push_back(command.name);
    const std::string_view what = name.starts_with('-') ? "option" : "command";
    if (what == "option") names = {"--help", "--version"};
    fail(fmt::format("unknown {} '{}'{}", what, name, suggestion(name, names)), "");
}

}  // namespace

Options parse(const std::vector<std::string>& arguments) {
    if (arguments.empty()) {
        fail(
            "expected a command: synth, verify, convert, bound, batch, results, view, pareto, model, "
            "topology or "
            "doctor",
            "");
    }
    const std::string& first = arguments.front();
    const auto table = commands();
    if (first == "--version") return VersionOptions{};
    if (first == "--help" || first == "-h") return HelpOptions{};
    if (first == "help") {
        if (arguments.size() == 1 || arguments[1].starts_with("-") || arguments[1] == "help")
            return HelpOptions{};
        return HelpOptions{std::string(find_command(table, arguments[1]).name)};
    }
    return command_options(find_command(table, first), {arguments.begin() + 1, arguments.end()});
}

}  // namespace tutti::cli
