#include "tests/support/tensor_numbers.hpp"

#include "source_dir.hpp"
#include "tests/support/tensor_set.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>

namespace tutti::test {

using verify::RealNumbers;

namespace {

/// Nested lists of numbers as an array.
verify::Array array_in(const io::Json& json, const verify::Numbers& numbers, tensor::DType dtype) {
    verify::Array array;
    for (const io::Json* list = &json; list->is_array(); list = &list->front())
        array.shape.push_back(static_cast<std::int64_t>(list->size()));
    const std::function<void(const io::Json&)> add = [&](const io::Json& value) {
        if (value.is_array()) {
            for (const io::Json& inner : value) add(inner);
        } else {
            array.elements.push_back(numbers.constant(value.get<double>(), dtype));
        }
    };
    add(json);
    return array;
}

}  // namespace

tensor::Program at_sizes_of(const io::Json& test, const tensor::Program& program) {
    std::vector<std::int64_t> axes;
    for (const auto& axis : program.mesh().axes())
        axes.push_back(test.at("mesh").at(axis.name).get<std::int64_t>());
    std::map<std::string, std::int64_t> sizes;
    for (const auto& [name, size] : test.at("sizes").items()) sizes[name] = size.get<std::int64_t>();
    return tensor::at_sizes(program, axes, sizes);
}

verify::Arrays inputs_of(const io::Json& test, const tensor::Program& program,
                         const verify::Numbers& numbers) {
    verify::Arrays inputs;
    for (const tensor::ValueId id : program.order()) {
        const tensor::Value& value = program[id];
        if (value.op == tensor::Op::Input)
            inputs[value.name] = array_in(test.at("inputs").at(value.name), numbers, value.dtype);
    }
    return inputs;
}

verify::Results outputs_of(const io::Json& test, const tensor::Program& program) {
    const RealNumbers exact(RealNumbers::Precision::F64);
    verify::Results results;
    // A schedule may give outputs other names; their order stays.
    const tensor::Program original = tensor_program(test.at("program").get<std::string>());
    for (std::size_t i = 0; i < program.outputs().size(); ++i) {
        results.outputs.push_back(array_in(test.at("outputs").at(original[original.outputs()[i]].name), exact,
                                           program[program.outputs()[i]].type.dtype));
    }
    return results;
}

std::vector<std::string> files_of_numbers() {
    std::vector<std::string> files;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(TUTTI_SOURCE_DIR) + "/tests/data/tensor/numbers"))
        files.push_back("numbers/" + entry.path().filename().string());
    std::ranges::sort(files);
    return files;
}

std::string numbers_difference(const io::Json& test, const tensor::Program& program, const NumberKind& kind) {
    const RealNumbers numbers(kind.precision);
    verify::RankResults ranks = verify::run_ranks(program, inputs_of(test, program, numbers), numbers);
    ranks.states.clear();  // those that a file gives are among its outputs
    const auto found = verify::difference(program.mesh(), ranks, outputs_of(test, program), kind.tolerance);
    return found ? found->value : "";
}

}  // namespace tutti::test
