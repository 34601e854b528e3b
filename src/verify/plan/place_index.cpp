#include "verify/plan/place_index.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace tutti::verify {

namespace {

/// One of Program::ranges.
struct Touched {
    std::uint32_t first = 0;
    std::uint32_t range = 0;
};

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// The ranges of each memory, in the order of the program, as a list for each.
struct RangeLists {
    std::vector<std::uint32_t> first{};  ///< by memory
    std::vector<std::uint32_t> next{};   ///< by range; kNone: it is the last one

    explicit RangeLists(const plan::Program& program)
        : first(program.memories.size(), kNone), next(program.ranges.size()) {
        for (auto i = static_cast<std::uint32_t>(next.size()); i-- > 0;)
            next[i] = std::exchange(first[program.ranges[i].memory], i);
    }
};

}  // namespace

PlaceIndex::PlaceIndex(const plan::Program& program) {
    // How many places each range has stands where the number of the first one will.
    first_of_range_.resize(program.ranges.size(), 0);
    for (const plan::Move& move : program.moves)
        std::fill_n(first_of_range_.begin() + move.first_read, move.operands(), move.count);
    const RangeLists lists(program);
    std::vector<Touched> ranges;  // of one memory
    begin_.assign(program.memories.size() + 1, 0);
    for (std::size_t m = 0; m < program.memories.size(); ++m) {
        ranges.clear();
        for (std::uint32_t i = lists.first[m]; i != kNone; i = lists.next[i])
            ranges.push_back({program.ranges[i].first, i});
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
