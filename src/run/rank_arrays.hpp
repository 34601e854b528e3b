#pragma once

#include "run/executable.hpp"
#include "run/layout.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace tutti::run {

/// Where a rank's input and output are: the memory, and the first element and their number in it. In place
/// both are in one memory.
struct RankArrays {
    struct Part {
        std::uint32_t memory = 0;
        std::int64_t first_place = 0, places = 0;
        std::size_t first = 0, elements = 0;
    };
    Part input{}, output{};
};
[[nodiscard]] RankArrays arrays_of(const Executable& executable, const Layout& layout, Rank rank);

/// All of a memory.
[[nodiscard]] RankArrays::Part all_of(const Executable& executable, const Layout& layout,
                                      std::uint32_t memory);

/// The number of elements of a share (Layout) with which the places of a part have so many; nothing if there
/// is none.
[[nodiscard]] std::optional<std::int64_t> count_of(const Executable& executable, const RankArrays::Part& part,
                                                   std::int64_t elements);

}  // namespace tutti::run
