// Programs on real numbers: what others computed for them, on whole arrays and on every rank.

#include "tests/support/tensor_numbers.hpp"
#include "tests/support/tensor_set.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace tutti;
using namespace tutti::test;
using verify::RealNumbers;

TEST_CASE("ranks compute what others computed, in f64 and in f32") {
    const auto files = files_of_numbers();
    CHECK(files.size() >= 21);
    for (const std::string& file : files) {
        INFO(file);
        const io::Json test = tensor_json(file);
        const tensor::Program program =
            at_sizes_of(test, tensor_program(test.at("program").get<std::string>()));
        const verify::Results expected = outputs_of(test, program);
        for (const NumberKind& kind : kNumberKinds) {
            CHECK(numbers_difference(test, program, kind) == "");
            const RealNumbers numbers(kind.precision);
            const verify::Results meaning =
                verify::meaning_of(program, inputs_of(test, program, numbers), numbers);
            for (std::size_t i = 0; i < expected.outputs.size(); ++i)
                CHECK(meaning.outputs[i].shape == expected.outputs[i].shape);
        }
    }
}

TEST_CASE("a number that is wrong by little is found") {
    io::Json test = tensor_json("numbers/adam-1.json");
    io::Json& last = test["outputs"]["w_out"].back().back();
    last = last.get<double>() * (1 + 1e-7);
    const tensor::Program program = at_sizes_of(test, tensor_program("adam"));
    CHECK(numbers_difference(test, program, kNumberKinds[0]) == "w_out");
    CHECK(numbers_difference(test, program, kNumberKinds[1]) == "");
}
