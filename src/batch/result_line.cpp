#include "batch/result_line.hpp"

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

void sign(io::ResultLine& line) {
    line.finished = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
    std::array<char, 256> host{};
    if (::gethostname(host.data(), host.size() - 1) == 0) line.host = host.data();
}

}  // namespace tutti::batch
