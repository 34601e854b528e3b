#pragma once

#include "core/ticks.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace tutti {

/// What one heuristic reached in a synthesis, all its tries together.
struct Candidate {
    std::string heuristic;
    /// Which part of the instance it was asked for: "reduction" or "distribution", where sums are made first
    /// and chunks spread afterwards. Empty: the whole.
    std::string part = {};
    std::optional<Ticks> makespan = {};  ///< of the best try; of a part, when that part is over
    std::string why_none = {};           ///< why it has none: a few words
    double seconds = 0;
    std::uint64_t sends = 0;  ///< of the best try

    friend bool operator==(const Candidate&, const Candidate&) = default;
};

}  // namespace tutti
