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

RoundFile round_file(plan::RoundPlan plan, RoundFormat format, std::uint64_t block_bytes) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    RoundFile file;
    plan.in_place = true;
    file.verdict = verify::verify(plan);
    if (file.verdict.verdict != plan::PlanClass::Valid) {
        plan.in_place = false;
        file.verdict = verify::verify(plan);
    }
    file.verify_seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (file.verdict.verdict != plan::PlanClass::Valid) {
        throw InternalError(
            fmt::format("the rounds are {}: {}", name_of(file.verdict.verdict),
                        file.verdict.violations.empty() ? "" : file.verdict.violations.front().message));
    }
    file.text = round_text(plan, format, block_bytes);
    file.plan = std::move(plan);
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
