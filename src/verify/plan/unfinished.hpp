#pragma once

#include "plan/program.hpp"
#include "verify/plan/program_graph.hpp"

#include <vector>

namespace tutti::verify {

/// Ops of one GPU that write the output of another GPU on which no op is ordered after the write, so its call
/// may return before the data has arrived. One op for each pair of GPUs, in order. Also empty where the
/// program is too large (2^33 pairs of op and GPU). O(edges * gpus / 64). Precondition: the graph has no
/// cycle.
[[nodiscard]] std::vector<plan::OpId> unfinished_writes(const plan::Program& program,
                                                        const ProgramGraph& graph);

}  // namespace tutti::verify
