#pragma once

#include "app/convert_options.hpp"
#include "app/watch.hpp"
#include "io/json_view.hpp"

#include <cstddef>
#include <string>

namespace tutti::app {

/// What became of a tensor program and its schedule.
struct TensorConversion {
    std::string program{};   ///< its file
    std::string schedule{};  ///< its file; empty where there is none
    std::size_t steps = 0, values = 0, kernels = 0;
    std::string difference{};  ///< where the result is not proven equal, and so was not written; else empty
};

/// Whether the files are a tensor program, or one with its schedule.
[[nodiscard]] bool are_tensor_files(const ConvertOptions& options);

/// Applies the schedule, proves the result equal to the program, and writes it as a program, PyTorch module,
/// C++ or CUDA program, or graph. Throws tensor::Refusal for a step that is not allowed, InputError.
[[nodiscard]] TensorConversion convert_tensor(const ConvertOptions& options, const Watch& watch);

[[nodiscard]] io::Json json_of(const TensorConversion& conversion, const ConvertOptions& options);

}  // namespace tutti::app
