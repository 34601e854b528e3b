#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tutti::tensor {

/// What an element of a tensor is.
enum class DType : std::uint8_t { F64, F32, BF16, F16, I64, I32, U32, I8, U8, Bool };

inline constexpr std::array<std::string_view, 10> kDTypeNames{"f64", "f32", "bf16", "f16", "i64",
                                                              "i32", "u32", "i8",   "u8",  "bool"};

[[nodiscard]] constexpr std::string_view name_of(DType dtype) {
    return kDTypeNames[static_cast<std::size_t>(dtype)];
}
[[nodiscard]] constexpr std::optional<DType> dtype_named(std::string_view name) {
    for (std::size_t i = 0; i < kDTypeNames.size(); ++i) {
        if (kDTypeNames[i] == name) return static_cast<DType>(i);
    }
    return std::nullopt;
}
[[nodiscard]] constexpr std::int64_t bytes_of(DType dtype) {
    constexpr std::array<std::int64_t, 10> kBytes{8, 4, 2, 2, 8, 4, 4, 1, 1, 1};
    return kBytes[static_cast<std::size_t>(dtype)];
}
[[nodiscard]] constexpr bool is_floating(DType dtype) { return dtype <= DType::F16; }

/// How values of several ranks, or of a dimension, become one.
enum class Reduction : std::uint8_t { Sum, Prod, Max, Min };

inline constexpr std::array<std::string_view, 4> kReductionNames{"sum", "prod", "max", "min"};

[[nodiscard]] constexpr std::string_view name_of(Reduction reduction) {
    return kReductionNames[static_cast<std::size_t>(reduction)];
}

}  // namespace tutti::tensor
