#include "app/run_tensor.hpp"

#include "app/scheduled_program.hpp"
#include "app/tensor_processes.hpp"
#include "io/device_json.hpp"
#include "io/tensor_json.hpp"
#include "io/tensor_numbers_json.hpp"
#include "run/meeting.hpp"
#include "run/rank_parts.hpp"
#include "tensor/layout.hpp"
#include "tune/predict.hpp"
#include "verify/tensor/equivalence.hpp"
#include "verify/tensor/field.hpp"
#include "verify/tensor/real_numbers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tutti::app {
namespace {

using run::Precision, tensor::Program, verify::RealNumbers;

Program at_sizes_of(const Program& program, const io::TensorNumbers& numbers) {
    std::vector<std::int64_t> axes;
    for (const tensor::Mesh::Axis& axis : program.mesh().axes()) {
        const auto found = numbers.mesh.find(axis.name);
        axes.push_back(found == numbers.mesh.end() ? axis.size : found->second);
    }
    for (const auto& [name, size] : numbers.mesh) {
        if (!program.mesh().find(name))
            throw InputError(fmt::format("the program's mesh has no axis '{}'", name),
                             "/mesh/" + path_token(name));
    }
    for (const auto& [name, size] : numbers.sizes) {
        if (!program.sizes().contains(name))
            throw InputError(fmt::format("the program has no size '{}'", name), "/sizes/" + path_token(name));
    }
    return tensor::at_sizes(program, axes, numbers.sizes);
}

/// All arrays belong to one of these values and have its shape. `what` is "input" or "output".
void check_arrays(const Program& program, const std::vector<tensor::ValueId>& values,
                  const std::map<std::string, io::NumberArray>& given, std::string_view what) {
    for (const auto& [name, array] : given) {
        const std::string place = fmt::format("/{}s/{}", what, path_token(name));
        const auto value =
            std::ranges::find(values, name, [&](tensor::ValueId id) { return program[id].name; });
        if (value == values.end())
            throw InputError(fmt::format("the program has no {} '{}'", what, name), place);
        const std::vector<std::int64_t> expected = verify::array_shape(program.mesh(), program[*value].type);
        if (array.shape == expected) continue;
        throw InputError(fmt::format("{} '{}': expected the shape [{}], found [{}]", what, name,
                                     fmt::join(expected, ", "), fmt::join(array.shape, ", ")),
                         place);
    }
}

void check_numbers(const Program& program, const io::TensorNumbers& numbers) {
    std::vector<tensor::ValueId> inputs;
    for (const tensor::ValueId id : program.order()) {
        if (program[id].op != tensor::Op::Input) continue;
        inputs.push_back(id);
        if (!numbers.inputs.contains(program[id].name))
            throw InputError(fmt::format("expected numbers for the input '{}'", program[id].name), "/inputs");
    }
    check_arrays(program, inputs, numbers.inputs, "input");
    check_arrays(program, program.outputs(), numbers.outputs, "output");
}

/// The program at the sizes of these numbers, which fit it.
Program fitting(const Program& program, const io::TensorNumbers& numbers, const std::string& file) {
    try {
        Program sized = at_sizes_of(program, numbers);
        check_numbers(sized, numbers);
        return sized;
    } catch (const InputError& error) {
        throw error.in_file(file);
    }
}

verify::Array array_of(const io::NumberArray& array, const RealNumbers& numbers, tensor::DType dtype) {
    verify::Array result{array.shape, {}};
    for (const double number : array.numbers) result.elements.push_back(numbers.constant(number, dtype));
    return result;
}

verify::Arrays arrays_of(const Program& program, const std::map<std::string, io::NumberArray>& given,
                         const RealNumbers& numbers) {
    verify::Arrays arrays;
    for (const tensor::ValueId id : program.order()) {
        const tensor::Value& value = program[id];
        const auto found = given.find(value.name);
        if (found != given.end()) arrays[value.name] = array_of(found->second, numbers, value.type.dtype);
    }
    return arrays;
}

std::string type_text(const Program& program, const tensor::Type& type) {
    std::vector<std::string> words{fmt::format("{}[{}]", name_of(type.dtype), fmt::join(type.shape, ", "))};
    for (std::size_t a = 0; a < type.layout.size(); ++a) {
        if (!type.layout[a].is_replicated())
            words.push_back(fmt::format("{} {}", program.mesh().axes()[a].name, text_of(type.layout[a])));
    }
    return fmt::format("{}", fmt::join(words, ", "));
}

/// The tolerances of the reference numbers: 1e-9 in f64, else 1e-5 of the largest element (of half types,
/// 1e-2).
verify::Tolerance tolerance_of(const Program& program, Precision precision) {
    if (precision == Precision::F64) return {1e-9, 1e-12};
    const bool has_halves = std::ranges::any_of(program.order(), [&](tensor::ValueId id) {
        const tensor::DType dtype = program[id].type.dtype;
        return dtype == tensor::DType::F16 || dtype == tensor::DType::BF16;
    });
    return {0, has_halves ? 1e-2 : 1e-5};
}

/// Compares one output of all ranks.
std::optional<std::string> difference_of(const Program& program, const verify::RankValue& found,
                                         const verify::Array& expected, const verify::Tolerance& tolerance) {
    const auto difference =
        verify::difference(program.mesh(), {.outputs = {found}}, {.outputs = {expected}}, tolerance);
    if (!difference) return std::nullopt;
    const std::string place =
        fmt::format("rank {}, element [{}]", difference->rank, fmt::join(difference->index, ", "));
    if (difference->poison) return place + ": nothing";
    return fmt::format("{}: {} instead of {}", place, RealNumbers::number(difference->found),
                       RealNumbers::number(difference->expected));
}

double part_of(const std::vector<double>& sorted, double part) {
    return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1) + 0.5)];
}

void set_times(TensorRun& result, const run::ProgramRun& run) {
    result.seconds = run.seconds;
    result.memory = run.memory;
    result.calls = run.times.size();
    std::vector<double> times = run.times;
    std::ranges::sort(times);
    result.quartiles = {part_of(times, 0.25), part_of(times, 0.75)};
    for (const run::KernelTime& kernel : run.kernels)
        result.kernels.push_back({kernel.name, kernel.values.size(), kernel.begin, kernel.seconds, {}});
}

/// What the tuner would say of this program on these links.
void predict(TensorRun& result, const Program& program, const std::string& device,
             tune::CallSchedules& calls) {
    const tune::Prediction prediction =
        tune::predict(program, io::read_device(device), calls, {.bars = true, .joint = false});
    result.predicted = prediction.us / 1e6;
    for (TensorKernel& kernel : result.kernels) {
        double begin = prediction.us, end = 0;
        for (const tune::Bar& bar : prediction.bars) {
            if (bar.kernel != kernel.name) continue;
            begin = std::min(begin, bar.start_us);
            end = std::max(end, bar.end_us);
        }
        if (end > begin) kernel.predicted = (end - begin) / 1e6;
    }
}

/// Runs the real program in the field. A topology and processes of MPI have their own numbers of ranks; alike
/// links and new processes there are for any.
TensorCheck checked(const Program& original, const Program& changed, const RunTensorOptions& options,
                    const TensorProcesses& processes, const Watch& watch) {
    verify::RunOptions at{.seed = options.seed};
    if (!options.links.topology.empty() || processes.are_fixed()) {
        for (const tensor::Mesh::Axis& axis : original.mesh().axes()) at.axes.push_back(axis.size);
    }
    std::string other_bits;
    const auto run = [&](const Program& program, const verify::Arrays& inputs, std::uint64_t salt) {
        std::optional<TensorNetwork> network;
        run::ProgramNetwork of_program;
        if (options.links.any()) {
            network.emplace(options.links, program.mesh(), watch.stop(), nullptr);
            of_program = network->of(program);
        }
        const run::ProgramRun made =
            processes.run(program, run::rank_inputs(program, inputs, Precision::Field),
                          {.arithmetic = run::Arithmetic(Precision::Field, salt),
                           .kernels = run::KernelMode::Auto,
                           .calls = 2,
                           .network = network ? &of_program : nullptr,
                           .faults = options.faults});
        if (other_bits.empty()) other_bits = made.other_bits;
        return run::rank_results(program, made.outputs);
    };
    const verify::RunReport report = verify::field_run(original, changed, at, run);
    TensorCheck check{.runs = report.runs, .difference = other_bits};
    if (report.difference) {
        std::vector<std::string> sizes;
        for (const auto& [name, size] : report.sizes) sizes.push_back(fmt::format("{}={}", name, size));
        check.difference = fmt::format(
            "{} on rank {}, element [{}]{}, with {} ranks on the axes{}{}", report.difference->value,
            report.difference->rank, fmt::join(report.difference->index, ", "),
            report.difference->poison ? " is nothing" : "", fmt::join(report.axes, " x "),
            sizes.empty() ? "" : ", ", fmt::join(sizes, ", "));
    }
    return check;
}

TensorRun whole_run(const RunTensorOptions& options, const Watch& watch) {
    const TensorProcesses processes(options.processes, options.mpi, watch);
    Program original = at_sizes(io::read_tensor_program(options.program, watch.stop()), options.sizes);
    std::optional<io::TensorNumbers> numbers;
    if (!options.inputs.empty()) {
        numbers = io::read_tensor_numbers(options.inputs, watch.stop());
        original = fitting(original, *numbers, options.inputs);
    }
    processes.check(original, options.links.any());
    TensorRun result{.program = original.name(),
                     .ranks = original.mesh().ranks(),
                     .processes = processes.count(),
                     .is_first = processes.is_first()};
    Program program = original;
    if (!options.schedule.empty()) {
        program = scheduled_program(original, options.program, options.schedule, watch.stop()).program;
        const verify::Equivalence equivalence = verify::equivalence(original, program);
        if (!equivalence.equivalent) {
            result.refused = equivalence.parting
                                 ? fmt::format("{} differs at '{}': {}", equivalence.parting->output,
                                               equivalence.parting->subterm, equivalence.parting->words)
                                 : "no proof that it is equivalent was found";
            return result;
        }
    }
    const bool is_full = options.precision == Precision::F64;
    const RealNumbers drawn(is_full ? RealNumbers::Precision::F64 : RealNumbers::Precision::F32,
                            options.seed);
    const verify::Arrays inputs =
        numbers ? arrays_of(original, numbers->inputs, drawn) : verify::drawn_inputs(original, drawn);
    std::optional<TensorNetwork> network;
    run::ProgramNetwork of_program;
    if (options.links.any()) {
        network.emplace(options.links, program.mesh(), watch.stop(), watch.say);
        of_program = network->of(program);
    }
    const run::ProgramRun run = processes.run(program, run::rank_inputs(program, inputs, options.precision),
                                              {.arithmetic = options.precision,
                                               .kernels = options.kernels,
                                               .calls = options.calls,
                                               .network = network ? &of_program : nullptr});
    set_times(result, run);
    result.compiled = run.compiled;
    result.compile_seconds = run.compile_seconds;
    if (options.kernels == run::KernelMode::Compiled) result.not_compiled = run.not_compiled;
    if (!options.device.empty()) predict(result, program, options.device, network->calls());
    if (options.check) result.check = checked(original, program, options, processes, watch);

    if (!result.is_first) return result;  // the first one compares for all

    const RealNumbers exact(RealNumbers::Precision::F64);
    const verify::RankResults found = run::rank_results(program, run.outputs);
    const verify::Tolerance tolerance = tolerance_of(program, options.precision);
    std::optional<verify::Results> meaning;
    try {
        if (options.reference) meaning = verify::meaning_of(original, inputs, exact);
    } catch (const LimitError&) {  // too large: the outputs are shown, and not compared
    }
    result.compared = meaning.has_value();
    const verify::Arrays given = numbers ? arrays_of(original, numbers->outputs, exact) : verify::Arrays{};
    for (std::size_t i = 0; i < found.outputs.size(); ++i) {
        const verify::RankValue& output = found.outputs[i];
        TensorOutput& entry = result.outputs.emplace_back(
            TensorOutput{output.name, type_text(program, output.type), std::nullopt});
        if (meaning) entry.difference = difference_of(program, output, meaning->outputs[i], tolerance);
        const auto expected = given.find(original[original.outputs()[i]].name);
        if (!entry.difference && expected != given.end())
            entry.difference = difference_of(program, output, expected->second, tolerance);
    }
    return result;
}

}  // namespace

TensorRun run_tensor(const RunTensorOptions& options, const Watch& watch) {
    try {
        return whole_run(options, watch);
    } catch (const run::LostPeerError& error) {
        return {.lost = error.what()};
    }
}

}  // namespace tutti::app
