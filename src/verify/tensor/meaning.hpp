#pragma once

#include "tensor/program.hpp"
#include "verify/tensor/arrays.hpp"

namespace tutti::verify {

/// What the outputs and the updated states of a program are.
struct Results {
    std::vector<Array> outputs{};
    Arrays states{};  ///< the next value, by the state's name
};

/// Elements that a run may hold; beyond, it is refused with a LimitError.
inline constexpr std::int64_t kMostElements = std::int64_t{1} << 26;

/// An arbitrary array for every input.
[[nodiscard]] Arrays drawn_inputs(const tensor::Program& program, const Numbers& numbers);

/// The meaning of a program: every value as whole arrays, one for each coordinate on its local axes. Who
/// holds what does not matter, but that a reduction along a sliced dimension is one of each part. Throws
/// InputError where an input is missing or has another shape.
[[nodiscard]] Results meaning_of(const tensor::Program& program, const Arrays& inputs,
                                 const Numbers& numbers);

}  // namespace tutti::verify
