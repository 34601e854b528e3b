#pragma once

#include "io/json_view.hpp"
#include "tensor/device.hpp"

#include <string>

namespace tutti::io {

/// The version of the format that this program reads: the number in "tutti_device".
inline constexpr std::int64_t kDeviceFormat = 1;

/// {"tutti_device": 1, "name": "v100", "matmul_tflops": 80, "pointwise_tflops": 10, "memory_GBps": 800,
/// "launch_us": 5}: docs/tuning.md. A rate may be an object by type, {"f16": 80, "f32": 15}. Throws
/// InputError with the file and the path.
[[nodiscard]] tensor::Device read_device(const std::string& path);
[[nodiscard]] tensor::Device parse_device(const JsonView& device);

[[nodiscard]] Json write_device(const tensor::Device& device);

}  // namespace tutti::io
