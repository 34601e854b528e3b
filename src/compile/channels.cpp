// Connections to channels.
//
// Lanes that a thread block joins have one channel, so chains of joined lanes are placed as a whole: those
// for which the user wants a channel first, then the longest, each on the lowest channel that still has room
// for it: no two lanes between the same two ranks, and no more thread blocks of a rank than the target allows
// on a channel.

#include "compile/channels.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace tutti::compile {
namespace {

using LaneChain = std::vector<std::uint32_t>;

/// The lanes in chains, in the order in which they are placed.
std::vector<LaneChain> lane_chains(std::span<const ChannelLane> lanes) {
    std::vector<LaneChain> chains;
    std::vector<bool> seen(lanes.size(), false);
    for (std::uint32_t i = 0; i < lanes.size(); ++i) {
        if (seen[i]) continue;
        std::uint32_t first = i;  // of the chain, unless it is a ring
        while (lanes[first].inbound != kNoLane && lanes[first].inbound != i) first = lanes[first].inbound;
        chains.emplace_back();
        for (std::uint32_t lane = first; lane != kNoLane && !seen[lane]; lane = lanes[lane].onward) {
            seen[lane] = true;
            chains.back().push_back(lane);
        }
    }
    std::ranges::stable_sort(chains, [&](const LaneChain& a, const LaneChain& b) {
        const bool wants_a = lanes[a.front()].wanted >= 0, wants_b = lanes[b.front()].wanted >= 0;
        return wants_a != wants_b ? wants_a : a.size() > b.size();
    });
    return chains;
}

class ChannelChoice {
  public:
    ChannelChoice(std::span<const ChannelLane> lanes, std::span<const std::uint32_t> others,
                  const ChannelRoom& room)
        : lanes_(lanes), room_(room), channels_(lanes.size(), 0) {
        for (std::uint32_t r = 0; r < others.size(); ++r) {
            if (others[r] > 0) blocks_[{0, r}] = others[r];
        }
    }

    std::variant<std::vector<std::uint32_t>, NoChannel> run() {
        for (const LaneChain& chain : lane_chains(lanes_)) {
            const std::int32_t wanted = lanes_[chain.front()].wanted;
            std::uint32_t channel = wanted >= 0 ? static_cast<std::uint32_t>(wanted) : 0;
            while (wanted < 0 && channel < room_.channels && !fits(chain, channel)) ++channel;
            if (wanted < 0 && channel >= room_.channels) {
                const std::uint32_t rank = lanes_[chain.front()].from;
                return NoChannel{rank, channels_wanted(rank)};
            }
            put(chain, channel);
        }
        return std::move(channels_);
    }

  private:
    struct Use {
        std::uint32_t channel, from, to;
        auto operator<=>(const Use&) const = default;
    };

    void put(const LaneChain& chain, std::uint32_t channel) {
        for (const std::uint32_t i : chain) {
            const ChannelLane& lane = lanes_[i];
            channels_[i] = channel;
            taken_.insert({channel, lane.from, lane.to});
            // A thread block that also receives on another lane is counted there.
            if (lane.inbound == kNoLane) ++blocks_[{channel, lane.from}];
            ++blocks_[{channel, lane.to}];
        }
    }
    [[nodiscard]] bool fits(const LaneChain& chain, std::uint32_t channel) const {
        std::map<std::uint32_t, std::int64_t> more;
        for (const std::uint32_t i : chain) {
            const ChannelLane& lane = lanes_[i];
            if (taken_.contains({channel, lane.from, lane.to})) return false;
            if (lane.inbound == kNoLane) ++more[lane.from];
            ++more[lane.to];
        }
        return std::ranges::all_of(more, [&](const auto& rank_and_count) {
            const auto found = blocks_.find({channel, rank_and_count.first});
            const std::int64_t there = found == blocks_.end() ? 0 : found->second;
            return there + rank_and_count.second <= room_.blocks_per_channel;
        });
    }
    /// What the thread blocks of a rank would take, and the lanes between two ranks.
    [[nodiscard]] std::int64_t channels_wanted(std::uint32_t rank) const {
        std::int64_t blocks = 0;
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> between;
        for (const ChannelLane& lane : lanes_) {
            blocks += (lane.to == rank ? 1 : 0) + (lane.from == rank && lane.inbound == kNoLane ? 1 : 0);
            ++between[{lane.from, lane.to}];
        }
        std::int64_t most = blocks / room_.blocks_per_channel + (blocks % room_.blocks_per_channel != 0);
        for (const auto& [pair, count] : between) most = std::max(most, count);
        return std::max(most, room_.channels + 1);
    }

    std::span<const ChannelLane> lanes_;
    const ChannelRoom& room_;
    std::vector<std::uint32_t> channels_;
    std::set<Use> taken_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> blocks_;  ///< by channel and rank
};

}  // namespace

std::variant<std::vector<std::uint32_t>, NoChannel> channels_of(std::span<const ChannelLane> lanes,
                                                                std::span<const std::uint32_t> others,
                                                                const ChannelRoom& room) {
    return ChannelChoice(lanes, others, room).run();
}

}  // namespace tutti::compile
