#include "batch/result_line.hpp"

#include "batch/variant_instance.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <ctime>

namespace tutti::batch {

io::ResultLine line_of(const Task& task, const Limits& limits) {
    io::ResultLine line;
    line.instance = task.job.name;
    line.file = task.job.path.string();
    line.method = task.variant.method;
    line.seed = task.variant.seed;
    line.key = task.key;
    line.label = task.job.label();
    line.asked = task.variant.method;
    line.asked_heuristic = task.variant.heuristic;
    line.options = changed_options(task.variant.options);
    line.asked_chunks = task.variant.chunks;
    if (task.variant.bytes) line.asked_bytes = static_cast<std::uint64_t>(task.variant.bytes->count);
    line.threads = task.variant.threads;
    line.time_limit = limits.time;
    if (task.variant.bytes) line.bytes = static_cast<std::uint64_t>(task.variant.bytes->count);
    return line;
}

Task task_of(const io::ResultLine& line) {
    Task task;
    task.job.path = line.file;
    task.job.name = line.label;
    task.key = line.key;
    task.variant.method = line.asked;
    task.variant.heuristic = line.asked_heuristic;
    for (const auto& [name, value] : line.options) {
        // One that is no longer there, or not with that value, cannot be asked for again.
        const SearchOption* option = find_search_option(name);
        if (option != nullptr && option->allows(value)) option->set(task.variant.options, value);
    }
    task.variant.seed = line.seed;
    task.variant.threads = line.threads;
    task.variant.chunks = line.asked_chunks;
    if (line.asked_bytes) task.variant.bytes = Bytes{static_cast<std::int64_t>(*line.asked_bytes)};
    return task;
}

io::ResultLine failed_line(const Task& task, const Limits& limits, io::Failure failure,
                           const std::string& error) {
    io::ResultLine line = line_of(task, limits);
    line.failure = failure;
    line.error = error;
    sign(line);
    return line;
}

bool answers(const io::ResultLine& line, const Task& task) {
    const io::ResultLine asked = line_of(task, {});
    return line.key == asked.key && line.asked == asked.asked && line.seed == asked.seed &&
           line.asked_heuristic == asked.asked_heuristic && line.options == asked.options &&
           line.asked_chunks == asked.asked_chunks && line.asked_bytes == asked.asked_bytes;
}

bool may_pass(const io::ResultLine& line) {
    return line.failure == io::Failure::Lost || line.failure == io::Failure::Output ||
           (line.failure == io::Failure::Input && line.digest.empty());
}

bool settles(const io::ResultLine& line, const Task& task) {
    if (may_pass(line) || !answers(line, task)) return false;
    return line.digest.empty() || line.digest == digest_of(task.job.path);
}

void rename_file(io::ResultLine& line, const std::string& file) {
    if (!line.file.empty() && line.error.starts_with(line.file))
        line.error.replace(0, line.file.size(), file);
    line.file = file;
}

void sign(io::ResultLine& line) {
    line.finished = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
    std::array<char, 256> host{};
    if (::gethostname(host.data(), host.size() - 1) == 0) line.host = host.data();
}

}  // namespace tutti::batch
