// The lanes of a schedule to channels (compile/channels.cpp says how).

#include "compile/channels.hpp"
#include "compile/msccl/passes.hpp"

namespace tutti::compile::msccl {

std::optional<Excess> choose_channels(Draft& draft) {
    std::vector<ChannelLane> lanes;
    for (const Lane& lane : draft.lanes) lanes.push_back({lane.from, lane.to, lane.onward, lane.inbound});
    // The thread block of a rank's own copies stands on channel 0.
    std::vector<std::uint32_t> others(draft.places.ranks(), 0);
    for (const OwnCopy& copy : draft.copies) others[copy.rank] = 1;
    const auto chosen = channels_of(
        lanes, others,
        {.channels = draft.limits.channels, .blocks_per_channel = draft.limits.blocks_per_channel});
    if (const auto* none = std::get_if<NoChannel>(&chosen)) {
        return Excess{Excess::Of::Channels, none->needed, draft.limits.channels, none->rank};
    }
    const auto& channels = std::get<std::vector<std::uint32_t>>(chosen);
    for (std::size_t i = 0; i < channels.size(); ++i) draft.lanes[i].channel = channels[i];
    return std::nullopt;
}

}  // namespace tutti::compile::msccl
