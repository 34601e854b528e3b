#pragma once

#include "compile/execution/draft.hpp"
#include "compile/graph.hpp"
#include "compile/passes/layout.hpp"
#include "compile/passes/replicate.hpp"

namespace tutti::compile::execution {

/// How instructions become moves.
struct DraftChoice {
    /// Copies are put where they belong where that is known to be safe; otherwise all land in scratch.
    bool direct = true;
    bool packets = false;       ///< messages are packets; all land in scratch
    bool staged = false;        ///< the sender makes them in scratch of its own, from where a proxy puts them
    bool reads = false;         ///< what is added is read from its sender where that is known to be safe
    bool copies_apart = false;  ///< what blocks without lanes do is nothing that anybody waits for
    std::int64_t instances = 1;
    passes::Manner manner = passes::Manner::Singles;
};

/// What ranks do for the instructions of a graph, in the order of the layout, which has thread blocks. For
/// several instances in the manner of Singles no instruction has a range.
[[nodiscard]] Draft draft_of(const Graph& graph, const passes::Layout& layout, const DraftChoice& choice);

}  // namespace tutti::compile::execution
