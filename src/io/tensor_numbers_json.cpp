#include "io/tensor_numbers_json.hpp"

#include "io/json_text.hpp"
#include "io/source.hpp"

#include <fmt/format.h>

#include <limits>

namespace tutti::io {
namespace {

constexpr std::int64_t kLargestSize = std::int64_t{1} << 40;

std::map<std::string, std::int64_t> given_sizes(const JsonView& json) {
    std::map<std::string, std::int64_t> sizes;
    for (const auto& [name, size] : json.fields()) sizes[name] = size.integer(1, kLargestSize);
    return sizes;
}

/// Nested lists; all of one depth have one length.
void add_numbers(const JsonView& json, std::size_t depth, NumberArray& array, bool is_first) {
    if (!json.is_array()) {
        if (depth < array.shape.size()) json.fail_expecting("a list");
        if (!json.is_number()) json.fail_expecting("a number");
        array.numbers.push_back(
            json.number(std::numeric_limits<double>::lowest(), std::numeric_limits<double>::max()));
        return;
    }
    if (is_first) {
        array.shape.push_back(static_cast<std::int64_t>(json.size()));
    } else if (depth >= array.shape.size()) {
        json.fail_expecting("a number");
    } else if (array.shape[depth] != static_cast<std::int64_t>(json.size())) {
        json.fail_expecting(fmt::format("{} elements, as in the lists before", array.shape[depth]));
    }
    for (std::size_t i = 0; i < json.size(); ++i) add_numbers(json[i], depth + 1, array, is_first && i == 0);
}

std::map<std::string, NumberArray> given_arrays(const JsonView& json) {
    std::map<std::string, NumberArray> arrays;
    for (const auto& [name, list] : json.fields()) add_numbers(list, 0, arrays[name], true);
    return arrays;
}

}  // namespace

TensorNumbers parse_tensor_numbers(const Json& json) {
    const JsonView view(json);
    view.only({"program", "about", "mesh", "sizes", "inputs", "outputs"});
    TensorNumbers numbers;
    if (const auto mesh = view.find("mesh")) numbers.mesh = given_sizes(*mesh);
    if (const auto sizes = view.find("sizes")) numbers.sizes = given_sizes(*sizes);
    numbers.inputs = given_arrays(view.at("inputs"));
    if (const auto outputs = view.find("outputs")) numbers.outputs = given_arrays(*outputs);
    return numbers;
}

TensorNumbers read_tensor_numbers(const std::string& path, const Stop& stop) {
    Source source(path, stop);
    const Json json = parse_json(source);
    try {
        return parse_tensor_numbers(json);
    } catch (const InputError& error) {
        throw error.in_file(source.name());
    }
}

}  // namespace tutti::io
