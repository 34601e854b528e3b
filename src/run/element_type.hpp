#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace tutti::run {

/// What the elements of a call are, as nccl-tests names them with NCCL's short names.
enum class ElementType : std::uint8_t { F16, BF16, F32, F64, I8, U8, I32, I64, U64 };
inline constexpr int kElementTypes = 9;

/// How a call reduces. `Avg` adds, and divides by the number of ranks in the end.
enum class Operator : std::uint8_t { Sum, Prod, Min, Max, Avg };
inline constexpr int kOperators = 5;

/// "f16", "bf16", "f32", …; and back. NCCL's long names are read too ("float", "half", "int32", …).
[[nodiscard]] std::string_view name_of(ElementType type);
[[nodiscard]] std::optional<ElementType> element_type(std::string_view name);
[[nodiscard]] std::vector<std::string_view> element_type_names();
/// "sum", "prod", "min", "max", "avg"; and back.
[[nodiscard]] std::string_view name_of(Operator op);
[[nodiscard]] std::optional<Operator> reduction(std::string_view name);
[[nodiscard]] std::vector<std::string_view> operator_names();

/// Bytes of an element.
[[nodiscard]] constexpr std::size_t size_of(ElementType type) {
    switch (type) {
        case ElementType::I8:
        case ElementType::U8:
            return 1;
        case ElementType::F16:
        case ElementType::BF16:
            return 2;
        case ElementType::F32:
        case ElementType::I32:
            return 4;
        default:
            return 8;
    }
}

}  // namespace tutti::run
