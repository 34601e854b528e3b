// Programs on real numbers: what others computed for them, on whole arrays and on every rank.

#include "source_dir.hpp"

#include "tests/support/tensor_set.hpp"
#include "verify/tensor/rank_machine.hpp"
#include "verify/tensor/real_numbers.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

using namespace tutti;
using namespace tutti::test;
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
    for (const tensor::ValueId id : program.outputs())
        results.outputs.push_back(
            array_in(test.at("outputs").at(program[id].name), exact, program[id].type.dtype));
    return results;
}

/// The states are among the outputs, or not: only outputs are compared.
verify::RankResults without_states(verify::RankResults results) {
    results.states.clear();
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

struct Kind {
    RealNumbers::Precision precision;
    verify::Tolerance tolerance;
};
const std::vector<Kind> kKinds{{RealNumbers::Precision::F64, {1e-9, 1e-12}},
                               {RealNumbers::Precision::F32, {0, 1e-5}}};

}  // namespace

TEST_CASE("ranks compute what others computed, in f64 and in f32") {
    const auto files = files_of_numbers();
    CHECK(files.size() >= 21);
    for (const std::string& file : files) {
        INFO(file);
        const io::Json test = tensor_json(file);
        const tensor::Program program =
            at_sizes_of(test, tensor_program(test.at("program").get<std::string>()));
        const verify::Results expected = outputs_of(test, program);
        for (const auto& [precision, tolerance] : kKinds) {
            const RealNumbers numbers(precision);
            const verify::Arrays inputs = inputs_of(test, program, numbers);
            const auto found = verify::difference(program.mesh(),
                                                  without_states(verify::run_ranks(program, inputs, numbers)),
                                                  expected, tolerance);
            INFO((found ? found->value : ""));
            CHECK_FALSE(found.has_value());
            const verify::Results meaning = verify::meaning_of(program, inputs, numbers);
            for (std::size_t i = 0; i < expected.outputs.size(); ++i)
                CHECK(meaning.outputs[i].shape == expected.outputs[i].shape);
        }
    }
}

TEST_CASE("a number that is wrong by little is found") {
    const io::Json test = tensor_json("numbers/adam-1.json");
    const tensor::Program program = at_sizes_of(test, tensor_program("adam"));
    const RealNumbers numbers(RealNumbers::Precision::F64);
    verify::Results expected = outputs_of(test, program);
    verify::Element& last = expected.outputs[0].elements.back();
    last = RealNumbers::of(RealNumbers::number(last) * (1 + 1e-7));
    const auto found = verify::difference(
        program.mesh(),
        without_states(verify::run_ranks(program, inputs_of(test, program, numbers), numbers)), expected,
        kKinds[0].tolerance);
    REQUIRE(found.has_value());
    CHECK(found->value == "w_out");
    CHECK_FALSE(found->poison);
}
