#pragma once

#include "tensor/program.hpp"

namespace tutti::rewrite {

/// The program without gathers whose result is cut into the same parts again: `slice(all_gather(x))` is x,
/// and an operand that is gathered from x and of which the user takes only its part is x itself. What means
/// the same stays the same; types do not change.
[[nodiscard]] tensor::Program cancelled(tensor::Program program);

}  // namespace tutti::rewrite
