#include "core/schedule.hpp"

#include <algorithm>
#include <numeric>

namespace tutti {
namespace {

constexpr std::size_t kBatch = 4096;

/// Sorts sends of one start by link, with one slot per link (a bucket sort). False: some link has two sends.
bool sort_by_place(std::span<Send> sends, std::vector<std::uint32_t>& places, std::vector<Send>& sorted) {
    constexpr std::uint32_t kNone = UINT32_MAX;
    std::ranges::fill(places, kNone);
    for (std::size_t i = 0; i < sends.size(); ++i) {
        std::uint32_t& place = places[sends[i].link.index()];
        if (place != kNone) return false;
        place = static_cast<std::uint32_t>(i);
    }
    sorted.clear();
    for (const std::uint32_t place : places) {
        if (place != kNone) sorted.push_back(sends[place]);
    }
    std::ranges::copy(sorted, sends.begin());
    return true;
}

}  // namespace

void put_in_order(Schedule& schedule, std::size_t links) {
    auto& sends = schedule.sends;
    if (!std::ranges::is_sorted(sends, {}, &Send::start)) {
        std::ranges::sort(sends, starts_before);
        return;
    }
    std::vector<std::uint32_t> places(links);
    std::vector<Send> sorted;
    for (auto first = sends.begin(); first != sends.end();) {
        const auto last =
            std::find_if(first, sends.end(), [&](const Send& s) { return s.start != first->start; });
        const std::span<Send> tick(first, last);
        const bool is_dense = tick.size() > links / 8;
        if (!is_dense || !sort_by_place(tick, places, sorted)) std::ranges::sort(tick, starts_before);
        first = last;
    }
}

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
