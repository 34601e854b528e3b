#include "batch/solu_files.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <set>

namespace tutti::batch {
namespace {

namespace fs = std::filesystem;

bool changes_instance(const io::ResultLine& line) { return line.asked_chunks || line.asked_bytes; }

/// It knows an instance by the name of its file, or else by the name that stands inside.
std::string name_in(const KnownValues& values, const Job& job, const io::ResultLine& line) {
    std::string of_file = job.path.stem().string();
    return !values.contains(of_file) && values.contains(line.instance) ? line.instance : of_file;
}

/// A .solu file cannot speak of two instances of one name, nor of a name with spaces.
std::vector<NamedResult> usable(std::vector<NamedResult> results) {
    std::map<std::string_view, std::set<std::string_view>> files;
    for (const auto& [name, line] : results) files[name].insert(line->file);
    std::vector<NamedResult> kept;
    for (const NamedResult& result : results) {
        if (files[result.name].size() == 1 && io::can_be_named(result.name)) kept.push_back(result);
    }
    return kept;
}

std::string text(const std::optional<Ticks>& value) {
    return value ? fmt::format("(was {})", value->count()) : "(was not known)";
}

}  // namespace

SoluFiles::SoluFiles(const std::vector<Job>& jobs) {
    for (const Job& job : jobs) {
        if (job.solu.empty()) {
            const auto [path, added] = paths_.try_emplace(job.path.parent_path().string());
            if (!added) continue;
            path->second = solu_path(job.path.parent_path()).string();
        }
        const std::string path = path_of(job);
        const auto [file, added] = files_.try_emplace(path);
        std::error_code error;
        if (!added || !fs::exists(path, error)) continue;
        try {
            file->second.entries = io::read_solu(path);
            file->second.values = known_values(file->second.entries);
        } catch (const InputError& refused) {
            // An error in a file that was named ends the run; in one beside instances it is a warning.
            if (!job.solu.empty()) throw;
            warnings_.push_back(fmt::format("{}; nothing is compared with this file", refused.what()));
            file->second.is_broken = true;
        }
    }
}

const std::string& SoluFiles::path_of(const Job& job) const {
    return job.solu.empty() ? paths_.at(job.path.parent_path().string()) : job.solu.native();
}

bool SoluFiles::judge(const Job& job, io::ResultLine& line) const {
    // Of an earlier run: the file may have been mended.
    if (line.failure == io::Failure::Contradiction) {
        line.failure = io::Failure::None;
        line.error.clear();
    }
    if (line.status == Status::Infeasible) line.failure = io::Failure::Infeasible;
    const KnownValues& values = files_.at(path_of(job)).values;
    const auto known = values.find(name_in(values, job, line));
    if (known == values.end() || changes_instance(line)) return line.failure != io::Failure::None;
    if (const auto complaint = contradiction(line, known->second)) {
        line.error = fmt::format("{} (known from {})", *complaint, path_of(job));
        line.failure = io::Failure::Contradiction;
        return true;
    }
    if (line.failure == io::Failure::Infeasible && known->second.infeasible) line.failure = io::Failure::None;
    return line.failure != io::Failure::None;
}

std::map<std::string, std::vector<NamedResult>> SoluFiles::by_file(const Results& results) const {
    std::map<std::string, std::vector<NamedResult>> named;
    for (const auto& [job, line] : results) {
        const File& file = files_.at(path_of(*job));
        if (changes_instance(*line) || file.is_broken) continue;
        named[path_of(*job)].push_back({name_in(file.values, *job, *line), line});
    }
    for (auto& [path, of_file] : named) of_file = usable(std::move(of_file));
    return named;
}

std::vector<std::string> SoluFiles::news(const Results& results) const {
    std::vector<std::string> sentences;
    for (const auto& [path, lines] : by_file(results)) {
        const File& file = files_.at(path);
        const KnownValues better = known_values(updated(file.entries, lines));
        std::set<std::string> told;
        for (const auto& [name, line] : lines) {
            const auto old = file.values.find(name);
            if (old == file.values.end() || !told.insert(name).second) continue;
            const Known &before = old->second, &now = better.at(name);
            if (now.infeasible) {
                if (!before.infeasible)
                    sentences.push_back(fmt::format("new: {} is infeasible", line->label));
            } else if (now.optimal() && !before.optimal()) {
                sentences.push_back(
                    fmt::format("new optimum: {} {} {}", line->label, now.best->count(), text(before.best)));
            } else if (now.best != before.best) {
                sentences.push_back(
                    fmt::format("new best: {} {} {}", line->label, now.best->count(), text(before.best)));
            } else if (now.bound != before.bound) {
                sentences.push_back(
                    fmt::format("new bound: {} {} {}", line->label, now.bound->count(), text(before.bound)));
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
