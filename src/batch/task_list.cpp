// The list is text. Each line is a hash of 16 digits and a JSON object, and the lines are sorted, so that a
// line is found by bisection: some twenty pages of the file are read for a list of a million lines.
//
// There is a line for each instance (by its label) and one for each variant (by its details), and none for
// their combinations: a key is a label followed by details, so it is taken apart at each of its blanks until
// both halves are found. Only tasks whose names clash (Plan::clashes) have lines of their own, and these are
// looked for first.
//
// No line says where anything is written. A list that was tampered with can make a task read another file;
// the place of its schedule follows from its label by stem_of(), which never leaves the results folder.

#include "batch/task_list.hpp"

#include "batch/distinct_names.hpp"
#include "batch/fnv.hpp"
#include "batch/results_folder.hpp"
#include "batch/row_files.hpp"
#include "batch/run_file.hpp"
#include "core/error.hpp"
#include "io/atomic_file.hpp"
#include "io/json_text.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <limits>
#include <system_error>

namespace tutti::batch {
namespace {

namespace fs = std::filesystem;
using io::Json;
using io::JsonView;

constexpr std::size_t kHashDigits = 16;
constexpr std::int64_t kMostCount = std::numeric_limits<std::int64_t>::max();

constexpr std::string_view kSettings = "settings", kJob = "job", kVariant = "variant", kTask = "task";

/// The hash of a line about something of that kind and name.
std::uint64_t hash_of(std::string_view kind, std::string_view name) {
    return fnv(name, fnv("\n", fnv(kind)));
}

std::string list_path(const std::string& results) { return (tasks_folder(results) / "list").string(); }

/// Paths as they are to stand in a file of a folder: those that are given whole stay so.
class SeenFrom {
  public:
    explicit SeenFrom(const fs::path& folder) {
        std::error_code error;
        here_ = fs::current_path(error);
        base_ = fs::weakly_canonical(folder, error);
    }
    [[nodiscard]] std::string operator()(const fs::path& path) const {
        if (path.is_absolute()) return path.string();
        const bool climbs = std::ranges::find(path, fs::path("..")) != path.end();
        return (climbs ? tidied(here_ / path) : here_ / path).lexically_proximate(base_).string();
    }

  private:
    fs::path here_, base_;
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
    Json json{{kSettings, 1}, {"threads", plan.threads()}, {"variants", plan.variants()}};
    json["part"] = plan.shard().part;
    json["of"] = plan.shard().of;
    json["options"] = Json::object();
    for (const auto& [name, value] : changed_options(plan.variant(0).options))
        json["options"][name] = io::number_json(value);
    if (limits.time) json["time_limit"] = *limits.time;
    if (limits.memory) json["memory_limit"] = *limits.memory;
    return json;
}

Json job_json(const Job& job, std::size_t number, const SeenFrom& seen_from_list) {
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

    void write(io::AtomicFile& file) const {
        for (const auto& [hash, index] : order_)
            file.write(fmt::format("{:016x} {}\n", hash, io::json_line(line(index))));
    }

  private:
    [[nodiscard]] std::size_t jobs() const { return plan_.jobs().size(); }

    [[nodiscard]] std::string key_at(std::size_t place, Plan::Numbers numbers) const {
        const std::string details = details_of(plan_.variant(place % plan_.variants()));
        return numbered(plan_.jobs()[place / plan_.variants()].label() + details, numbers.key);
    }

    [[nodiscard]] Json line(std::size_t index) const {
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

    const SeenFrom seen_from_list_;
    const Plan& plan_;
    const Limits& limits_;
    std::vector<std::pair<std::uint64_t, std::size_t>> order_;  ///< hashes, and which line
    std::vector<std::size_t> clashes_;                          ///< their places
};

/// A list that is looked into. The file stays as it was when it was opened, also if a new one takes its
/// place.
class List {
  public:
    explicit List(const std::string& path) : path_(path) {
        const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        if (file < 0)
            throw InputError("there is no list of tasks; `tutti batch --list-tasks` makes one", {}, path);
        struct stat status {};
        if (::fstat(file, &status) == 0 && status.st_size > 0) {
            size_ = static_cast<std::size_t>(status.st_size);
            map_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
        }
        const int error = errno;
        ::close(file);
        if (map_ == nullptr) throw InputError("expected a list of tasks, found an empty file", {}, path);
        if (map_ == MAP_FAILED)
            throw InputError("cannot be read: " + std::generic_category().message(error), {}, path);
    }
    List(const List&) = delete;
    List& operator=(const List&) = delete;
    ~List() {
        if (map_ != nullptr && map_ != MAP_FAILED) ::munmap(map_, size_);
    }

    /// The object about something of that kind and name, if there is one.
    [[nodiscard]] std::optional<Json> find(std::string_view kind, const std::string& name) const {
        const std::uint64_t wanted = hash_of(kind, name);
        for (std::size_t at = first_from(wanted); at < size_; at = end_of(at)) {
            if (hash_at(at) != wanted) break;
            Json json = object_at(at);
            const auto found = json.find(kind);
            if (found != json.end() && (kind == kSettings || *found == name)) return json;
        }
        return std::nullopt;
    }
    [[nodiscard]] const std::string& path() const { return path_; }

  private:
    [[nodiscard]] std::string_view text() const { return {static_cast<const char*>(map_), size_}; }
    /// The place after the line that the byte belongs to.
    [[nodiscard]] std::size_t end_of(std::size_t at) const {
        const std::size_t end = text().find('\n', at);
        return end == std::string_view::npos ? size_ : end + 1;
    }
    [[nodiscard]] std::uint64_t hash_at(std::size_t line) const {
        std::uint64_t hash = 0;
        const std::string_view digits = text().substr(line, kHashDigits);
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), hash, 16);
        if (digits.size() != kHashDigits || error != std::errc() || end != digits.data() + kHashDigits)
            throw InputError("expected a list of tasks, as tutti batch --list-tasks writes it", {}, path_);
        return hash;
    }
    [[nodiscard]] Json object_at(std::size_t line) const {
        const std::size_t begin = line + kHashDigits, end = end_of(line);
        io::Source source = io::Source::of_text(std::string(text().substr(begin, end - begin)), path_);
        Json json = io::parse_json(source);
        if (!json.is_object()) source.fail("expected an object");
        return json;
    }
    /// The first line whose hash is not less.
    [[nodiscard]] std::size_t first_from(std::uint64_t wanted) const {
        // It begins at `low` or later, and not after `high`, where a line begins.
        std::size_t low = 0, high = size_;
        while (low < high) {
            const std::size_t middle = low + (high - low) / 2;
            const std::size_t line = middle == low ? low : end_of(middle - 1);
            if (line >= high) {
                // No line begins between the middle and high; the one before is looked at from low on.
                if (hash_at(low) >= wanted) return low;
                low = end_of(low);
            } else if (hash_at(line) < wanted) {
                low = end_of(line);
            } else {
                high = line;
                if (line == low) return low;
            }
        }
        return low;
    }

    std::string path_;
    void* map_ = nullptr;
    std::size_t size_ = 0;
};

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
std::optional<Task> task_of_parts(const List& list, const JsonView& settings, const std::string& results,
                                  const std::string& label, const std::string& details) {
    const auto job = list.find(kJob, label);
    if (!job) return std::nullopt;
    const auto variant = list.find(kVariant, details);
    if (!variant) return std::nullopt;
    const std::uint64_t place = count_in(JsonView(*job), "number", 0) * count_in(settings, "variants", 1) +
                                count_in(JsonView(*variant), "number", 0);
    if (place % count_in(settings, "of", 1) != count_in(settings, "part", 0)) return std::nullopt;
    Task task{job_in(JsonView(*job), results), variant_in(JsonView(*variant), settings), {}, {}};
    task.key = label + details;
    task.stem = stem_of(task.job, details);
    return task;
}

std::optional<Task> task_in(const List& list, const JsonView& settings, const std::string& results,
                            const std::string& key) {
    if (const auto clash = list.find(kTask, key)) {
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
    const List list(list_path(results));
    try {
        const auto json = list.find(kSettings, {});
        if (!json) throw InputError("expected a list of tasks, as tutti batch --list-tasks writes it");
        const JsonView settings(*json);
        auto task = task_in(list, settings, results, key);
        if (!task) throw InputError(fmt::format("there is no task '{}' in this list", key));
        Limits limits;
        if (const auto time = settings.find("time_limit")) limits.time = time->number(0, kMostSeconds);
        if (settings.find("memory_limit")) limits.memory = count_in(settings, "memory_limit", 1);
        return {std::move(*task), limits};
    } catch (const InputError& error) {
        throw error.in_file(list.path());
    }
}

}  // namespace tutti::batch
