#include "app/run_messages.hpp"

#include "core/error.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace tutti::app {
namespace {

/// Ranks are spread over the processes in blocks.
[[nodiscard]] std::uint32_t process_of(Rank rank, std::size_t ranks, std::uint32_t processes) {
    return static_cast<std::uint32_t>(rank.index() * processes / ranks);
}

[[nodiscard]] run::MessagePlan messages_of(const run::MpiLibrary& mpi, const run::Executable& executable) {
    const auto ranks = static_cast<std::size_t>(executable.ranks());
    if (mpi.processes() > ranks) {
        throw InputError(fmt::format("its {} ranks cannot be spread over the {} processes of MPI", ranks,
                                     mpi.processes()));
    }
    return run::message_plan(executable, mpi.process(),
                             [&](Rank rank) { return process_of(rank, ranks, mpi.processes()); });
}

}  // namespace

MessageRun::MessageRun(run::MpiLibrary& mpi, const run::Executable& executable, std::int64_t count,
                       run::ElementType type, run::Operator op, const run::TestData& data,
                       std::size_t piece_bytes, std::function<void()> check)
    : mpi_(mpi),
      ranks_(static_cast<std::size_t>(executable.ranks())),
      data_(data),
      plan_(messages_of(mpi, executable)),
      layout_(plan_.local, count),
      memories_(executable.memories.size()) {
    for (std::uint32_t memory = 0; memory < memories_.size(); ++memory) {
        const run::ExecutableMemory& here = executable.memories[memory];
        if (!is_own(here.gpu) || here.buffer == plan::Buffer::Scratch) continue;
        owned_.emplace_back(static_cast<std::size_t>(layout_.elements(memory)) * run::size_of(type) + 1);
        memories_[memory] = owned_.back().data();
        data.fill(memory, memories_[memory]);
    }
    call_.emplace(mpi, plan_, layout_, type, op, piece_bytes, memories_, std::move(check));
}

bool MessageRun::is_own(Rank rank) const {
    return process_of(rank, ranks_, mpi_.processes()) == mpi_.process();
}

std::span<const double> MessageRun::time(std::uint32_t rounds) {
    using SteadyClock = std::chrono::steady_clock;
    times_.clear();
    for (std::uint32_t round = 0; round < rounds; ++round) {
        mpi_.barrier();
        const auto start = SteadyClock::now();
        call_->run();
        const std::chrono::duration<double, std::micro> took = SteadyClock::now() - start;
        times_.push_back(took.count());
    }
    mpi_.broadcast(times_.data(), times_.size() * sizeof(double));
    return times_;
}

run::TestData::Check MessageRun::check() const {
    run::TestData::Check all;
    const std::vector<const std::byte*> found(memories_.begin(), memories_.end());
    for (const Rank rank : plan::ranks_below(static_cast<std::int64_t>(ranks_))) {
        if (!is_own(rank)) continue;
        const run::TestData::Check check = data_.check(found, rank);
        all.compared += check.compared;
        all.wrong += check.wrong;
        if (!all.first) all.first = check.first;
    }
    all.compared = mpi_.sum(all.compared);
    all.wrong = mpi_.sum(all.wrong);
    return all;
}

}  // namespace tutti::app
