#include "timing/calendar.hpp"

#include "core/expects.hpp"

#include <algorithm>

namespace tutti::timing {

void Calendar::reserve(Ticks start, Ticks length) {
    expects(length > Ticks(0) && earliest(start, length) == start);
    const Ticks end = start + length;
    const auto next = std::ranges::find_if(spans_, [&](const Span& span) { return span.begin >= end; });
    const bool joins_next = next != spans_.end() && next->begin == end;
    const bool joins_previous = next != spans_.begin() && std::prev(next)->end == start;
    if (joins_previous && joins_next) {
        std::prev(next)->end = next->end;
        spans_.erase(next);
    } else if (joins_previous) {
        std::prev(next)->end = end;
    } else if (joins_next) {
        next->begin = start;
    } else {
        spans_.insert(next, {start, end});
    }
}

void Calendar::forget_before(Ticks now) {
    const auto first = std::ranges::find_if(spans_, [&](const Span& span) { return span.end > now; });
    spans_.erase(spans_.begin(), first);
}

}  // namespace tutti::timing
