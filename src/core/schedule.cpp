#include "core/schedule.hpp"

#include <algorithm>
#include <numeric>

namespace tutti {
namespace {

constexpr std::size_t kBatch = 4096;

}  // namespace

ScheduleSource::ScheduleSource(const Schedule& schedule) : schedule_(schedule) {
    const auto& sends = schedule.sends;
    if (std::ranges::is_sorted(sends, {}, &Send::start)) return;
    order_.resize(sends.size());
    std::iota(order_.begin(), order_.end(), std::uint64_t{0});
    std::ranges::stable_sort(order_, [&](auto a, auto b) { return sends[a].start < sends[b].start; });
}

std::span<const Send> ScheduleSource::next() {
    const auto& sends = schedule_.sends;
    begin_ = end_;
    if (order_.empty()) {
        end_ = sends.size();
        return std::span(sends).subspan(begin_);
    }
    end_ = std::min(begin_ + kBatch, order_.size());
    batch_.clear();
    for (std::size_t i = begin_; i < end_; ++i) batch_.push_back(sends[order_[i]]);
    return batch_;
}

}  // namespace tutti
