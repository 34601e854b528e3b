#include "app/tune_measure.hpp"

#include "app/tensor_network.hpp"
#include "core/error.hpp"
#include "run/program_run.hpp"
#include "run/rank_parts.hpp"
#include "tensor/parts.hpp"
#include "verify/tensor/rank_machine.hpp"
#include "verify/tensor/real_numbers.hpp"

#include <fmt/format.h>

namespace tutti::app {
namespace {

/// Of all inputs of all ranks: some hundred MB while they are drawn.
constexpr std::int64_t kMostElements = std::int64_t{1} << 25;

std::int64_t elements_of_inputs(const tensor::Program& program) {
    std::int64_t elements = 0;
    for (const tensor::ValueId id : program.order()) {
        if (program[id].op == tensor::Op::Input)
            elements += tensor::part_elements(program.mesh(), program[id].type) * program.mesh().ranks();
        if (elements > kMostElements) break;
    }
    return elements;
}

}  // namespace

TuneMeasure::TuneMeasure(const tensor::Program& original, const Topology& topology,
                         tune::CallSchedules& calls, const Watch& watch)
    : topology_(topology), calls_(calls), watch_(watch) {
    if (elements_of_inputs(original) > kMostElements) {
        why_ = fmt::format("its ranks have more than {} elements of inputs; --sizes makes it smaller",
                           kMostElements);
        return;
    }
    inputs_ = verify::drawn_inputs(original, verify::RealNumbers(verify::RealNumbers::Precision::F32));
}

std::optional<double> TuneMeasure::us(const tensor::Program& form) {
    if (inputs_.empty()) return std::nullopt;
    try {
        const run::ProgramNetwork network = program_network(form, topology_, calls_);
        const run::ProgramRun run = run::run_program(
            form, run::rank_inputs(form, inputs_, run::Precision::Declared),
            {.arithmetic = run::Precision::Declared, .calls = kCalls, .network = &network}, watch_.stop());
        return run.seconds * 1e6;
    } catch (const LimitError& error) {
        if (watch_.was_interrupted()) throw;
        why_ = error.what();
        return std::nullopt;
    }
}

}  // namespace tutti::app
