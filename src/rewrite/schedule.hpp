#pragma once

#include "tensor/program.hpp"
#include "tensor/schedule.hpp"

#include <span>

namespace tutti::rewrite {

/// The program after one step. Throws tensor::Refusal where it is not allowed.
[[nodiscard]] tensor::Program apply_step(const tensor::Program& program, const tensor::Step& step);

/// After all steps in order. A refusal has the place "/steps/3".
[[nodiscard]] tensor::Program replay(const tensor::Program& program, std::span<const tensor::Step> steps);

}  // namespace tutti::rewrite
