#pragma once

#include "compile/trace_lowering.hpp"

#include <vector>

namespace tutti::compile::passes {

/// Where copies of a program that share the data have their parts (replicate.cpp).
enum class Manner {
    Stretches,  ///< i * length + c
    Runs,       ///< c * m + i * count, for a step of count chunks
    Singles     ///< c * m + i, a step for each chunk
};

/// The manners that may be right for a program's instances, the best first: the judge decides. `has_ranges`:
/// some steps have several chunks.
[[nodiscard]] std::vector<Manner> manners_of(const lang::Trace& program, bool has_ranges);

/// The place that copy i of m has for a step of `count` chunks from `address` on, in a buffer that was
/// `length` chunks long. Singles: for a step of one chunk.
[[nodiscard]] plan::Address moved(const plan::Address& address, Manner manner, std::int64_t length,
                                  std::int64_t count, std::int64_t i, std::int64_t m);

/// What a custom collective wants of m times as many chunks.
[[nodiscard]] plan::Condition copied(const plan::Condition& condition, const lang::Shape& shape,
                                     std::int64_t m, Manner manner);

/// The plan for the program's instances, in the ways that may be right, the best first: the judge decides.
/// One instance: the plan as it is.
[[nodiscard]] std::vector<TraceResult> replicated(plan::MscclPlan plan, const TraceResult& frame,
                                                  const lang::Trace& program);

}  // namespace tutti::compile::passes
