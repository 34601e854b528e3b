#pragma once

#include "core/rng.hpp"
#include "tensor/program.hpp"
#include "tensor/schedule.hpp"

#include <vector>

namespace tutti::test {

/// A program of up to so many values on one or two axes: pointwise operations, products, reductions and
/// collectives on inputs of any layout, and states that are updated.
[[nodiscard]] tensor::Program random_tensor_program(Rng& rng, std::size_t values = 14);

/// A step that may be allowed for this program.
[[nodiscard]] tensor::Step random_tensor_step(const tensor::Program& program, Rng& rng);

struct RandomForm {
    tensor::Program program;
    std::vector<tensor::Step> steps;  ///< that led to it
};

/// The program after those of 24 random steps that are allowed.
[[nodiscard]] RandomForm random_form(const tensor::Program& original, Rng& rng);

}  // namespace tutti::test
