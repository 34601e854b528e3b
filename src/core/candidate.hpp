#pragma once

#include "core/ticks.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace tutti {

/// The best result of one heuristic in a synthesis, over all its attempts.
struct Candidate {
    std::string heuristic;
    /// The part of the instance it solved: "reduction" or "distribution" where reductions are scheduled first
    /// and copies afterwards. Empty: the whole instance.
    std::string part = {};
    std::optional<Ticks> makespan = {};  ///< of the best try; of a part, when that part is over
    std::string why_none = {};           ///< why it has none: a few words
    double seconds = 0;
    std::uint64_t sends = 0;  ///< of the best try

    friend bool operator==(const Candidate&, const Candidate&) = default;
};

}  // namespace tutti
