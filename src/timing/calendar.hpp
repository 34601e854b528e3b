#pragma once

#include "core/ticks.hpp"

#include <vector>

namespace tutti::timing {

/// When a link is taken, from now on. Who asks first is served first; a later one may use a gap before an
/// earlier one's turn if it delays nobody. Gaps arise only where a cut-through switch makes a transfer wait
/// for its second link while its first is free. O(spans) per call; without gaps there is one span.
class Calendar {
  public:
    /// The earliest start, not before `from`, of `length` free ticks.
    [[nodiscard]] Ticks earliest(Ticks from, Ticks length) const {
        for (const Span& span : spans_) {
            if (span.end <= from) continue;
            if (from + length <= span.begin) break;
            from = span.end;
        }
        return from;
    }

    /// Precondition: earliest(start, length) == start; length > 0.
    void reserve(Ticks start, Ticks length);

    /// Nobody will ask for a tick before `now` any more.
    void forget_before(Ticks now);

  private:
    struct Span {
        Ticks begin, end;
    };
    std::vector<Span> spans_;  ///< ascending, with gaps between
};

}  // namespace tutti::timing
