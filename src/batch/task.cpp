#include "batch/task.hpp"

#include "batch/fnv.hpp"
#include "text/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace tutti::batch {
namespace {

/// The values without repetitions, each as an option; where there are none, one that is not given.
template <class T>
std::vector<std::optional<T>> choices(const std::vector<T>& values) {
    std::vector<std::optional<T>> once;
    for (const T& value : values) {
        if (std::ranges::find(once, std::optional(value)) == once.end()) once.emplace_back(value);
    }
    if (once.empty()) once.emplace_back(std::nullopt);
    return once;
}

/// Where its schedule goes. Where odd characters or long names have to be changed, a hash keeps what is then
/// alike apart: the place of a task must not depend on what else there is.
std::string stem_of(const Job& job, const std::string& details) {
    constexpr std::size_t kLongest = 120;
    std::string stem = "schedules/";
    for (const std::filesystem::path& part : std::filesystem::path(job.family))
        stem += text::file_name_of(part.string()) + "/";
    stem += text::shortened(text::file_name_of(job.name), kLongest);
    if (stem != "schedules/" + job.label() || job.name.find('=') != job.name.npos) {
        stem += fmt::format("-{:08x}", fnv(job.label()) >> 32U);
    }
    return stem + (details.empty() ? "" : text::file_name_of(details));
}

/// A file may be called "a seed=2".
template <class Member>
void number_clashes(std::vector<Task>& tasks, Member member) {
    std::set<std::string> taken;
    for (Task& task : tasks) {
        const std::string wanted = task.*member;
        for (int i = 2; !taken.insert(task.*member).second; ++i)
            task.*member = fmt::format("{}-{}", wanted, i);
    }
}

Told unusual_in(const Variant& variant) {
    const Variant usual;
    return {variant.method != usual.method, true, true, variant.seed != usual.seed, true, true};
}

}  // namespace

Told differing_among(const std::vector<Variant>& variants) {
    Told told;
    for (const Variant& variant : variants) {
        const Variant& first = variants.front();
        told.method = told.method || variant.method != first.method;
        told.chunks = told.chunks || variant.chunks != first.chunks;
        told.bytes = told.bytes || variant.bytes != first.bytes;
        told.seed = told.seed || variant.seed != first.seed;
        told.heuristic = told.heuristic || variant.heuristic != first.heuristic;
        told.options = told.options || variant.options != first.options;
    }
    return told;
}

std::string name_with(const std::string& label, const Variant& variant, Told told) {
    std::string name = label;
    if (told.method) name += " method=" + variant.method;
    if (told.heuristic && !variant.heuristic.empty()) name += " heuristic=" + variant.heuristic;
    if (told.chunks && variant.chunks) name += fmt::format(" chunks={}", *variant.chunks);
    if (told.bytes && variant.bytes) name += fmt::format(" bytes={}", variant.bytes->count);
    if (told.seed) name += fmt::format(" seed={}", variant.seed);
    if (told.options) {
        for (const auto& [option, value] : changed_options(variant.options))
            name += fmt::format(" {}={}", option, option_text(value));
    }
    return name;
}

std::vector<std::string> names_of(const std::vector<Task>& tasks) {
    std::vector<Variant> variants;
    for (const Task& task : tasks) variants.push_back(task.variant);
    const Told told = differing_among(variants);
    std::vector<std::string> names;
    for (const Task& task : tasks) names.push_back(name_with(task.job.label(), task.variant, told));
    return names;
}

std::vector<Task> tasks_of(const std::vector<Job>& jobs, const Matrix& matrix) {
    const Variant usual;
    std::vector<Variant> variants;
    const auto vary = [&](const std::string& method, const std::string& heuristic) {
        for (const auto& chunks : choices(matrix.chunks)) {
            for (const auto& bytes : choices(matrix.bytes)) {
                for (const auto& seed : choices(matrix.seeds)) {
                    variants.push_back({method, seed.value_or(usual.seed), matrix.threads, chunks, bytes,
                                        heuristic, matrix.options});
                }
            }
        }
    };
    for (const auto& method : choices(matrix.methods)) {
        for (const auto& heuristic : choices(matrix.heuristics))
            vary(method.value_or(usual.method), heuristic.value_or(usual.heuristic));
    }
    std::vector<Task> tasks;
    tasks.reserve(jobs.size() * variants.size());
    for (const Job& job : jobs) {
        for (const Variant& variant : variants) {
            const Told told = unusual_in(variant);
            tasks.push_back({job, variant, name_with(job.label(), variant, told),
                             stem_of(job, name_with("", variant, told))});
        }
    }
    number_clashes(tasks, &Task::key);
    number_clashes(tasks, &Task::stem);
    return tasks;
}

std::vector<Task> shard_of(std::vector<Task> tasks, Shard shard) {
    std::vector<Task> part;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        if (i % shard.of == shard.part % shard.of) part.push_back(std::move(tasks[i]));
    }
    return part;
}

}  // namespace tutti::batch
