#include "tests/support/runnable.hpp"

#include "compile/trace_lowering.hpp"
#include "core/rng.hpp"

#include <cmath>
#include <cstring>

namespace tutti::test {

Runnable runnable(const plan::MscclPlan& plan) {
    Runnable result;
    (void)verify::verify(plan, {}, result.programs);
    return result;
}

Runnable runnable(const lang::Trace& trace) {
    Runnable best;
    (void)compile::compile_trace(trace, {}, [&](const compile::TraceResult& result) {
        Runnable runnable;
        verify::PlanReading reading;
        reading.root = result.root;
        reading.condition = result.condition;
        const auto verdict = verify::verify(result.plan, reading, runnable.programs).verdict;
        if (result.condition) {
            runnable.condition = std::make_shared<plan::Condition>(*result.condition);
            for (auto& program : runnable.programs)
                program.postcondition.condition = runnable.condition.get();
        }
        if (best.programs.empty() || verdict == plan::PlanClass::Valid) best = std::move(runnable);
        return verdict;
    });
    return best;
}

run::TestData::Check run_once(const run::Executable& executable, const CallCase& call, std::uint64_t salt) {
    const run::Layout layout(executable, call.count);
    run::WorkerThreads workers(call.workers);
    run::LocalCall local(executable, layout, call.type, call.op, workers, {call.engine, call.piece_bytes});
    const run::TestData data(executable, layout, call.type, call.op, salt);
    local.fill(data);
    local.run();
    return local.check(data);
}

std::vector<std::byte> outputs_of(const run::Executable& executable, const CallCase& call) {
    const run::Layout layout(executable, call.count);
    run::WorkerThreads workers(call.workers);
    run::LocalCall local(executable, layout, call.type, call.op, workers, {call.engine, call.piece_bytes});
    Rng rng(7);
    for (std::uint32_t memory = 0; memory < executable.memories.size(); ++memory) {
        const auto elements = static_cast<std::size_t>(layout.elements(memory));
        for (std::size_t at = 0; at < elements; ++at) {
            const double number = std::ldexp(static_cast<double>(rng.below(1U << 20U)) - 5e5, -20);
            std::byte* const to = local.memories()[memory] + at * run::size_of(call.type);
            if (call.type == run::ElementType::F32) {
                const auto value = static_cast<float>(number);
                std::memcpy(to, &value, sizeof value);
            } else if (call.type == run::ElementType::F64) {
                std::memcpy(to, &number, sizeof number);
            } else {
                // The upper half of an f32 is a bf16, and as an f16 it is a number, too.
                const auto value = static_cast<float>(number);
                std::memcpy(to, reinterpret_cast<const std::byte*>(&value) + 2, 2);
            }
        }
    }
    local.run();
    return local.outputs();
}

}  // namespace tutti::test
