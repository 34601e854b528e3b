#include "batch/task.hpp"

#include "batch/figures.hpp"

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

/// Where its schedule goes. Odd characters and long names are changed, so two tasks may want the same place.
std::string stem_of(const Job& job, const std::string& details) {
    constexpr std::size_t kLongest = 120;
    std::string stem = "schedules/";
    for (const std::filesystem::path& part : std::filesystem::path(job.family))
        stem += file_name_of(part.string()) + "/";
    std::string name = file_name_of(job.name);
    if (name.size() > kLongest) name.resize(kLongest);
    return stem + name + (details.empty() ? "" : file_name_of(details));
}

void number_clashes(std::vector<Task>& tasks) {
    std::set<std::string> taken;
    for (Task& task : tasks) {
        const std::string stem = task.stem;
        for (int i = 2; !taken.insert(task.stem).second; ++i) task.stem = fmt::format("{}-{}", stem, i);
    }
}

}  // namespace

std::vector<Task> tasks_of(const std::vector<Job>& jobs, const Matrix& matrix) {
    const auto methods = choices(matrix.methods);
    const auto seeds = choices(matrix.seeds);
    std::vector<std::pair<Variant, std::string>> variants;
    for (const auto& method : methods) {
        for (const auto& chunks : choices(matrix.chunks)) {
            for (const auto& bytes : choices(matrix.bytes)) {
                for (const auto& seed : seeds) {
                    const Variant variant{method.value_or("auto"), seed.value_or(1), matrix.threads, chunks,
                                          bytes};
                    std::string details;
                    if (methods.size() > 1) details += " method=" + variant.method;
                    if (chunks) details += fmt::format(" chunks={}", *chunks);
                    if (bytes) details += fmt::format(" bytes={}", bytes->count);
                    if (seeds.size() > 1) details += fmt::format(" seed={}", variant.seed);
                    variants.emplace_back(variant, std::move(details));
                }
            }
        }
    }
    std::vector<Task> tasks;
    tasks.reserve(jobs.size() * variants.size());
    for (const Job& job : jobs) {
        for (const auto& [variant, details] : variants)
            tasks.push_back({job, variant, job.label() + details, stem_of(job, details)});
    }
    number_clashes(tasks);
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
