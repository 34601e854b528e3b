#pragma once

#include "plan/program.hpp"
#include "verify/plan/program_graph.hpp"

#include <vector>

namespace tutti::verify {

/// Ops of one GPU that write the output of another which never learns of it: nothing that the other one does
/// comes after the write, so its call may return before the data is there. One op for each pair of GPUs, in
/// order. Empty also where the program is too large to ask (2^33 pairs of op and GPU).
/// O(edges * gpus / 64). Precondition: the graph has no cycle.
[[nodiscard]] std::vector<plan::OpId> unfinished_writes(const plan::Program& program,
                                                        const ProgramGraph& graph);

}  // namespace tutti::verify
