#include "run/element_type.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace tutti::run {
namespace {

constexpr std::array<std::string_view, kElementTypes> kTypeNames{"f16", "bf16", "f32", "f64", "i8",
                                                                 "u8",  "i32",  "i64", "u64"};
constexpr std::array<std::string_view, kOperators> kOperatorNames{"sum", "prod", "min", "max", "avg"};

constexpr std::array<std::pair<std::string_view, ElementType>, 12> kOtherNames{{
    {"half", ElementType::F16},
    {"float16", ElementType::F16},
    {"bfloat16", ElementType::BF16},
    {"float", ElementType::F32},
    {"float32", ElementType::F32},
    {"double", ElementType::F64},
    {"float64", ElementType::F64},
    {"int8", ElementType::I8},
    {"uint8", ElementType::U8},
    {"int32", ElementType::I32},
    {"int64", ElementType::I64},
    {"uint64", ElementType::U64},
}};

template <class Enum, std::size_t Size>
std::optional<Enum> position(const std::array<std::string_view, Size>& names, std::string_view name) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) return std::nullopt;
    return static_cast<Enum>(found - names.begin());
}

}  // namespace

std::string_view name_of(ElementType type) { return kTypeNames[static_cast<std::size_t>(type)]; }

std::optional<ElementType> element_type(std::string_view name) {
    if (const auto type = position<ElementType>(kTypeNames, name)) return type;
    for (const auto& [other, type] : kOtherNames) {
        if (other == name) return type;
    }
    return std::nullopt;
}

std::vector<std::string_view> element_type_names() { return {kTypeNames.begin(), kTypeNames.end()}; }

std::string_view name_of(Operator op) { return kOperatorNames[static_cast<std::size_t>(op)]; }

std::optional<Operator> reduction(std::string_view name) { return position<Operator>(kOperatorNames, name); }

std::vector<std::string_view> operator_names() { return {kOperatorNames.begin(), kOperatorNames.end()}; }

}  // namespace tutti::run
