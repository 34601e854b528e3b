#pragma once

#include "tensor/program.hpp"

#include <string>

namespace tutti::verify {

/// What a value does to its operands, with the attributes that tell it from others: "reduce by sum over
/// dimension 0", "constant 1 of shape [4]".
[[nodiscard]] std::string words_for(const tensor::Value& value, const tensor::Mesh& mesh);

}  // namespace tutti::verify
