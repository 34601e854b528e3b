#pragma once

#include "core/ids.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace tutti::bounds {

/// How fast chunks of one NPU can spread over parts if a start is for one message. Times in some unit,
/// rounded down.
struct SharedGrowth {
    std::int64_t inner = 0, outer = 0;  ///< least times of messages inside parts and between them
    std::int64_t gap = 0;               ///< between two starts at one port
    std::int64_t ports = 0;             ///< of one NPU
    std::int64_t npus = 0;
    std::vector<std::int64_t> inside;   ///< rising: when others of a part can have what entered it at 0
    std::vector<std::int64_t> leaving;  ///< rising: when the first, the second, … chunk can leave the root
};

/// Prices by which fewer than `wanted` messages can have arrived by `end`, if the program has such; else
/// none. O(end^3) a pivot of the simplex method, some hundred of them. Preconditions: gap, inner, outer >= 1.
[[nodiscard]] std::vector<std::array<std::int64_t, 3>> growth_prices(const SharedGrowth& growth,
                                                                     std::int64_t end, std::uint64_t wanted);

}  // namespace tutti::bounds
