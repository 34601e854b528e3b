#include "app/round_formats.hpp"

#include "core/error.hpp"
#include "io/goal.hpp"
#include "io/mpi_p2p.hpp"
#include "io/nccl_p2p.hpp"
#include "verify/plan/plan_verifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace tutti::app {
namespace {

std::string round_text(const plan::RoundPlan& plan, RoundFormat format, std::uint64_t block_bytes) {
    switch (format) {
        case RoundFormat::NcclP2p:
            return io::nccl_p2p_text(plan);
        case RoundFormat::MpiP2p:
            return io::mpi_p2p_text(plan);
        case RoundFormat::Goal:
            return io::goal_text(plan, block_bytes);
    }
    throw InternalError("a format of rounds has no writer");
}

}  // namespace

RoundFile round_file(const MakeRounds& make, RoundFormat format, std::uint64_t block_bytes) {
    using Clock = std::chrono::steady_clock;
    RoundFile file;
    for (const bool in_place : {true, false}) {
        file.plan = make(in_place);
        const auto start = Clock::now();
        file.verdict = verify::verify(file.plan);
        file.verify_seconds += std::chrono::duration<double>(Clock::now() - start).count();
        if (file.verdict.verdict == plan::PlanClass::Valid) break;
    }
    if (file.verdict.verdict != plan::PlanClass::Valid) {
        throw InternalError(
            fmt::format("the rounds are {}: {}", name_of(file.verdict.verdict),
                        file.verdict.violations.empty() ? "" : file.verdict.violations.front().message));
    }
    file.text = round_text(file.plan, format, block_bytes);
    return file;
}

std::uint64_t block_bytes_of(const plan::RoundPlan& plan, std::int64_t call_bytes) {
    std::uint32_t chunks = plan.block_chunks;
    for (std::uint32_t r = 0; r < plan.ranks; ++r)
        chunks = std::max({chunks, plan.inputs[r], plan.outputs[r]});
    const std::uint64_t bytes = static_cast<std::uint64_t>(call_bytes) / (chunks / plan.block_chunks);
    if (bytes == 0) {
        throw InputError(fmt::format("a call of {} bytes has none for each of {} blocks", call_bytes,
                                     chunks / plan.block_chunks));
    }
    return bytes;
}

}  // namespace tutti::app
