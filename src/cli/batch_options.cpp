// What the options of `batch`, `results` and `view` come to.

#include "cli/option_values.hpp"

#include "batch/run_file.hpp"

#include <array>
#include <cctype>
#include <functional>

namespace tutti::cli {
namespace {

/// "1,2,4": what stands between the commas, each read by `read`.
template <class T>
std::vector<T> comma_list(const Values& values, const char* name, std::string_view expected,
                          const std::function<std::optional<T>(std::string_view)>& read,
                          const Names& names = {}) {
    std::vector<T> list;
    const auto text = values.text(name);
    if (!text) return list;
    for (std::size_t begin = 0; begin <= text->size();) {
        const std::size_t end = std::min(text->find(',', begin), text->size());
        const std::string item = text->substr(begin, end - begin);
        const auto value = read(item);
        if (!value)
            values.refuse(fmt::format("option --{}: expected {}, found '{}'{}", name, expected, item,
                                      suggestion(item, names)));
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

std::vector<std::string> names_of(const Values& values, const char* option,
                                  std::span<const synth::Method> all) {
    Names names;
    for (const synth::Method& method : all) names.push_back(method.name);
    return comma_list<std::string>(
        values, option, fmt::format("{}", fmt::join(names, " or ")),
        [&](std::string_view text) -> std::optional<std::string> {
            if (std::ranges::find(names, text) == names.end()) return std::nullopt;
            return std::string(text);
        },
        names);
}

/// Megabytes, as `synth` has it, or with a letter: "4G".
std::optional<std::uint64_t> memory_of(const Values& values) {
    const auto text = values.text("memory-limit");
    if (!text) return std::nullopt;
    if (const auto size = batch::size_in(*text);
        size && !std::isdigit(static_cast<unsigned char>(text->back())))
        return static_cast<std::uint64_t>(std::max<std::int64_t>(*size, 1));
    return values.number<std::uint64_t>("memory-limit", 1, 1, std::uint64_t{1} << 30) * 1'000'000;
}

BatchOptions::Asked asked_of(const Values& values) {
    BatchOptions::Asked asked;
    asked.paths = values.list("paths");
    asked.set = values.text("set");
    asked.methods = names_of(values, "method", synth::methods());
    asked.heuristics = names_of(values, "heuristic", synth::heuristics());
    asked.options = values.search_options();
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
    if (asked.time_limit && *asked.time_limit > batch::kMostSeconds)
        values.refuse(
            fmt::format("option --time-limit: expected at most {:.0f} seconds", batch::kMostSeconds));
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

}  // namespace

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

namespace {

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

}  // namespace

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

}  // namespace tutti::cli
