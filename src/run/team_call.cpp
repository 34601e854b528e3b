#include "run/team_call.hpp"

#include <new>
#include <utility>

namespace tutti::run {

TeamCall::TeamCall(Team& team, const Executable& executable, const Layout& layout, ElementType type,
                   Operator op, Engine engine, std::size_t piece_bytes, std::span<std::byte* const> arrays)
    : team_(&team),
      executable_(&executable),
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
    binding_.emplace(executable, layout_, type, op, memories_, spares_);
    if (engine == Engine::Pieces) {
        alone_ = bytes_of_call(executable, layout, type) < kAlone;
        piece_worker_.emplace(*binding_, piece_bytes);
        return;
    }

    // Counters and temporary places of all are the first process's.
    stream_call_.emplace(*binding_, piece_bytes);
    const std::size_t counters = stream_call_->counters();
    if (team.process() == 0) {
        std::byte* const memory = allocate(counters * sizeof(Progress) + stream_call_->temporary_bytes());
        for (std::size_t at = 0; at < counters; ++at) new (memory + at * sizeof(Progress)) Progress;
        team.post(0)[0] = *team.offset_of(memory, 0);
    }
    team.meet();
    std::byte* const memory = team.at(team.post(0)[0]);
    const std::span progress(reinterpret_cast<Progress*>(memory), counters);
    std::vector<std::uint32_t> own;
    for (std::uint32_t stream = 0; stream < executable.streams.size(); ++stream) {
        if (is_own(executable.streams[stream].gpu)) own.push_back(stream);
    }
    stream_worker_.emplace(*stream_call_, progress, memory + counters * sizeof(Progress), std::move(own));
    team.meet();
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
        const std::uint32_t process = team_->process_of(executable_->memories[memory].gpu.index(), ranks_);
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
    stream_worker_->reset();
    team_->meet();
    Patience patience = team_->patience();
    stream_worker_->run(patience);
    team_->meet();
    if (binding_->op() != Operator::Avg) return;
    for (std::size_t at = 0; at < layout_.stretches().size(); ++at) {
        const auto [first, last] = layout_.stretches()[at];
        const auto share = [&, from = first, length = last - first](std::uint32_t process) {
            return static_cast<std::size_t>(from + length * process / team_->processes());
        };
        const std::size_t begin = share(team_->process());
        binding_->divide(at, begin, share(team_->process() + 1) - begin);
    }
    team_->meet();
}

}  // namespace tutti::run
