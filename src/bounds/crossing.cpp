// Of any collection C of chunks that must pass over some links, link e starts at most room(first, last, busy)
// ones, first and last being the extremes over C. Larger C means more transfers, smaller C tighter times; so
// chunks are added in order of falling earliest arrival (or, backwards, of falling remaining time) and each
// prefix is rated. The same for each size as the least that counts.

#include "bounds/crossing.hpp"

#include <algorithm>

namespace tutti::bounds {

Ticks Crossing::soonest(const Passage& passage, std::span<const Ticks> head) const {
    Ticks soonest = kNever;
    for (std::size_t e = 0; e < links_.size(); ++e) {
        soonest = std::min(soonest, sum(head[e], passage.transit[links_[e].index()]));
    }
    return soonest;
}

void Crossing::add(const ChunkClass& c, std::span<const Ticks> head, std::span<const Ticks> rest) {
    const Ticks remaining = rest.empty() ? kNever : *std::ranges::min_element(rest);
    rows_.push_back(
        {&c, traffic_->demand(c).bytes, soonest(traffic_->passage(c), head), remaining, head_.size()});
    head_.insert(head_.end(), head.begin(), head.end());
    rest_.insert(rest_.end(), rest.begin(), rest.end());
}

std::optional<Rating> Crossing::best(Sense sense, Ticks above) {
    std::vector<Bytes> sizes;
    for (const Row& row : rows_) {
        if (sizes.empty() || sizes.back() != row.bytes) sizes.push_back(row.bytes);
    }
    std::ranges::sort(sizes);
    sizes.erase(std::ranges::unique(sizes).begin(), sizes.end());
    std::optional<Rating> best;
    for (const Bytes bytes : sizes) {
        if (sense != Sense::Backwards) sweep(bytes, false, best, above);
        if (sense != Sense::Forwards) sweep(bytes, true, best, above);
    }
    return best;
}

void Crossing::sweep(Bytes bytes, bool backwards, std::optional<Rating>& best, Ticks& above) {
    const auto key = [&](const Row& row) { return backwards ? row.remaining : row.soonest; };
    std::ranges::stable_sort(rows_, std::ranges::greater{}, key);
    windows_.clear();
    for (const LinkId id : links_) {
        const Ticks beta = traffic_->topology().beta(id, bytes);
        windows_.push_back({kNever, kNever, traffic_->instance().busy(id, beta)});
    }
    std::uint64_t transfers = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const Row& row = rows_[i];
        if (row.bytes >= bytes) {
            transfers += row.chunks->count;
            for (std::size_t e = 0; e < windows_.size(); ++e) {
                windows_[e].first = std::min(windows_[e].first, head_[row.at + e]);
                windows_[e].last = std::min(windows_[e].last, rest_[row.at + e]);
            }
        }
        if (i + 1 < rows_.size() && key(rows_[i + 1]) == key(row)) continue;
        if (transfers == 0 || enough(windows_, Wide{transfers}, above)) continue;
        const auto end = least_end(windows_, Wide{transfers});
        if (!end) continue;
        above = *end;
        best = Rating{*end, backwards, transfers, key(row), bytes};
    }
}

}  // namespace tutti::bounds
