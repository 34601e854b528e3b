#pragma once

#include "core/stop.hpp"
#include "tensor/program.hpp"
#include "tensor/schedule.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti::tune {

/// A program and the steps that lead to it.
struct Explored {
    tensor::Program program;
    std::vector<tensor::Step> steps{};
};

struct ExploreOptions {
    std::size_t most_programs = 5000;  ///< of reachable(): the search ends there
    std::size_t most_chains = 64;      ///< of one program
    std::int64_t pieces = 4;           ///< of every overlap
    Stop stop{};                       ///< ends the search early, with what was found
};

/// The standard space: all programs that these moves reach, told apart by structure and not by names; the
/// program itself is the first. Split of an all_reduce that is no scalar (rs_ag, dim 0); reorder of an
/// all_gather past one unit (rewrite/regions.hpp); as_slice of a state.
[[nodiscard]] std::vector<Explored> reachable(const tensor::Program& program,
                                              const ExploreOptions& options = {});

/// The same program unfused, with every region as a kernel, and with kernels that take their collectives in
/// (where that differs); each with no overlap and with every chain of kernels that cannot be made longer.
[[nodiscard]] std::vector<Explored> forms(const Explored& explored, const ExploreOptions& options = {});

}  // namespace tutti::tune
