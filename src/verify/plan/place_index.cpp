#include "verify/plan/place_index.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace tutti::verify {

namespace {

/// One of Program::ranges.
struct Touched {
    std::uint32_t first = 0;
    std::uint32_t range = 0;
};

/// The ranges of each memory, memory by memory, in the order of the program; `begin` gets the first of each.
std::vector<Touched> by_memory(const plan::Program& program, std::vector<std::uint32_t>& begin) {
    begin.assign(program.memories.size() + 1, 0);
    for (const plan::PackedRange& range : program.ranges) ++begin[range.memory + 1];
    for (std::size_t m = 1; m < begin.size(); ++m) begin[m] += begin[m - 1];
    std::vector<Touched> all(program.ranges.size());
    std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
    for (std::uint32_t i = 0; i < program.ranges.size(); ++i) {
        all[next[program.ranges[i].memory]++] = {program.ranges[i].first, i};
    }
    return all;
}

}  // namespace

PlaceIndex::PlaceIndex(const plan::Program& program) {
    // How many places each range has stands where the number of the first one will.
    first_of_range_.resize(program.ranges.size(), 0);
    for (const plan::Move& move : program.moves)
        std::fill_n(first_of_range_.begin() + move.first_read, move.operands(), move.count);
    std::vector<std::uint32_t> begin;
    std::vector<Touched> touched = by_memory(program, begin);
    begin_.assign(program.memories.size() + 1, 0);
    for (std::size_t m = 0; m < program.memories.size(); ++m) {
        const std::span ranges = std::span(touched).subspan(begin[m], begin[m + 1] - begin[m]);
        if (!std::ranges::is_sorted(ranges, {}, &Touched::first))
            std::ranges::sort(ranges, {}, &Touched::first);
        for (const auto& [first, range] : ranges) {
            const bool fresh = stretches_.size() == begin_[m];
            if (fresh || first > stretches_.back().last) stretches_.push_back({first, first, places_});
            Stretch& stretch = stretches_.back();
            const std::uint32_t count = std::exchange(
                first_of_range_[range], stretch.number + static_cast<std::uint32_t>(first - stretch.first));
            if (std::int64_t{first} + count > stretch.last) {
                places_ += static_cast<std::uint32_t>(std::int64_t{first} + count - stretch.last);
                stretch.last = std::int64_t{first} + count;
            }
        }
        begin_[m + 1] = static_cast<std::uint32_t>(stretches_.size());
    }
}

std::pair<std::uint32_t, std::int64_t> PlaceIndex::place(std::uint32_t number) const {
    const auto after = std::ranges::upper_bound(stretches_, number, {}, &Stretch::number);
    const auto at = static_cast<std::uint32_t>(after - stretches_.begin() - 1);
    const auto memory = static_cast<std::uint32_t>(std::ranges::upper_bound(begin_, at) - begin_.begin() - 1);
    return {memory, stretches_[at].first + (number - stretches_[at].number)};
}

}  // namespace tutti::verify
