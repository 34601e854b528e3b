// One run from several, usually the shards of one.
//
// The same key in two runs: if both solved the same file, a result beats a failure, else the one that
// finished later counts (times are UTC in one format, so texts compare as times); a run that was repeated
// supersedes the earlier. If the files differed, the rows are of different instances and nobody but the user
// can choose.
//
// Everything is laid out in a hidden folder beside the new one and moved in one step. Into a folder that is
// there already (--force) the files are moved one by one, results.jsonl last, and nothing else in it is
// touched.
//
// Shards of one run become that run: its run.json without a shard, so that --resume does what is missing.

#include "batch/merge.hpp"

#include "batch/results_folder.hpp"
#include "core/error.hpp"
#include "io/atomic_file.hpp"
#include "io/json_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <unordered_map>

namespace tutti::batch {
namespace {

namespace fs = std::filesystem;
using io::ResultLine;

struct Chosen {
    ResultLine line;
    const Run* run = nullptr;
};

std::vector<Chosen> chosen_from(const std::vector<Run>& runs, const Merging& how, Merged& merged) {
    std::vector<Chosen> chosen;
    std::unordered_map<std::string, std::size_t> places;
    for (const Run& run : runs) {
        for (const ResultLine& line : run.lines) {
            const auto [place, is_new] = places.emplace(line.key, chosen.size());
            if (is_new) {
                chosen.push_back({line, &run});
                continue;
            }
            Chosen& other = chosen[place->second];
            const bool same =
                line.digest == other.line.digest || line.digest.empty() || other.line.digest.empty();
            if (!same && !how.prefer_last) {
                throw InputError(
                    fmt::format("{} is also in {}, but was made from another file (digests {} and {}); "
                                "--prefer-last takes that of the last run",
                                line.key, other.run->name, line.digest, other.line.digest),
                    {}, run.name);
            }
            ++merged.twice;
            const bool taken = !same || supersedes(line, other.line);
            merged.notes.push_back(fmt::format("{} is in {} and in {}; the result of {} is taken", line.key,
                                               other.run->name, run.name,
                                               taken ? run.name : other.run->name));
            if (taken) other = {line, &run};
        }
    }
    return chosen;
}

/// Whether a path that is free of ".." lies below the folder of schedules.
bool is_below_schedules(const fs::path& path) {
    return !path.empty() && *path.begin() == "schedules" && path.has_parent_path() && path.has_filename();
}

struct FoundSchedule {
    fs::path file;      ///< where it is
    fs::path relative;  ///< where it goes, below the new folder
};

/// Lines name files as seen from where the batch ran; the folder may have been moved since, so that part of
/// the path that begins with "schedules" is looked for below it first.
std::optional<FoundSchedule> find_schedule(const Chosen& chosen) {
    const fs::path path(chosen.line.schedule);
    std::error_code ignored;
    for (auto part = path.begin(); part != path.end(); ++part) {
        if (*part != "schedules") continue;
        fs::path relative;
        for (auto rest = part; rest != path.end(); ++rest) relative /= *rest;
        relative = relative.lexically_normal();
        const fs::path file = chosen.run->folder / relative;
        if (is_below_schedules(relative) && fs::is_regular_file(file, ignored))
            return FoundSchedule{file, relative};
    }
    const bool is_schedule = path.extension() == ".json" || path.extension() == ".tsch";
    if (!is_schedule || !fs::is_regular_file(path, ignored)) return std::nullopt;
    return FoundSchedule{path, fs::path("schedules") / path.filename()};
}

/// The place, or one with a number where another schedule is there already.
fs::path free_place(const fs::path& wanted, std::set<fs::path>& taken) {
    fs::path place = wanted;
    for (int number = 2; !taken.insert(place).second; ++number) {
        const std::string name = wanted.filename().string();
        const std::size_t dot = std::min(name.find('.'), name.size());
        place = wanted.parent_path() / fmt::format("{}-{}{}", name.substr(0, dot), number, name.substr(dot));
    }
    return place;
}

void link_or_copy(const fs::path& from, const fs::path& to) {
    std::error_code error;
    fs::create_directories(to.parent_path(), error);
    if (!error) fs::create_hard_link(from, to, error);
    if (error) fs::copy_file(from, to, error);
    if (error) throw InputError("cannot be copied: " + error.message(), {}, from.string());
}

/// A hidden folder beside the new one; gone, with what is in it, when this is.
class Staging {
  public:
    explicit Staging(const fs::path& output) {
        const fs::path parent = output.has_parent_path() ? output.parent_path() : fs::path(".");
        std::error_code error;
        fs::create_directories(parent, error);
        folder_ = parent / fmt::format(".{}-{}.tmp", output.filename().string(), ::getpid());
        if (!error) fs::create_directory(folder_, error);
        if (error) throw InputError("cannot be made: " + error.message(), {}, output.string());
    }
    Staging(const Staging&) = delete;
    Staging& operator=(const Staging&) = delete;
    ~Staging() {
        std::error_code ignored;
        fs::remove_all(folder_, ignored);
    }
    [[nodiscard]] const fs::path& folder() const { return folder_; }

  private:
    fs::path folder_;
};

/// Where a run that varies its instances left the one of this schedule.
fs::path instance_beside(const fs::path& schedule) {
    std::string name = schedule.string();
    for (const std::string_view suffix : {".schedule.json", ".tsch"}) {
        if (name.ends_with(suffix)) name.resize(name.size() - suffix.size());
    }
    return name + ".instance.json";
}

/// Brings the row's schedule, if it has one, into the staged folder.
void place_schedule(Chosen& row, const fs::path& staged, const fs::path& output, std::set<fs::path>& places,
                    std::set<fs::path>& instances, Merged& merged) {
    if (row.line.schedule.empty()) return;
    const auto found = find_schedule(row);
    if (!found) {
        merged.notes.push_back(
            fmt::format("the schedule of {} is not there: {}", row.line.key, row.line.schedule));
        row.line.schedule.clear();
        return;
    }
    const fs::path place = free_place(found->relative, places);
    link_or_copy(found->file, staged / place);
    std::error_code ignored;
    if (const fs::path instance = instance_beside(found->file); fs::is_regular_file(instance, ignored)) {
        link_or_copy(instance, staged / instance_beside(place));
        instances.insert(instance_beside(place));
    }
    row.line.schedule = (output / place).string();
}

void move_all(const fs::path& from, const fs::path& to, const std::vector<fs::path>& files) {
    std::error_code error;
    if (!fs::exists(to) || (fs::is_empty(to) && !fs::is_symlink(to))) {
        fs::rename(from, to, error);
    } else {
        for (const fs::path& relative : files) {
            fs::create_directories((to / relative).parent_path(), error);
            if (!error) fs::rename(from / relative, to / relative, error);
            if (error) break;
        }
    }
    if (error) throw InputError("cannot be written: " + error.message(), {}, to.string());
}

void check_free(const Merging& how) {
    std::error_code ignored;
    if (!fs::exists(how.output, ignored)) return;
    if (!fs::is_directory(how.output)) throw InputError("expected a folder, found a file", {}, how.output);
    if (!how.force && !fs::is_empty(how.output)) {
        throw InputError("there is something in this folder; --force merges into it all the same", {},
                         how.output);
    }
}

/// What was asked of each run; nothing of one that does not say.
std::vector<std::optional<RunFile>> files_of(const std::vector<Run>& runs, Merged& merged) {
    std::vector<std::optional<RunFile>> files;
    for (const Run& run : runs) {
        try {
            files.push_back(file_of(run));
        } catch (const InputError& error) {
            files.emplace_back();
            merged.notes.push_back(
                fmt::format("what was asked of {} is not known: {}", run.name, error.what()));
        }
    }
    return files;
}

/// The run that all of them are parts of; one without instances where they are not.
RunFile whole_of(std::vector<std::optional<RunFile>> parts) {
    for (std::optional<RunFile>& part : parts) {
        if (!part) return {};
        part->shard.reset();
        part->jobs.reset();
        part->tasks.reset();
        if (!differences(*parts.front(), *part).empty()) return {};
    }
    return parts.empty() ? RunFile() : *parts.front();
}

/// The last of n parts may also be called 0.
std::string part_name(std::uint64_t part, std::uint64_t of, const std::set<std::uint64_t>& there) {
    if (there.contains(0) || part > 0) return std::to_string(part);
    return there.contains(of) ? std::to_string(of) : fmt::format("{} (or 0)", of);
}

void note_missing_shards(const std::vector<std::optional<RunFile>>& files, Merged& merged) {
    std::map<std::uint64_t, std::set<std::uint64_t>> shards;
    for (const std::optional<RunFile>& file : files) {
        if (file && file->shard) shards[file->shard->of].insert(file->shard->part);
    }
    if (shards.size() > 1) merged.notes.push_back("the runs are shards of different numbers");
    for (const auto& [count, there] : shards) {
        std::set<std::uint64_t> done;
        for (const std::uint64_t part : there) done.insert(part % count);
        std::vector<std::string> missing;
        for (std::uint64_t part = 1; part <= count; ++part) {
            if (done.contains(part % count)) continue;
            missing.push_back(part_name(part % count, count, there));
            merged.missing_shards.push_back(part == count && there.contains(0) ? 0 : part);
        }
        if (missing.empty()) continue;
        constexpr std::size_t kSpelt = 20;
        const std::span spelt = std::span(missing).first(std::min(missing.size(), kSpelt));
        merged.notes.push_back(fmt::format("of {} shards {} {} missing: {}{}", count, missing.size(),
                                           missing.size() == 1 ? "is" : "are", fmt::join(spelt, ", "),
                                           missing.size() > kSpelt ? ", ..." : ""));
    }
}

void note_unfinished(const std::vector<Run>& runs, const std::vector<std::optional<RunFile>>& files,
                     Merged& merged) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (!files[i] || !files[i]->tasks || runs[i].lines.size() >= *files[i]->tasks) continue;
        merged.notes.push_back(fmt::format("{} is not finished: {} of {} are done", runs[i].name,
                                           runs[i].lines.size(), *files[i]->tasks));
    }
}

}  // namespace

Merged merge(const std::vector<Run>& runs, const Merging& how) {
    Merged merged;
    const fs::path output = (fs::path(how.output) / "").parent_path();
    check_free(how);
    std::vector<Chosen> chosen = chosen_from(runs, how, merged);
    const auto files = files_of(runs, merged);
    note_missing_shards(files, merged);
    note_unfinished(runs, files, merged);
    std::error_code ignored;
    // A batch that is at work there would go on with a file that is no longer in the folder.
    std::optional<ResultsFolder> locked;
    if (how.force && fs::exists(output, ignored)) locked.emplace(output.string());
    const Staging staging(output);
    std::set<fs::path> places, instances;
    io::AtomicFile journal((staging.folder() / "results.jsonl").string());
    for (Chosen& row : chosen) {
        place_schedule(row, staging.folder(), output, places, instances, merged);
        journal.write(io::json_line(io::result_json(row.line)) + "\n");
    }
    journal.commit();
    const RunFile whole = whole_of(files);
    const bool any_known = std::ranges::any_of(files, [](const auto& file) { return file.has_value(); });
    if (any_known && whole.instances.empty() && runs.size() > 1)
        merged.notes.push_back("not all runs were asked the same, so that --resume needs paths and options");
    write_run_file((staging.folder() / "run.json").string(), whole);
    std::vector<fs::path> moved(places.begin(), places.end());
    moved.insert(moved.end(), instances.begin(), instances.end());
    moved.insert(moved.end(), {"run.json", "results.jsonl"});
    move_all(staging.folder(), output, moved);
    merged.results = chosen.size();
    merged.schedules = places.size();
    return merged;
}

}  // namespace tutti::batch
