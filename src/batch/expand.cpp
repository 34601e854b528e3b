#include "batch/expand.hpp"

#include "batch/distinct_names.hpp"
#include "core/error.hpp"
#include "io/solu.hpp"
#include "io/source.hpp"
#include "text/escape.hpp"
#include "text/format.hpp"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <set>
#include <unordered_set>

namespace tutti::batch {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".json";
constexpr std::uint64_t kMaxSetBytes = std::uint64_t{1} << 26;

bool is_instance_name(const std::string& name) {
    return name.ends_with(kSuffix) && !name.ends_with(".schedule.json") && !name.starts_with('.');
}

/// Whether a batch left its results there. What it wrote beside them is none of our instances.
bool holds_results(const fs::path& folder) {
    std::error_code error;
    const auto has = [&](const char* name) { return fs::exists(folder / name, error); };
    return has("results.jsonl") || (has("run.json") && (has(".lock") || has("schedules")));
}

/// The folder's own name, also for "." and "instances/".
std::string folder_name(const fs::path& folder) {
    std::error_code error;
    const fs::path whole = fs::weakly_canonical(folder.empty() ? fs::path(".") : folder, error);
    return error ? folder.filename().string() : whole.filename().string();
}

Job job_of(const fs::path& file, const std::string& family, const fs::path& solu = {}) {
    std::string name = file.filename().string();
    if (name.ends_with(kSuffix) && name.size() > kSuffix.size()) name.resize(name.size() - kSuffix.size());
    return {file, text::printable(family), text::printable(name), solu};
}

/// The same for all paths that lead to one file.
fs::path identity(const fs::path& path) {
    std::error_code error;
    fs::path whole = fs::weakly_canonical(path, error);
    return error ? path : whole;
}

/// A job, and which file it is about.
struct Found {
    Job job;
    std::string file;
};

/// Collects what the paths mean.
class Search {
  public:
    explicit Search(const Stop& stop) : stop_(stop) {}

    void add(const std::string& given) {
        std::error_code error;
        const std::string path = tidied(given).string();
        if (!fs::exists(fs::symlink_status(path, error))) {
            add_pattern(given);
        } else if (fs::is_directory(fs::status(path, error))) {
            search(path, path);
        } else if (path.ends_with(".test")) {
            for (const std::string& file : read_test_set(path)) add_file(file);
        } else if (path.ends_with(".solu")) {
            for (const std::string& file : files_named_by(path)) add_file(file, path);
        } else {
            add_file(path);
        }
    }
    [[nodiscard]] std::vector<Found> found() && { return std::move(found_); }

  private:
    void add_file(const std::string& path, const fs::path& solu = {}) {
        found_.push_back(
            {job_of(path, folder_name(fs::path(path).parent_path()), solu), identity(path).string()});
    }

    void add_pattern(const std::string& pattern) {
        if (pattern.find_first_of("*?[{") == pattern.npos)
            throw InputError("there is no such file or folder", {}, pattern);
        std::vector<std::string> paths;
        for (const std::string& alternative : alternatives_in(pattern)) {
            ::glob_t found{};
            const int code = ::glob(alternative.c_str(), 0, nullptr, &found);
            for (std::size_t i = 0; code == 0 && i < found.gl_pathc; ++i)
                paths.emplace_back(found.gl_pathv[i]);
            ::globfree(&found);
        }
        if (paths.empty()) throw InputError("no file or folder matches this pattern", {}, pattern);
        for (const std::string& path : paths) {
            if (!path.ends_with(".schedule.json")) add(path);
        }
    }

    void search(const fs::path& folder, const fs::path& root) {
        std::error_code error;
        const std::vector<Entry> entries = entries_of(folder, error);
        const fs::path whole = identity(folder), from_root = folder.lexically_relative(root);
        const std::string family = from_root == "." ? folder_name(root) : from_root.generic_string();
        for (const Entry& entry : entries) {
            const fs::path path = folder / entry.name;
            // To follow every part of every path would take most of the time that a large folder takes.
            if (is_instance_name(entry.name))
                found_.push_back(
                    {job_of(path, family), (entry.is_link ? identity(path) : whole / entry.name).string()});
            if (entry.is_folder && entry.name != "schema" && !entry.name.starts_with('.') &&
                !holds_results(path))
                search(path, root);
        }
        if (!error) return;
        if (folder == root) throw InputError("cannot be searched: " + error.message(), {}, root.string());
        found_.push_back({job_of(folder, family), whole.string()});
    }

    /// What is in a folder.
    struct Entry {
        std::string name;
        bool is_link, is_folder;
    };
    /// By name, so that most often nothing has to be sorted in the end: sorting a million jobs takes longer
    /// than finding them.
    [[nodiscard]] std::vector<Entry> entries_of(const fs::path& folder, std::error_code& error) const {
        std::vector<Entry> entries;
        fs::directory_iterator it(folder, error);
        for (const fs::directory_iterator end; !error && it != end && !stop_.requested();
             it.increment(error)) {
            std::error_code ignored;
            const bool is_link = it->is_symlink(ignored);
            entries.push_back(
                {it->path().filename().string(), is_link, !is_link && it->is_directory(ignored)});
        }
        std::ranges::sort(entries, {}, &Entry::name);
        return entries;
    }

    const Stop& stop_;
    std::vector<Found> found_;
};

/// Two files may have one label when they come from two folders of the same name.
void number_clashes(std::vector<Job>& jobs) {
    DistinctNames labels;
    for (Job& job : jobs) job.name = numbered(job.name, labels.number_for(job.label()));
}

}  // namespace

fs::path tidied(const fs::path& path) {
    fs::path normal = path.lexically_normal();
    return identity(normal) == identity(path) ? normal : path;
}

std::vector<Job> expand(const std::vector<std::string>& paths, const Stop& stop) {
    Search search(stop);
    for (std::size_t i = 0; i < paths.size() && !stop.requested(); ++i) search.add(paths[i]);
    std::vector<Found> found = std::move(search).found();
    // Of a file that is found twice, the one with a .solu of its own counts.
    const auto comes_before = [](const Found& a, const Found& b) {
        const int order = a.job.path.compare(b.job.path);
        return order != 0 ? order < 0 : a.job.solu.empty() < b.job.solu.empty();
    };
    if (!std::ranges::is_sorted(found, comes_before)) std::ranges::stable_sort(found, comes_before);
    std::unordered_set<std::string> seen;
    std::vector<Job> jobs;
    for (Found& each : found) {
        if (seen.insert(std::move(each.file)).second) jobs.push_back(std::move(each.job));
    }
    if (jobs.empty() && !stop.requested()) {
        throw InputError("no instance (*.json) was found there", {},
                         paths.empty() ? std::string() : paths.front());
    }
    number_clashes(jobs);
    return jobs;
}

std::vector<std::string> alternatives_in(const std::string& pattern) {
    const auto escaped = [&](std::size_t at) { return at > 0 && pattern[at - 1] == '\\'; };
    for (std::size_t open = pattern.find('{'); open != pattern.npos; open = pattern.find('{', open + 1)) {
        if (escaped(open)) continue;
        std::vector<std::size_t> commas{open};
        std::size_t depth = 1, at = open + 1;
        for (; at < pattern.size(); ++at) {
            if (escaped(at)) continue;
            if (pattern[at] == '{') ++depth;
            if (pattern[at] == '}' && --depth == 0) break;
            if (pattern[at] == ',' && depth == 1) commas.push_back(at);
        }
        if (at == pattern.size() || commas.size() < 2) continue;  // no choice, as shells have it
        commas.push_back(at);
        std::vector<std::string> all;
        for (std::size_t i = 0; i + 1 < commas.size(); ++i) {
            const std::string choice = pattern.substr(commas[i] + 1, commas[i + 1] - commas[i] - 1);
            for (std::string& rest :
                 alternatives_in(pattern.substr(0, open) + choice + pattern.substr(at + 1)))
                all.push_back(std::move(rest));
        }
        return all;
    }
    return {pattern};
}

std::vector<std::string> files_named_by(const std::string& solu) {
    const fs::path path(solu);
    const fs::path folder = path.parent_path();
    std::vector<std::string> files;
    std::set<std::string> seen;
    for (const io::SoluEntry& entry : io::read_solu(solu)) {
        if (!seen.insert(entry.name).second) continue;
        const std::string name = entry.name + std::string(kSuffix);
        std::error_code error;
        const fs::path file = folder / name;
        const fs::path below = folder / path.stem() / name;
        // A file that does not exist becomes a failed row.
        files.push_back((fs::exists(below, error) && !fs::exists(file, error) ? below : file).string());
    }
    return files;
}

std::vector<std::string> read_test_set(const std::string& path) {
    io::Source source(path);
    const std::string text = io::read_text(source, kMaxSetBytes);
    const fs::path folder = fs::path(path).parent_path();
    std::vector<std::string> files;
    std::size_t number = 0;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        std::string line = text.substr(begin, end - begin);
        begin = end + 1;
        ++number;
        line.erase(line.find_last_not_of(" \t\r") + 1);
        line.erase(0, line.find_first_not_of(" \t"));
        if (line.empty() || line.starts_with('#')) continue;
        if (!line.ends_with(kSuffix)) line += kSuffix;
        fs::path file = folder / line;
        std::error_code error;
        if (!fs::exists(file, error)) file = (folder / ".." / line).lexically_normal();
        if (!fs::exists(file, error))
            source.fail(fmt::format("there is no '{}'", line), fmt::format("line {}", number));
        files.push_back(file.string());
    }
    return files;
}

std::vector<Job> restricted(std::vector<Job> jobs, const std::vector<std::string>& set) {
    std::set<fs::path> wanted;
    for (const std::string& file : set) wanted.insert(identity(file));
    std::erase_if(jobs, [&](const Job& job) { return !wanted.contains(identity(job.path)); });
    return jobs;
}

}  // namespace tutti::batch
