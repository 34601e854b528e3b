#include "verify/plan/place_index.hpp"

#include <algorithm>

namespace tutti::verify {

PlaceIndex::PlaceIndex(const plan::Program& program) {
    std::vector<std::int64_t> count(program.ranges.size(), 0);
    for (const plan::Move& move : program.moves) {
        for (std::uint32_t i = 0; i < move.reads; ++i) count[move.first_read + i] = move.count;
        for (std::uint32_t i = 0; i < move.writes; ++i) count[move.first_write + i] = move.count;
    }
    std::vector<std::uint32_t> sorted(program.ranges.size());
    for (std::size_t i = 0; i < sorted.size(); ++i) sorted[i] = static_cast<std::uint32_t>(i);
    std::ranges::sort(sorted, [&](std::uint32_t a, std::uint32_t b) {
        const plan::Range &left = program.ranges[a], &right = program.ranges[b];
        return std::pair(left.memory, left.first) < std::pair(right.memory, right.first);
    });

    first_of_range_.resize(program.ranges.size());
    begin_.assign(program.memories.size() + 1, 0);
    std::uint32_t memory = 0;
    const auto close_memories_below = [&](std::uint32_t next) {
        for (; memory < next; ++memory) begin_[memory + 1] = static_cast<std::uint32_t>(stretches_.size());
    };
    for (const std::uint32_t i : sorted) {
        const plan::Range& range = program.ranges[i];
        close_memories_below(range.memory);
        const bool fresh = stretches_.size() == begin_[memory];
        if (fresh || range.first > stretches_.back().last) {
            stretches_.push_back({range.first, range.first, places_});
        }
        Stretch& stretch = stretches_.back();
        first_of_range_[i] = stretch.number + static_cast<std::uint32_t>(range.first - stretch.first);
        if (range.first + count[i] > stretch.last) {
            places_ += static_cast<std::uint32_t>(range.first + count[i] - stretch.last);
            stretch.last = range.first + count[i];
        }
    }
    close_memories_below(static_cast<std::uint32_t>(program.memories.size()));
}

std::pair<std::uint32_t, std::int64_t> PlaceIndex::place(std::uint32_t number) const {
    const auto after = std::ranges::upper_bound(stretches_, number, {}, &Stretch::number);
    const auto at = static_cast<std::uint32_t>(after - stretches_.begin() - 1);
    const auto memory = static_cast<std::uint32_t>(std::ranges::upper_bound(begin_, at) - begin_.begin() - 1);
    return {memory, stretches_[at].first + (number - stretches_[at].number)};
}

}  // namespace tutti::verify
