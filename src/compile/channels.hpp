#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <variant>
#include <vector>

namespace tutti::compile {

inline constexpr std::uint32_t kNoLane = ~std::uint32_t{0};

/// A connection that wants a channel.
struct ChannelLane {
    std::uint32_t from = 0, to = 0;
    std::uint32_t onward = kNoLane;   ///< the lane that the receiving thread block also sends on
    std::uint32_t inbound = kNoLane;  ///< the lane that the sending thread block also receives on
    std::int32_t wanted = -1;         ///< the user's channel; -1: any
};

struct ChannelRoom {
    std::int64_t channels = std::numeric_limits<std::int64_t>::max();
    std::int64_t blocks_per_channel = std::numeric_limits<std::int64_t>::max();  ///< of a rank
};

/// There is no room on any channel.
struct NoChannel {
    std::uint32_t rank = 0;
    std::int64_t needed = 0;  ///< channels, at least
};

/// The channel of every lane. `others`: by rank, its thread blocks on channel 0 that have no lane. What the
/// user wants is kept, whatever the room. O(lanes x channels).
[[nodiscard]] std::variant<std::vector<std::uint32_t>, NoChannel> channels_of(
    std::span<const ChannelLane> lanes, std::span<const std::uint32_t> others, const ChannelRoom& room);

}  // namespace tutti::compile
