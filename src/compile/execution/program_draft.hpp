#pragma once

#include "compile/execution/draft.hpp"
#include "compile/graph.hpp"
#include "compile/trace/layout.hpp"
#include "compile/trace/replicate.hpp"

namespace tutti::compile::execution {

/// How a program's instructions become moves.
struct ProgramChoice {
    /// Copies are put where they belong where that is known to be safe; otherwise all land in scratch.
    bool direct = true;
    bool packets = false;  ///< messages are packets; all land in scratch
    std::int64_t instances = 1;
    trace::Manner manner = trace::Manner::Singles;
};

/// What ranks do for the instructions of a program, in the order that was played. The layout has thread
/// blocks and that order; for several instances in the manner of Singles no instruction has a range.
[[nodiscard]] Draft draft_of(const Graph& graph, const trace::Layout& layout, const ProgramChoice& choice);

}  // namespace tutti::compile::execution
