// Connections to channels.
//
// Lanes that a thread block joins have one channel, so chains of joined lanes are placed as a whole, the
// longest first, each on the lowest channel that still has room for it: no two lanes between the same two
// ranks, and no more thread blocks of a rank than the target allows on a channel.

#include "compile/msccl/passes.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace tutti::compile::msccl {
namespace {

/// The lanes in chains, the longest first.
std::vector<std::vector<std::uint32_t>> chains_of(const std::vector<Lane>& lanes) {
    std::vector<std::vector<std::uint32_t>> chains;
    std::vector<bool> seen(lanes.size(), false);
    for (std::uint32_t i = 0; i < lanes.size(); ++i) {
        if (seen[i]) continue;
        std::uint32_t first = i;  // of the chain, unless it is a ring
        while (lanes[first].inbound != kNone && lanes[first].inbound != i) first = lanes[first].inbound;
        chains.emplace_back();
        for (std::uint32_t lane = first; lane != kNone && !seen[lane]; lane = lanes[lane].onward) {
            seen[lane] = true;
            chains.back().push_back(lane);
        }
    }
    std::ranges::stable_sort(chains, std::greater{}, &std::vector<std::uint32_t>::size);
    return chains;
}

class Channels {
  public:
    explicit Channels(Draft& draft) : draft_(draft) {
        // The thread block of a rank's own copies stands on channel 0.
        for (const OwnCopy& copy : draft.copies) blocks_[{0, copy.rank}] = 1;
    }

    /// None: there is no room on any channel that the target has.
    std::optional<Excess> place(const std::vector<std::uint32_t>& chain) {
        for (std::uint32_t channel = 0; channel < static_cast<std::uint32_t>(draft_.limits.channels);
             ++channel) {
            if (!fits(chain, channel)) continue;
            for (const std::uint32_t i : chain) {
                Lane& lane = draft_.lanes[i];
                lane.channel = channel;
                taken_.insert({channel, lane.from, lane.to});
                // A thread block that also receives on another lane is counted there.
                if (lane.inbound == kNone) ++blocks_[{channel, lane.from}];
                ++blocks_[{channel, lane.to}];
            }
            return std::nullopt;
        }
        const Lane& lane = draft_.lanes[chain.front()];
        return Excess{Excess::Of::Channels, channels_wanted(lane.from), draft_.limits.channels, lane.from};
    }

  private:
    struct Use {
        std::uint32_t channel, from, to;
        auto operator<=>(const Use&) const = default;
    };
    [[nodiscard]] bool fits(const std::vector<std::uint32_t>& chain, std::uint32_t channel) const {
        std::map<std::uint32_t, int> more;
        for (const std::uint32_t i : chain) {
            const Lane& lane = draft_.lanes[i];
            if (taken_.contains({channel, lane.from, lane.to})) return false;
            if (lane.inbound == kNone) ++more[lane.from];
            ++more[lane.to];
        }
        return std::ranges::all_of(more, [&](const auto& rank_and_count) {
            const auto found = blocks_.find({channel, rank_and_count.first});
            const int there = found == blocks_.end() ? 0 : found->second;
            return there + rank_and_count.second <= draft_.limits.blocks_per_channel;
        });
    }
    /// What the thread blocks of a rank would take, and the lanes between two ranks.
    [[nodiscard]] std::int64_t channels_wanted(std::uint32_t rank) const {
        std::int64_t blocks = 0;
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> lanes;
        for (const Lane& lane : draft_.lanes) {
            blocks += (lane.to == rank ? 1 : 0) + (lane.from == rank && lane.inbound == kNone ? 1 : 0);
            ++lanes[{lane.from, lane.to}];
        }
        std::int64_t most =
            (blocks + draft_.limits.blocks_per_channel - 1) / draft_.limits.blocks_per_channel;
        for (const auto& [pair, count] : lanes) most = std::max(most, count);
        return std::max(most, std::int64_t{draft_.limits.channels} + 1);
    }

    Draft& draft_;
    std::set<Use> taken_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, int> blocks_;  ///< by channel and rank
};

}  // namespace

std::optional<Excess> choose_channels(Draft& draft) {
    Channels channels(draft);
    for (const auto& chain : chains_of(draft.lanes)) {
        if (const auto excess = channels.place(chain)) return excess;
    }
    return std::nullopt;
}

}  // namespace tutti::compile::msccl
