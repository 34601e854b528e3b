#pragma once

#include "plan/plan_verdict.hpp"
#include "plan/round_plan.hpp"

#include <cstdint>
#include <functional>
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

/// Makes a plan for calls in place too, or else for calls out of place only.
using MakeRounds = std::function<plan::RoundPlan(bool in_place)>;

/// Makes a plan, in place where that can be right, judges it for every interleaving and writes it out: no
/// other plan of rounds leaves the program. `block_bytes`: what Goal needs, the bytes of a block. Throws
/// InternalError if the verifier rejects both.
[[nodiscard]] RoundFile round_file(const MakeRounds& make, RoundFormat format, std::uint64_t block_bytes = 0);

/// The bytes of a block in a call of that size, as nccl-tests counts it: of a rank's larger buffer. Throws
/// InputError if that is none.
[[nodiscard]] std::uint64_t block_bytes_of(const plan::RoundPlan& plan, std::int64_t call_bytes);

}  // namespace tutti::app
