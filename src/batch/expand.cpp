#include "batch/expand.hpp"

#include "core/error.hpp"
#include "io/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace tutti::batch {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".json";
constexpr std::uint64_t kMaxSetBytes = std::uint64_t{1} << 26;

bool is_instance_name(const std::string& name) {
    return name.ends_with(kSuffix) && !name.ends_with(".schedule.json") && !name.starts_with('.');
}

/// The folder's own name, also for "." and "instances/".
std::string folder_name(const fs::path& folder) {
    std::error_code error;
    const fs::path whole = fs::weakly_canonical(folder.empty() ? fs::path(".") : folder, error);
    return error ? folder.filename().string() : whole.filename().string();
}

Job job_of(const fs::path& file, std::string family) {
    std::string name = file.filename().string();
    if (name.ends_with(kSuffix)) name.resize(name.size() - kSuffix.size());
    return {file, std::move(family), std::move(name)};
}

void search(const fs::path& root, std::vector<Job>& jobs) {
    std::error_code error;
    fs::recursive_directory_iterator it(root, error);
    for (const fs::recursive_directory_iterator end; !error && it != end; it.increment(error)) {
        const std::string name = it->path().filename().string();
        std::error_code ignored;
        if (it->is_directory(ignored)) {
            if (name == "schema" || name.starts_with('.')) it.disable_recursion_pending();
        } else if (is_instance_name(name)) {
            const fs::path folder = it->path().parent_path().lexically_relative(root);
            jobs.push_back(job_of(it->path(), folder == "." ? folder_name(root) : folder.generic_string()));
        }
    }
    if (error) throw InputError("cannot be searched: " + error.message(), {}, root.string());
}

fs::path identity(const fs::path& path) {
    std::error_code error;
    fs::path whole = fs::weakly_canonical(path, error);
    return error ? path : whole;
}

/// Two files may have one label when they come from two folders of the same name.
void number_clashes(std::vector<Job>& jobs) {
    std::set<std::string> taken;
    for (Job& job : jobs) {
        const std::string name = job.name;
        for (int i = 2; !taken.insert(job.label()).second; ++i) job.name = fmt::format("{}-{}", name, i);
    }
}

}  // namespace

std::vector<Job> expand(const std::vector<std::string>& paths) {
    std::vector<Job> jobs;
    for (const std::string& path : paths) {
        std::error_code error;
        const fs::file_status status = fs::status(path, error);
        if (!fs::exists(status)) throw InputError("there is no such file or folder", {}, path);
        if (fs::is_directory(status)) {
            search(path, jobs);
        } else {
            jobs.push_back(job_of(path, folder_name(fs::path(path).parent_path())));
        }
    }
    std::ranges::stable_sort(jobs, {}, &Job::path);
    std::set<fs::path> seen;
    std::erase_if(jobs, [&](const Job& job) { return !seen.insert(identity(job.path)).second; });
    if (jobs.empty()) {
        throw InputError("no instance (*.json) was found there", {},
                         paths.empty() ? std::string() : paths.front());
    }
    number_clashes(jobs);
    return jobs;
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
