#pragma once

namespace tutti::heuristics {

/// How much a search may do beyond the first constructions.
enum class Effort {
    Quick,    ///< constructions and a little repair: a few times the work of one construction
    Anytime,  ///< until the target is met or the stop comes
};

}  // namespace tutti::heuristics
