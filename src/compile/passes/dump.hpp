#pragma once

#include "compile/pass.hpp"
#include "compile/passes/layout.hpp"

namespace tutti::compile::passes {

/// What the passes know after `pass`, which is one of Clock to Channels (Trace: before all of them): a line
/// for each lane, thread block and instruction, or a graph for Graphviz.
[[nodiscard]] std::string dump(const lang::Trace& program, const Graph& graph, const Clock& clock,
                               const Layout& layout, Pass pass, bool dot);

/// A plan's steps, dependencies and messages as a graph for Graphviz.
[[nodiscard]] std::string dot_of(const plan::MscclPlan& plan);

}  // namespace tutti::compile::passes
