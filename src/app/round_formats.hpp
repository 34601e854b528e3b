#pragma once

#include "plan/plan_verdict.hpp"
#include "plan/round_plan.hpp"

#include <cstdint>
#include <string>

namespace tutti::app {

/// The files that rounds of messages are written as.
enum class RoundFormat { NcclP2p, MpiP2p, Goal };

/// What a plan of rounds was judged to be, and its file.
struct RoundFile {
    plan::RoundPlan plan{};
    plan::PlanVerdict verdict{};
    double verify_seconds = 0;
    std::string text{};
};

/// Judges the plan for every interleaving, for calls in place too where it can serve them, and writes it out:
/// no other plan of rounds leaves the program. `block_bytes`: what Goal needs, the bytes of a block. Throws
/// InternalError if the verifier rejects the plan.
[[nodiscard]] RoundFile round_file(plan::RoundPlan plan, RoundFormat format, std::uint64_t block_bytes = 0);

/// The bytes of a block in a call of that size, as nccl-tests counts it: of a rank's larger buffer. Throws
/// InputError if that is none.
[[nodiscard]] std::uint64_t block_bytes_of(const plan::RoundPlan& plan, std::int64_t call_bytes);

}  // namespace tutti::app
