#include "io/tensor_numbers_json.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace tutti;

TEST_CASE("numbers are read as arrays, with the sizes that they are for") {
    const io::TensorNumbers numbers = io::parse_tensor_numbers(io::Json::parse(
        R"({"mesh": {"data": 2}, "sizes": {"N": 3}, "inputs": {"g": [[1, 2, 3], [4, 5, 6.5]], "t": [7]}})"));
    CHECK(numbers.mesh.at("data") == 2);
    CHECK(numbers.sizes.at("N") == 3);
    CHECK(numbers.inputs.at("g").shape == std::vector<std::int64_t>{2, 3});
    CHECK(numbers.inputs.at("g").numbers == std::vector<double>{1, 2, 3, 4, 5, 6.5});
    CHECK(numbers.inputs.at("t").shape == std::vector<std::int64_t>{1});
    CHECK(numbers.outputs.empty());
}

TEST_CASE("lists of different lengths or depths are refused at their place") {
    const auto refused = [](const char* inputs, const char* words) {
        CHECK_THROWS_WITH_AS(
            (void)io::parse_tensor_numbers(io::Json{{"inputs", {{"g", io::Json::parse(inputs)}}}}), words,
            InputError);
    };
    refused("[[1, 2], [3]]",
            "at /inputs/g/1: expected 2 elements, as in the lists before, found an array of 1");
    refused("[[1, 2], 3]", "at /inputs/g/1: expected a list, found 3");
    refused("[1, [2]]", "at /inputs/g/1: expected a number, found an array of 1");
    refused("[1, \"2\"]", "at /inputs/g/1: expected a number, found \"2\"");
}
