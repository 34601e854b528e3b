#pragma once

#include "core/topology.hpp"
#include "run/emulated_tasks.hpp"
#include "run/executable.hpp"
#include "run/local_memories.hpp"
#include "verify/plan/judged_program.hpp"

#include <functional>
#include <span>
#include <vector>

namespace tutti::run {

/// A plan's call on emulated links. The executable is one with messages apart.
struct EmulatedJob {
    const verify::JudgedProgram* program = nullptr;
    const Executable* executable = nullptr;
    LocalMemories* memories = nullptr;
    EmulatedPlace place{};
};

struct EmulationOptions {
    /// Whether time that passes on links is slept through, so that it passes for the caller too.
    bool sleep = true;
    /// Called now and then; throws to end the call.
    std::function<void()> check = [] {};
};

/// Executes calls that start together and share the links: data moves as the plan says, and each message
/// arrives when the contract's model has it. Emulated time stands still while data is moved or reduced, which
/// the contract has for free, so results do not depend on this machine: the same call takes the same time.
/// The thread sleeps until the next arrival when nothing else can be done. Returns when each call ended.
/// Throws InputError where the topology does not serve a plan, and where nothing can go on because
/// connections hold too few messages.
[[nodiscard]] std::vector<Ticks> run_emulated(const Topology& topology, std::span<const EmulatedJob> jobs,
                                              const EmulationOptions& options);

}  // namespace tutti::run
