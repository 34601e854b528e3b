#include "run/team_call.hpp"

#include <new>
#include <utility>

namespace tutti::run {

TeamCall::TeamCall(Team& team, const Executable& executable, const Layout& layout, ElementType type,
                   Operator op, Engine engine, std::size_t piece_bytes, std::span<std::byte* const> arrays)
    : team_(&team),
      executable_(executable_for(engine, executable, type)),
      layout_(layout),
      ranks_(static_cast<std::size_t>(executable.ranks())) {
    const std::size_t size = size_of(type);
    const auto allocate = [&](std::size_t bytes) { return allocated_.emplace_back(team.allocate(bytes)); };
    memories_.resize(executable.memories.size());
    spares_.resize(executable.memories.size());
    for (std::uint32_t memory = 0; memory < executable.memories.size(); ++memory) {
        if (!is_own(executable.memories[memory].gpu)) continue;
        const bool scratch = executable.memories[memory].buffer == plan::Buffer::Scratch;
        const auto elements = static_cast<std::size_t>(layout_.elements(memory));
        memories_[memory] = scratch && elements > 0 ? allocate(elements * size) : arrays[memory];
        if (const std::int64_t spare = layout_.spare_elements(memory); spare > 0)
            spares_[memory] = allocate(static_cast<std::size_t>(spare) * size);
    }
    exchange_addresses();
    binding_.emplace(executable_, layout_, type, op, memories_, spares_);
    alone_ = bytes_of_call(executable, layout, type) < kAlone;
    if (engine == Engine::Pieces) {
        piece_worker_.emplace(*binding_, piece_bytes);
    } else {
        make_streams(piece_bytes);
    }
}

void TeamCall::make_streams(std::size_t piece_bytes) {
    stream_call_.emplace(*binding_, piece_bytes);
    const std::size_t counters = stream_call_->counters();
    std::vector<std::uint32_t> own;
    for (std::uint32_t stream = 0; stream < counters; ++stream) {
        if (alone_ || is_own(executable_.streams[stream].gpu)) own.push_back(stream);
    }
    if (alone_) {
        own_progress_ = std::vector<Progress>(counters);
        own_temporary_.resize(stream_call_->temporary_bytes());
        stream_worker_.emplace(*stream_call_, own_progress_, own_temporary_.data(), std::move(own));
        return;
    }
    // Counters and temporary places of all are the first process's.
    if (team_->process() == 0) {
        std::byte* const memory =
            team_->allocate(counters * sizeof(Progress) + stream_call_->temporary_bytes());
        allocated_.push_back(memory);
        for (std::size_t at = 0; at < counters; ++at) new (memory + at * sizeof(Progress)) Progress;
        team_->post(0)[0] = *team_->offset_of(memory, 0);
    }
    team_->meet();
    std::byte* const memory = team_->at(team_->post(0)[0]);
    const std::span progress(reinterpret_cast<Progress*>(memory), counters);
    stream_worker_.emplace(*stream_call_, progress, memory + counters * sizeof(Progress), std::move(own));
    team_->meet();
}

TeamCall::~TeamCall() {
    for (std::byte* const memory : allocated_) team_->free(memory);
}

void TeamCall::exchange_addresses() {
    // Each process's table: for each memory, the offsets of it and of its spare.
    const std::size_t count = memories_.size();
    std::byte* const table = team_->allocate(2 * count * sizeof(std::uint64_t));
    auto* const own = reinterpret_cast<std::uint64_t*>(table);
    for (std::size_t memory = 0; memory < count; ++memory) {
        own[2 * memory] = team_->offset_of(memories_[memory], 0).value_or(0);
        own[2 * memory + 1] = team_->offset_of(spares_[memory], 0).value_or(0);
    }
    team_->post(team_->process())[0] = *team_->offset_of(table, 0);
    team_->meet();
    for (std::size_t memory = 0; memory < count; ++memory) {
        const std::uint32_t process = team_->process_of(executable_.memories[memory].gpu.index(), ranks_);
        if (process == team_->process()) continue;
        const auto* const theirs = reinterpret_cast<const std::uint64_t*>(team_->at(team_->post(process)[0]));
        memories_[memory] = team_->at(theirs[2 * memory]);
        spares_[memory] = team_->at(theirs[2 * memory + 1]);
    }
    team_->meet();
    team_->free(table);
}

void TeamCall::run() {
    if (stream_worker_) return run_streams();
    if (alone_) return team_->meet([&] { piece_worker_->run(0, 1); });
    team_->meet();
    piece_worker_->run(team_->process(), team_->processes());
    team_->meet();
}

void TeamCall::run_streams() {
    Patience patience = team_->patience();
    if (alone_) {
        return team_->meet([&] {
            stream_worker_->reset();
            stream_worker_->run(patience);
            divide(0, 1);
        });
    }
    stream_worker_->reset();
    team_->meet();
    stream_worker_->run(patience);
    team_->meet();
    if (binding_->op() != Operator::Avg) return;
    divide(team_->process(), team_->processes());
    team_->meet();
}

void TeamCall::divide(std::uint32_t share, std::uint32_t shares) const {
    for (std::size_t at = 0; at < layout_.stretches().size(); ++at) {
        const auto [first, last] = layout_.stretches()[at];
        const auto begin = static_cast<std::size_t>(first + (last - first) * share / shares);
        const auto end = static_cast<std::size_t>(first + (last - first) * (share + 1) / shares);
        binding_->divide(at, begin, end - begin);
    }
}

}  // namespace tutti::run
