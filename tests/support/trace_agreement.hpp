#pragma once

#include "lang/trace.hpp"

#include <cstdint>
#include <string>

namespace tutti::test {

/// What became of a chunk program.
struct TraceOutcome {
    std::string difference{};  ///< who disagrees with whom, in words; empty: all agree
    /// "refused" (a verb that cannot be meant), "wrong" (not what the collective wants), "refused blocks"
    /// (thread blocks of its own that contradict each other), "nothing wanted", or the plan's verdict.
    std::string kind{};
    bool fused = false;  ///< the plan has steps that receive and send
};

/// Runs a program in every way there is and compares:
///  - the file that it is written to has the same program;
///  - the tracer refuses, accepts and finds wrong what the oracle does, and its values are those of the
///  oracle;
///  - the instructions of the graph, in a random order that it allows, end as the program does;
///  - the plan is accepted by the verifier, and ends right on data, by turns and (`threads`) with threads,
///  with
///    messages of chunks and of steps and the connections that the verdict promises.
[[nodiscard]] TraceOutcome outcome_of(const lang::Trace& program, std::uint64_t seed, bool threads);

}  // namespace tutti::test
