#pragma once

#include "tensor/program.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tutti::emit {

/// What programs for processors (cpp_program) and for GPUs (cuda_program) say in the same words, those of
/// rank_program.hpp. "f32": the type in which an element is computed.
[[nodiscard]] std::string cpp_dtype(tensor::DType dtype);
/// "{4, 8}"
[[nodiscard]] std::string cpp_shape(std::span<const std::int64_t> shape);
/// "Type{{4, 8}, {0}}"
[[nodiscard]] std::string cpp_type(const tensor::Type& type);
/// The layouts of a type: "{0, kLocal}"
[[nodiscard]] std::string cpp_layout(const tensor::Type& type);
/// Axes of the mesh by number, in its order: "{0, 1}"
[[nodiscard]] std::string cpp_axes(std::span<const tensor::AxisId> axes);
/// A constant as the number that its type stores.
[[nodiscard]] std::string cpp_constant(const tensor::Value& constant);
/// One element of a pointwise value, of its operands' elements; rounded as the type is.
[[nodiscard]] std::string cpp_element(const tensor::Value& value, std::span<const std::string> args);

/// A constant without dimensions, which stands in the text where it is used.
[[nodiscard]] bool is_scalar_constant(const tensor::Value& value);
/// Whether values of these types can be made by one loop.
[[nodiscard]] bool same_elements(const tensor::Type& a, const tensor::Type& b);

}  // namespace tutti::emit
