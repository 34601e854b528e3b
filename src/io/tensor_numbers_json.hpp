#pragma once

#include "core/stop.hpp"
#include "io/json_view.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tutti::io {

/// An array of numbers, row-major.
struct NumberArray {
    std::vector<std::int64_t> shape{};
    std::vector<double> numbers{};
};

/// Inputs of a tensor program, and what its outputs are. An array has one dimension for each axis of the
/// mesh (its size if the value is local there, else 1), then those of the tensor, whole.
struct TensorNumbers {
    std::map<std::string, std::int64_t> mesh{}, sizes{};  ///< instead of the program's, where given
    std::map<std::string, NumberArray> inputs{}, outputs{};
};

/// {"mesh": {"data": 2}, "sizes": {"N": 7}, "inputs": {"g": [[…], […]]}, "outputs": {…}}. Throws InputError.
[[nodiscard]] TensorNumbers read_tensor_numbers(const std::string& path, const Stop& stop = {});
[[nodiscard]] TensorNumbers parse_tensor_numbers(const Json& json);

}  // namespace tutti::io
