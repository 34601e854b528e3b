#include "batch/solu_files.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <set>

namespace tutti::batch {
namespace {

namespace fs = std::filesystem;

std::string path_of(const Job& job) {
    return job.solu.empty() ? solu_path(job.path.parent_path()).string() : job.solu.string();
}

bool changes_instance(const Task& task) { return task.variant.chunks || task.variant.bytes; }

/// It knows an instance by the name of its file, or else by the name that stands inside.
std::string name_in(const KnownValues& values, const Task& task, const io::ResultLine& line) {
    std::string of_file = task.job.path.stem().string();
    return !values.contains(of_file) && values.contains(line.instance) ? line.instance : of_file;
}

/// A .solu file cannot speak of two instances of one name, nor of a name with spaces.
std::vector<io::ResultLine> usable(const std::vector<io::ResultLine>& lines) {
    std::map<std::string, std::set<std::string>> files;
    for (const io::ResultLine& line : lines) files[line.instance].insert(line.file);
    std::vector<io::ResultLine> kept;
    for (const io::ResultLine& line : lines) {
        if (files[line.instance].size() == 1 && io::can_be_named(line.instance)) kept.push_back(line);
    }
    return kept;
}

std::string text(const std::optional<Ticks>& value) {
    return value ? fmt::format("(was {})", value->count()) : "(was not known)";
}

}  // namespace

SoluFiles::SoluFiles(const std::vector<Task>& tasks) {
    for (const Task& task : tasks) {
        const std::string path = path_of(task.job);
        const auto [file, added] = files_.try_emplace(path);
        std::error_code error;
        if (!added || !fs::exists(path, error)) continue;
        try {
            file->second.entries = io::read_solu(path);
            file->second.values = known_values(file->second.entries);
        } catch (const InputError& refused) {
            // One that somebody named must be right. One that lies beside instances stops nothing.
            if (!task.job.solu.empty()) throw;
            warnings_.push_back(fmt::format("{}; nothing is compared with this file", refused.what()));
            file->second.is_broken = true;
        }
    }
}

bool SoluFiles::judge(const Task& task, io::ResultLine& line) const {
    // Of an earlier run: the file may have been mended.
    if (line.failure == io::Failure::Contradiction) {
        line.failure = io::Failure::None;
        line.error.clear();
    }
    if (line.status == Status::Infeasible) line.failure = io::Failure::Infeasible;
    const KnownValues& values = files_.at(path_of(task.job)).values;
    const auto known = values.find(name_in(values, task, line));
    if (known == values.end() || changes_instance(task)) return line.failure != io::Failure::None;
    if (const auto complaint = contradiction(line, known->second)) {
        line.error = fmt::format("{} (known from {})", *complaint, path_of(task.job));
        line.failure = io::Failure::Contradiction;
        return true;
    }
    if (line.failure == io::Failure::Infeasible && known->second.infeasible) line.failure = io::Failure::None;
    return line.failure != io::Failure::None;
}

std::map<std::string, std::vector<io::ResultLine>> SoluFiles::by_file(const Results& results) const {
    std::map<std::string, std::vector<io::ResultLine>> lines;
    for (const auto& [task, line] : results) {
        const std::string path = path_of(task->job);
        if (changes_instance(*task) || files_.at(path).is_broken) continue;
        io::ResultLine& named = lines[path].emplace_back(*line);
        named.instance = name_in(files_.at(path).values, *task, *line);
    }
    for (auto& [path, of_file] : lines) of_file = usable(of_file);
    return lines;
}

std::vector<std::string> SoluFiles::news(const Results& results) const {
    std::vector<std::string> sentences;
    for (const auto& [path, lines] : by_file(results)) {
        const File& file = files_.at(path);
        const KnownValues better = known_values(updated(file.entries, lines));
        std::set<std::string> told;
        for (const io::ResultLine& line : lines) {
            const auto old = file.values.find(line.instance);
            if (old == file.values.end() || !told.insert(line.instance).second) continue;
            const Known &before = old->second, &now = better.at(line.instance);
            if (now.infeasible) {
                if (!before.infeasible) sentences.push_back(fmt::format("new: {} is infeasible", line.label));
            } else if (now.optimal() && !before.optimal()) {
                sentences.push_back(
                    fmt::format("new optimum: {} {} {}", line.label, now.best->count(), text(before.best)));
            } else if (now.best != before.best) {
                sentences.push_back(
                    fmt::format("new best: {} {} {}", line.label, now.best->count(), text(before.best)));
            } else if (now.bound != before.bound) {
                sentences.push_back(
                    fmt::format("new bound: {} {} {}", line.label, now.bound->count(), text(before.bound)));
            }
        }
    }
    return sentences;
}

std::vector<std::string> SoluFiles::update(const Results& results) const {
    std::vector<std::string> refusals;
    for (const auto& [path, lines] : by_file(results)) {
        const auto entries = updated(files_.at(path).entries, lines);
        try {
            if (entries != files_.at(path).entries) io::write_solu(path, entries);
        } catch (const InputError& error) {
            refusals.emplace_back(error.what());
        }
    }
    return refusals;
}

}  // namespace tutti::batch
