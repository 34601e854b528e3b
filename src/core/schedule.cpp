#include "core/schedule.hpp"

#include <algorithm>
#include <numeric>

namespace tutti {

ScheduleSource::ScheduleSource(const Schedule& schedule)
    : schedule_(schedule), order_(schedule.sends.size()) {
    std::iota(order_.begin(), order_.end(), 0U);
    const auto& sends = schedule.sends;
    std::ranges::stable_sort(order_, [&](auto a, auto b) { return sends[a].start < sends[b].start; });
}

bool ScheduleSource::next(Send& send) {
    if (next_ == order_.size()) return false;
    send = schedule_.sends[order_[next_++]];
    return true;
}

}  // namespace tutti
