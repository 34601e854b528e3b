// The list is a file of sorted_lines: each line is a hash and a JSON object. There is a line for the settings
// of the run, one for each instance (by its label), one for each variant (by its details), and none for their
// combinations. A key is a label followed by details, and both may contain blanks; so the key is divided at
// each of its blanks until both parts are found. Only tasks whose names clash (Plan::clashes) have lines of
// their own, and these are looked for first.
//
// No line says where anything is written. A list that somebody has changed can make a task read another file;
// the place of its schedule follows from its label by stem_of(), which never leaves the results folder.

#include "batch/task_list.hpp"

#include "batch/distinct_names.hpp"
#include "batch/fnv.hpp"
#include "batch/results_folder.hpp"
#include "batch/row_files.hpp"
#include "batch/run_file.hpp"
#include "batch/sorted_lines.hpp"
#include "core/error.hpp"
#include "io/atomic_file.hpp"
#include "io/json_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <system_error>
#include <unordered_map>

namespace tutti::batch {
namespace {

namespace fs = std::filesystem;
using io::Json;
using io::JsonView;

constexpr std::int64_t kFormat = 1;  ///< of the list; another version of tutti may have another one
constexpr std::int64_t kMostCount = std::numeric_limits<std::int64_t>::max();

constexpr std::string_view kSettings = "settings", kJob = "job", kVariant = "variant", kTask = "task";

/// The hash of a line about something of that kind and name.
std::uint64_t hash_of(std::string_view kind, std::string_view name) {
    return fnv(name, fnv("\n", fnv(kind)));
}

std::string list_path(const std::string& results) { return (tasks_folder(results) / "list").string(); }

/// Paths of files as a list in a folder has them: relative to that folder, but absolute ones as they are.
class SeenFrom {
  public:
    explicit SeenFrom(const fs::path& folder) {
        std::error_code error;
        here_ = fs::current_path(error);
        base_ = fs::weakly_canonical(folder, error);
    }
    [[nodiscard]] std::string operator()(const fs::path& path) {
        if (path.is_absolute()) return path.string();
        const std::string& text = path.native();
        const std::size_t name = text.rfind('/') + 1;
        const auto [folder, is_new] = folders_.try_emplace(text.substr(0, name));
        if (is_new) folder->second = relative(folder->first);
        return folder->second + text.substr(name);
    }

  private:
    [[nodiscard]] std::string relative(const fs::path& folder) const {
        const bool climbs = std::ranges::find(folder, fs::path("..")) != folder.end();
        const fs::path whole = climbs ? tidied(here_ / folder) : here_ / folder;
        return (whole.lexically_proximate(base_) / "").string();
    }

    fs::path here_, base_;
    std::unordered_map<std::string, std::string> folders_;  ///< as given, and as the list has them
};

/// A path may hold any bytes, a JSON text only some.
Json path_json(const std::string& path) {
    try {
        (void)Json(path).dump();
        return path;
    } catch (const Json::type_error&) {
        Json bytes = Json::array();
        for (const char byte : path) bytes.push_back(static_cast<unsigned char>(byte));
        return bytes;
    }
}

std::string path_in(const JsonView& view) {
    if (!view.is_array()) return view.string();
    std::string path;
    for (const JsonView& byte : view.elements()) path += static_cast<char>(byte.integer(1, 255));
    return path;
}

Json settings_json(const Plan& plan, const Limits& limits) {
    Json json{{kSettings, kFormat}, {"threads", plan.threads()}, {"variants", plan.variants()}};
    json["part"] = plan.shard().part;
    json["of"] = plan.shard().of;
    json["options"] = Json::object();
    for (const auto& [name, value] : changed_options(plan.variant(0).options))
        json["options"][name] = io::number_json(value);
    if (limits.time) json["time_limit"] = *limits.time;
    if (limits.memory) json["memory_limit"] = *limits.memory;
    return json;
}

Json job_json(const Job& job, std::size_t number, SeenFrom& seen_from_list) {
    return {{kJob, job.label()},
            {"number", number},
            {"family", job.family},
            {"name", job.name},
            {"file", path_json(seen_from_list(job.path))}};
}

Json variant_json(const Variant& variant, std::size_t number) {
    Json json{{kVariant, details_of(variant)}, {"number", number}, {"method", variant.method}};
    json["seed"] = variant.seed;
    if (!variant.heuristic.empty()) json["heuristic"] = variant.heuristic;
    if (variant.chunks) json["chunks"] = *variant.chunks;
    if (variant.bytes) json["bytes"] = variant.bytes->count;
    return json;
}

/// The lines of a list, each made when its turn comes: there may be a million.
class Lines {
  public:
    Lines(const std::string& results, const Plan& plan, const Limits& limits)
        : seen_from_list_(results), plan_(plan), limits_(limits) {
        order_.emplace_back(hash_of(kSettings, {}), 0);
        for (std::size_t i = 0; i < jobs(); ++i)
            order_.emplace_back(hash_of(kJob, plan.jobs()[i].label()), 1 + i);
        for (std::size_t i = 0; i < plan.variants(); ++i)
            order_.emplace_back(hash_of(kVariant, details_of(plan.variant(i))), 1 + jobs() + i);
        for (const auto& [place, numbers] : plan.clashes()) {
            order_.emplace_back(hash_of(kTask, key_at(place, numbers)),
                                1 + jobs() + plan.variants() + clashes_.size());
            clashes_.push_back(place);
        }
        std::ranges::sort(order_);
    }

    void write(io::AtomicFile& file) {
        for (const auto& [hash, index] : order_)
            file.write(line_with_hash(hash, io::json_line(line(index))) + "\n");
    }

  private:
    [[nodiscard]] std::size_t jobs() const { return plan_.jobs().size(); }

    [[nodiscard]] std::string key_at(std::size_t place, Plan::Numbers numbers) const {
        const std::string details = details_of(plan_.variant(place % plan_.variants()));
        return numbered(plan_.jobs()[place / plan_.variants()].label() + details, numbers.key);
    }

    [[nodiscard]] Json line(std::size_t index) {
        if (index == 0) return settings_json(plan_, limits_);
        if (--index < jobs()) return job_json(plan_.jobs()[index], index, seen_from_list_);
        index -= jobs();
        if (index < plan_.variants()) return variant_json(plan_.variant(index), index);
        const std::size_t place = clashes_[index - plan_.variants()];
        const Plan::Numbers numbers = plan_.clashes().at(place);
        return {{kTask, key_at(place, numbers)},
                {kJob, plan_.jobs()[place / plan_.variants()].label()},
                {kVariant, details_of(plan_.variant(place % plan_.variants()))},
                {"key_number", numbers.key},
                {"stem_number", numbers.stem}};
    }

    SeenFrom seen_from_list_;
    const Plan& plan_;
    const Limits& limits_;
    std::vector<std::pair<std::uint64_t, std::size_t>> order_;  ///< hashes, and which line
    std::vector<std::size_t> clashes_;                          ///< their places
};

/// The object about something of that kind and name, if the list has one.
std::optional<Json> find(const SortedLines& list, std::string_view kind, const std::string& name) {
    for (const std::string& text : list.with_hash(hash_of(kind, name))) {
        io::Source source = io::Source::of_text(text, list.path());
        Json json = io::parse_json(source);
        if (!json.is_object()) source.fail("expected an object");
        const auto found = json.find(kind);
        if (found != json.end() && (kind == kSettings || *found == name)) return json;
    }
    return std::nullopt;
}

Job job_in(const JsonView& view, const std::string& results) {
    const fs::path file = path_in(view.at("file"));
    return {file.is_absolute() ? file : fs::path(results) / file,
            view.at("family").string(),
            view.at("name").string(),
            {}};
}

Variant variant_in(const JsonView& view, const JsonView& settings) {
    Variant variant;
    variant.method = view.at("method").string();
    variant.seed = view.at("seed").json().is_number_unsigned()
                       ? view.at("seed").json().get<std::uint64_t>()
                       : static_cast<std::uint64_t>(view.at("seed").integer(0, kMostCount));
    if (const auto heuristic = view.find("heuristic")) variant.heuristic = heuristic->string();
    if (const auto chunks = view.find("chunks"))
        variant.chunks = static_cast<std::uint64_t>(chunks->integer(1, kMostCount));
    if (const auto bytes = view.find("bytes")) variant.bytes = Bytes{bytes->integer(1, kMostCount)};
    variant.threads = static_cast<unsigned>(settings.at("threads").integer(1, kMostThreads));
    variant.options = read_search_options(settings.at("options"));
    return variant;
}

std::uint64_t count_in(const JsonView& view, std::string_view field, std::int64_t least) {
    return static_cast<std::uint64_t>(view.at(field).integer(least, kMostCount));
}

/// The task of that label and those details, if the list has both and its part of the run has the task.
std::optional<Task> task_of_parts(const SortedLines& list, const JsonView& settings,
                                  const std::string& results, const std::string& label,
                                  const std::string& details) {
    const auto job = find(list, kJob, label);
    if (!job) return std::nullopt;
    const auto variant = find(list, kVariant, details);
    if (!variant) return std::nullopt;
    const std::uint64_t place = count_in(JsonView(*job), "number", 0) * count_in(settings, "variants", 1) +
                                count_in(JsonView(*variant), "number", 0);
    if (place % count_in(settings, "of", 1) != count_in(settings, "part", 0)) return std::nullopt;
    Task task{job_in(JsonView(*job), results), variant_in(JsonView(*variant), settings), {}, {}};
    task.key = label + details;
    task.stem = stem_of(task.job, details);
    return task;
}

std::optional<Task> task_in(const SortedLines& list, const JsonView& settings, const std::string& results,
                            const std::string& key) {
    if (const auto clash = find(list, kTask, key)) {
        const JsonView view(*clash);
        auto task =
            task_of_parts(list, settings, results, view.at(kJob).string(), view.at(kVariant).string());
        if (!task) return std::nullopt;
        task->key = key;
        task->stem = numbered(task->stem, static_cast<unsigned>(count_in(view, "stem_number", 1)));
        return task;
    }
    for (std::size_t at = key.size(); at != key.npos; at = at == 0 ? key.npos : key.rfind(' ', at - 1)) {
        if (auto task = task_of_parts(list, settings, results, key.substr(0, at), key.substr(at)))
            return task;
    }
    return std::nullopt;
}

}  // namespace

void write_task_list(const std::string& results, const Plan& plan, const Limits& limits) {
    const std::string path = list_path(results);
    make_folder(tasks_folder(results));
    io::AtomicFile file(path);
    Lines(results, plan, limits).write(file);
    file.commit();
}

ListedTask listed_task(const std::string& results, const std::string& key) {
    const std::string path = list_path(results);
    if (std::error_code error; !fs::exists(path, error))
        throw InputError("there is no list of tasks; `tutti batch --list-tasks` makes one", {}, path);
    const SortedLines list(path);
    try {
        const auto json = find(list, kSettings, {});
        if (!json) throw InputError("expected a list of tasks, as tutti batch --list-tasks writes it");
        const JsonView settings(*json);
        if (settings.at(kSettings).json() != kFormat)
            throw InputError(
                "another version of tutti wrote this list; tutti batch --list-tasks --resume writes it anew");
        auto task = task_in(list, settings, results, key);
        if (!task) throw InputError(fmt::format("there is no task '{}' in this list", key));
        Limits limits;
        if (const auto time = settings.find("time_limit")) limits.time = time->number(0, kMostSeconds);
        if (settings.find("memory_limit")) limits.memory = count_in(settings, "memory_limit", 1);
        return {std::move(*task), limits};
    } catch (const InputError& error) {
        throw error.in_file(path);
    }
}

}  // namespace tutti::batch
