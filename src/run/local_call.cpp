#include "run/local_call.hpp"

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

std::size_t bytes_of_call(const Executable& executable, const Layout& layout, ElementType type) {
    std::size_t elements = 0;
    for (std::uint32_t memory = 0; memory < executable.memories.size(); ++memory) {
        elements += static_cast<std::size_t>(layout.elements(memory));
        elements += static_cast<std::size_t>(layout.spare_elements(memory));
    }
    return elements * size_of(type);
}

LocalCall::LocalCall(const Executable& executable, const Layout& layout, ElementType type, Operator op,
                     WorkerThreads& workers, LocalOptions options)
    : executable_(&executable), layout_(layout), workers_(&workers), options_(std::move(options)) {
    const auto allocate = [&](std::int64_t elements) {
        return owned_.emplace_back(static_cast<std::size_t>(elements) * size_of(type)).data();
    };
    for (std::uint32_t memory = 0; memory < executable.memories.size(); ++memory) {
        memories_.push_back(allocate(layout.elements(memory)));
        spares_.push_back(allocate(layout.spare_elements(memory)));
    }
    binding_.emplace(executable, layout_, type, op, memories_, spares_);
    const bool alone = bytes_of_call(executable, layout, type) < kAlone;
    const std::size_t count = alone ? 1 : workers.count();
    if (options_.engine == Engine::Pieces) {
        for (std::size_t worker = 0; worker < count; ++worker)
            piece_workers_.emplace_back(std::in_place, *binding_, options_.piece_bytes);
        return;
    }
    stream_call_.emplace(*binding_, options_.piece_bytes);
    progress_ = std::vector<Progress>(stream_call_->counters());
    temporary_.resize(stream_call_->temporary_bytes());
    for (std::size_t worker = 0; worker < count; ++worker)
        stream_workers_.emplace_back(*stream_call_, progress_, temporary_.data(),
                                     streams_of(executable, worker, count));
}

void LocalCall::fill(const TestData& data) {
    for (std::uint32_t memory = 0; memory < memories_.size(); ++memory) data.fill(memory, memories_[memory]);
}

TestData::Check LocalCall::check(const TestData& data) const {
    const std::vector<const std::byte*> memories(memories_.begin(), memories_.end());
    return data.check(memories);
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
    if (binding_->op() != Operator::Avg) return;
    for (std::size_t stretch = 0; stretch < layout_.stretches().size(); ++stretch) {
        const auto [first, last] = layout_.stretches()[stretch];
        binding_->divide(stretch, static_cast<std::size_t>(first), static_cast<std::size_t>(last - first));
    }
}

}  // namespace tutti::run
