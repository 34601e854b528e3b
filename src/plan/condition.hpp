#pragma once

#include "core/ids.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace tutti::plan {

/// The input chunk `chunk` of rank `rank`.
struct Contribution {
    Rank rank{};
    std::int64_t chunk = 0;
    friend auto operator<=>(const Contribution&, const Contribution&) = default;
};

/// The precondition and postcondition of a custom collective, given by a file beside the plan
/// (docs/plan-conditions.md). Chunks are those of the file.
struct Condition {
    /// Per rank the input chunks that are defined at the start; for other ranks all are.
    std::map<Rank, std::vector<std::int64_t>> inputs{};
    /// Per rank and output chunk the contributions whose sum it must hold, sorted; other chunks may hold
    /// anything.
    std::map<Rank, std::map<std::int64_t, std::vector<Contribution>>> outputs{};
    friend bool operator==(const Condition&, const Condition&) = default;
};

}  // namespace tutti::plan
