#pragma once

#include "compile/graph.hpp"
#include "lang/trace.hpp"

namespace tutti::compile {

/// The instructions of a program: a send and a receive for each verb between two ranks, a local one within a
/// rank, none with more than `most` chunks. A read comes after the last writer of each of its places, a write
/// after the readers since (or the writer), a receive after its send. O(chunks of all verbs).
/// Precondition: the verbs were traced (lang::Tracer).
[[nodiscard]] Graph graph_of(const lang::Trace& trace, std::uint32_t most);

}  // namespace tutti::compile
