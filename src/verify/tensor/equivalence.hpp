#pragma once

#include "tensor/program.hpp"
#include "verify/tensor/erasure.hpp"
#include "verify/tensor/field.hpp"

#include <optional>
#include <string>

namespace tutti::verify {

/// The verdict on a program that was made of another.
struct Equivalence {
    bool equivalent = false;           ///< proven, for all sizes and ranks at which both type
    std::optional<Parting> parting{};  ///< why it is not
    /// Where it is not: a run that shows it. A run without a difference: they may be equal after all, by a
    /// law that the proof does not use. Nothing: too large to run.
    std::optional<RunReport> example{};
};

/// Erasure, and the pieces of overlaps. Kernels have an order, as Program's constructor demands.
[[nodiscard]] Equivalence equivalence(const tensor::Program& original, const tensor::Program& changed);

}  // namespace tutti::verify
