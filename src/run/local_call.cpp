#include "run/local_call.hpp"

#include "run/fusion.hpp"

#include <algorithm>

namespace tutti::run {
namespace {

/// The streams of a worker: ranks take turns, so that all workers have as much to do.
[[nodiscard]] std::vector<std::uint32_t> streams_of(const Executable& executable, std::size_t worker,
                                                    std::size_t workers) {
    std::vector<std::uint32_t> own;
    for (std::uint32_t stream = 0; stream < executable.streams.size(); ++stream) {
        if (executable.streams[stream].gpu.index() % workers == worker) own.push_back(stream);
    }
    return own;
}

}  // namespace

Executable executable_for(Engine engine, const Executable& executable, ElementType type) {
    return engine == Engine::Pieces ? fused(executable, type) : fused_if_balanced(executable, type);
}

std::size_t temporary_bytes_of_call(const Executable& executable, const Layout& layout, ElementType type,
                                    const LocalOptions& options) {
    if (options.engine == Engine::Pieces) return 0;  // as much as fits into a cache
    return StreamCall::temporary_bytes(executable, layout, type, options.piece_bytes);
}

LocalCall::LocalCall(const Executable& executable, const Layout& layout, ElementType type, Operator op,
                     WorkerThreads& workers, LocalOptions options, std::span<std::byte* const> given)
    : executable_(executable_for(options.engine, executable, type)),
      workers_(&workers),
      options_(std::move(options)),
      memories_(executable_, layout, type, op, given) {
    const Binding& binding = memories_.binding();
    const bool alone = bytes_of_call(executable, layout, type) < kAlone;
    const std::size_t count = alone ? 1 : workers.count();
    if (options_.engine == Engine::Pieces) {
        for (std::size_t worker = 0; worker < count; ++worker)
            piece_workers_.emplace_back(std::in_place, binding, options_.piece_bytes);
        return;
    }
    stream_call_.emplace(binding, options_.piece_bytes);
    progress_ = std::vector<Progress>(stream_call_->counters());
    temporary_.resize(stream_call_->temporary_bytes());
    for (std::size_t worker = 0; worker < count; ++worker)
        stream_workers_.emplace_back(*stream_call_, progress_, temporary_.data(),
                                     streams_of(executable_, worker, count));
}

void LocalCall::run() {
    if (options_.engine == Engine::Pieces) {
        run_pieces();
    } else {
        run_streams();
    }
}

void LocalCall::run_pieces() {
    const std::size_t workers = piece_workers_.size();
    workers_->run([&](std::size_t worker) { piece_workers_[worker]->run(worker, workers); }, workers);
}

void LocalCall::run_streams() {
    const std::size_t workers = stream_workers_.size();
    for (StreamWorker& worker : stream_workers_) worker.reset();
    workers_->run(
        [&](std::size_t worker) {
            Patience patience(options_.check, workers_->have_cores());
            stream_workers_[worker].run(patience);
        },
        workers);
    if (memories_.binding().op() == Operator::Avg) memories_.divide();
}

}  // namespace tutti::run
