#pragma once

#include "tensor/program.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace tutti::app {

/// Sizes to use instead of a tensor program's own: of named sizes, and of the axes of its mesh.
struct TensorSizes {
    std::map<std::string, std::int64_t> sizes{}, mesh{};
    friend bool operator==(const TensorSizes&, const TensorSizes&) = default;
};

/// Throws InputError for a name that the program has not, tensor::Refusal where it does not type at these
/// sizes.
[[nodiscard]] tensor::Program at_sizes(const tensor::Program& program, const TensorSizes& sizes);

}  // namespace tutti::app
