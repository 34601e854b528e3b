#pragma once

#include "plan/ids.hpp"

#include <cstdint>

namespace tutti::test {

/// Ids as plain numbers, -1 for none: generators and oracles reckon with them.
template <class Tag>
[[nodiscard]] constexpr std::int32_t number(Id<Tag> id) {
    return static_cast<std::int32_t>(id.value());
}
template <class IdType>
[[nodiscard]] constexpr std::int32_t number(OptionalId<IdType> id) {
    return static_cast<std::int32_t>(plan::file_number(id));
}
/// A node of a plan of sends: 3_n.
[[nodiscard]] constexpr plan::PlanNode operator""_n(unsigned long long number) {
    return plan::PlanNode(static_cast<std::size_t>(number));
}
/// And back: id<Rank>(3), maybe<Rank>(-1).
template <class IdType>
[[nodiscard]] constexpr IdType id(std::int64_t number) {
    return IdType(static_cast<std::size_t>(number));
}
template <class IdType>
[[nodiscard]] constexpr OptionalId<IdType> maybe(std::int64_t number) {
    return plan::id_from_file<IdType>(number);
}

}  // namespace tutti::test
