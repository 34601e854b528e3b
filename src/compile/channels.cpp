// Connections to channels.
//
// Lanes that a thread block joins have one channel, so chains of joined lanes are placed as a whole: those
// for which the user wants a channel first, then the longest, each on the lowest channel that still has room
// for it: no two lanes between the same two ranks, and no more thread blocks of a rank than the target allows
// on a channel.

#include "compile/channels.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <unordered_set>
#include <utility>

namespace tutti::compile {
namespace {

/// Lanes that follow each other, in ChainList::members.
struct LaneChain {
    std::uint32_t first = 0, lanes = 0;
    bool wants = false;  ///< the user says on which channel
};

/// All lanes in chains, these in the order in which they are placed.
struct ChainList {
    std::vector<std::uint32_t> members;
    std::vector<LaneChain> chains;

    explicit ChainList(std::span<const ChannelLane> lanes) {
        std::vector<bool> seen(lanes.size(), false);
        members.reserve(lanes.size());
        for (std::uint32_t i = 0; i < lanes.size(); ++i) {
            if (seen[i]) continue;
            std::uint32_t first = i;  // of the chain, unless it is a ring
            while (lanes[first].inbound != kNoLane && lanes[first].inbound != i) first = lanes[first].inbound;
            LaneChain chain{static_cast<std::uint32_t>(members.size()), 0, lanes[first].wanted >= 0};
            for (std::uint32_t lane = first; lane != kNoLane && !seen[lane]; lane = lanes[lane].onward) {
                seen[lane] = true;
                members.push_back(lane);
                ++chain.lanes;
            }
            chains.push_back(chain);
        }
        std::ranges::stable_sort(chains, [](const LaneChain& a, const LaneChain& b) {
            return a.wants != b.wants ? a.wants : a.lanes > b.lanes;
        });
    }
    [[nodiscard]] std::span<const std::uint32_t> of(const LaneChain& chain) const {
        return std::span(members).subspan(chain.first, chain.lanes);
    }
};

/// Which channels the lanes between two ranks have. Mostly there is one lane between two ranks, or a few.
class ChannelsTaken {
  public:
    explicit ChannelsTaken(std::span<const ChannelLane> lanes) : pair_(lanes.size(), 0) {
        std::vector<std::uint32_t> order(lanes.size());
        std::iota(order.begin(), order.end(), 0U);
        const auto ends = [&](std::uint32_t i) { return std::pair(lanes[i].from, lanes[i].to); };
        std::ranges::sort(order, {}, ends);
        std::uint32_t pairs = 0;
        for (std::size_t k = 0; k < order.size(); ++k) {
            if (k == 0 || ends(order[k]) != ends(order[k - 1])) ++pairs;
            pair_[order[k]] = pairs - 1;
        }
        first_.assign(pairs, kNoLane);
    }
    [[nodiscard]] bool contain(std::uint32_t lane, std::uint32_t channel) const {
        return first_[pair_[lane]] == channel || others_.contains(key(lane, channel));
    }
    void add(std::uint32_t lane, std::uint32_t channel) {
        std::uint32_t& first = first_[pair_[lane]];
        if (first == kNoLane) {
            first = channel;
        } else {
            others_.insert(key(lane, channel));
        }
    }

  private:
    [[nodiscard]] std::uint64_t key(std::uint32_t lane, std::uint32_t channel) const {
        return std::uint64_t{pair_[lane]} << 32U | channel;
    }
    std::vector<std::uint32_t> pair_;           ///< by lane
    std::vector<std::uint32_t> first_;          ///< by pair: the first channel that was taken
    std::unordered_set<std::uint64_t> others_;  ///< those after it
};

class ChannelChoice {
  public:
    ChannelChoice(std::span<const ChannelLane> lanes, std::span<const std::uint32_t> others,
                  const ChannelRoom& room)
        : lanes_(lanes), room_(room), ranks_(others.size()), channels_(lanes.size(), 0), taken_(lanes) {
        std::ranges::copy(others, blocks(0).begin());
    }

    std::variant<std::vector<std::uint32_t>, NoChannel> run() {
        const ChainList list(lanes_);
        for (const LaneChain& one : list.chains) {
            const std::span<const std::uint32_t> chain = list.of(one);
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
    using Chain = std::span<const std::uint32_t>;

    /// By rank its thread blocks on that channel.
    std::vector<std::int64_t>& blocks(std::uint32_t channel) {
        return blocks_.try_emplace(channel, ranks_, 0).first->second;
    }
    /// Calls use(rank) for each thread block of the chain.
    template <class Use>
    void each_block(Chain chain, Use use) const {
        for (const std::uint32_t i : chain) {
            const ChannelLane& lane = lanes_[i];
            // A thread block that also receives on another lane is counted there.
            if (lane.inbound == kNoLane) use(lane.from);
            use(lane.to);
        }
    }

    void put(Chain chain, std::uint32_t channel) {
        for (const std::uint32_t i : chain) {
            channels_[i] = channel;
            taken_.add(i, channel);
        }
        std::vector<std::int64_t>& there = blocks(channel);
        each_block(chain, [&](std::uint32_t rank) { ++there[rank]; });
    }
    [[nodiscard]] bool fits(Chain chain, std::uint32_t channel) {
        const auto taken = [&](std::uint32_t lane) { return taken_.contain(lane, channel); };
        if (std::ranges::any_of(chain, taken)) return false;
        std::vector<std::int64_t>& there = blocks(channel);
        bool room = true;
        each_block(chain,
                   [&](std::uint32_t rank) { room = ++there[rank] <= room_.blocks_per_channel && room; });
        each_block(chain, [&](std::uint32_t rank) { --there[rank]; });
        return room;
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
    std::size_t ranks_;
    std::vector<std::uint32_t> channels_;
    ChannelsTaken taken_;
    std::map<std::uint32_t, std::vector<std::int64_t>> blocks_;  ///< by channel, by rank
};

}  // namespace

std::variant<std::vector<std::uint32_t>, NoChannel> channels_of(std::span<const ChannelLane> lanes,
                                                                std::span<const std::uint32_t> others,
                                                                const ChannelRoom& room) {
    return ChannelChoice(lanes, others, room).run();
}

}  // namespace tutti::compile
