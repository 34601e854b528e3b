#pragma once

#include "tests/oracle/plan_machine.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

namespace tutti::oracle {

struct ExploreOptions {
    /// Take a transition that commutes with everything still to come as soon as it can be taken, and only
    /// that one. Off: every order of everything.
    bool reduced = true;
    /// A message per chunk instead of one per step: its chunks may overtake the step that sends them.
    bool message_per_chunk = false;
    std::uint64_t max_states = 300'000;
    /// What this step reads or writes at this place is replaced by poison.
    struct Poison {
        int block, step, place;
    };
    std::optional<Poison> poison{};
};

struct Exploration {
    std::uint64_t states = 0;
    /// States from which nothing goes on: at the end of all blocks, or not.
    std::uint64_t ended = 0, hung = 0;
    bool out_of_work = false;                 ///< max_states were not enough, the rest says nothing
    std::vector<std::set<Value>> outcomes{};  ///< by output of the machine, what it may hold in the end
    std::set<std::size_t> wrong{};            ///< outputs that some interleaving ends wrong
    std::set<std::size_t> differing{};        ///< outputs that do not always end the same
    bool poisoned = false;                    ///< poison reached an output in some interleaving
    std::vector<int> stuck{};                 ///< if some interleaving hangs: the step each block hangs at

    [[nodiscard]] bool fine() const { return hung == 0 && wrong.empty() && differing.empty(); }
};

/// Runs every interleaving. FIFOs are unbounded.
[[nodiscard]] Exploration explore(Machine& machine, const ExploreOptions& options = {});

/// Whether some interleaving completes the first step before the second one begins.
[[nodiscard]] bool can_precede(const Machine& machine, int block, int step, int other_block, int other_step);

}  // namespace tutti::oracle
