#include "app/run_tensor.hpp"

#include "app/scheduled_program.hpp"
#include "io/tensor_json.hpp"
#include "io/tensor_numbers_json.hpp"
#include "run/rank_parts.hpp"
#include "tensor/layout.hpp"
#include "verify/tensor/equivalence.hpp"
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

}  // namespace

bool TensorRun::wrong() const {
    return !refused.empty() || std::ranges::any_of(outputs, [](const TensorOutput& output) {
        return output.difference.has_value();
    });
}

TensorRun run_tensor(const RunTensorOptions& options, const Watch& watch) {
    Program original = io::read_tensor_program(options.program, watch.stop());
    std::optional<io::TensorNumbers> numbers;
    if (!options.inputs.empty()) {
        numbers = io::read_tensor_numbers(options.inputs, watch.stop());
        original = fitting(original, *numbers, options.inputs);
    }
    TensorRun result{.program = original.name(), .ranks = original.mesh().ranks()};
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
    const run::ProgramRun run = run::run_program(
        program, run::rank_inputs(program, inputs, options.precision),
        {.precision = options.precision, .kernels = options.kernels, .calls = options.calls}, watch.stop());
    result.seconds = run.seconds;
    result.compiled = run.compiled;
    result.compile_seconds = run.compile_seconds;
    if (options.kernels == run::KernelMode::Compiled) result.not_compiled = run.not_compiled;
    for (const run::KernelTime& kernel : run.kernels)
        result.kernels.push_back({kernel.name, kernel.values.size(), kernel.seconds});

    const RealNumbers exact(RealNumbers::Precision::F64);
    const verify::RankResults found = run::rank_results(program, run.outputs);
    const verify::Tolerance tolerance = tolerance_of(program, options.precision);
    std::optional<verify::Results> meaning;
    try {
        meaning = verify::meaning_of(original, inputs, exact);
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

io::Json json_of(const TensorRun& run) {
    io::Json kernels = io::Json::array(), outputs = io::Json::array();
    for (const TensorKernel& kernel : run.kernels)
        kernels.push_back({{"name", kernel.name}, {"values", kernel.values}, {"seconds", kernel.seconds}});
    for (const TensorOutput& output : run.outputs) {
        io::Json line{{"name", output.name}, {"type", output.type}, {"difference", nullptr}};
        if (output.difference) line["difference"] = *output.difference;
        outputs.push_back(std::move(line));
    }
    const char* verdict = !run.refused.empty() ? "not equivalent"
                          : run.wrong()        ? "wrong"
                          : run.compared       ? "right"
                                               : "not compared";
    return {{"program", run.program}, {"ranks", run.ranks},       {"verdict", verdict},
            {"seconds", run.seconds}, {"compiled", run.compiled}, {"compile_seconds", run.compile_seconds},
            {"kernels", kernels},     {"outputs", outputs}};
}

}  // namespace tutti::app
