// Lanes to channels (compile/channels.cpp says how). What the user asks for is kept.

#include "compile/channels.hpp"
#include "compile/passes/layout.hpp"

#include <algorithm>

namespace tutti::compile::passes {

std::optional<Excess> choose_channels(std::uint32_t ranks, const MscclLimits* limits, Layout& layout) {
    auto& lanes = layout.lanes;
    // Lanes that have lost all their messages to others need no channel.
    std::vector<std::uint32_t> number(lanes.size(), kNone), used;
    for (std::uint32_t l = 0; l < lanes.size(); ++l) {
        if (lanes[l].messages == 0) continue;
        number[l] = static_cast<std::uint32_t>(used.size());
        used.push_back(l);
    }
    std::vector<ChannelLane> wants;
    const auto of = [&](std::uint32_t lane) { return lane == kNone ? kNoLane : number[lane]; };
    for (const std::uint32_t l : used) {
        const Lane& lane = lanes[l];
        wants.push_back({lane.from, lane.to, of(lane.onward), of(lane.inbound), lane.wanted_channel});
    }
    std::vector<std::uint32_t> others(ranks, 0);
    for (const Block& block : layout.blocks) {
        if (block.in == kNone && block.out == kNone) ++others[block.rank];
    }
    ChannelRoom room;
    if (limits != nullptr) room = {limits->channels, limits->blocks_per_channel};
    const auto chosen = channels_of(wants, others, room);
    if (const auto* none = std::get_if<NoChannel>(&chosen)) {
        return Excess{Excess::Of::Channels, none->needed, limits->channels, none->rank};
    }
    const auto& channels = std::get<std::vector<std::uint32_t>>(chosen);
    layout.channels = 1;
    for (std::size_t k = 0; k < used.size(); ++k) {
        lanes[used[k]].channel = channels[k];
        layout.channels = std::max(layout.channels, channels[k] + 1);
    }
    return std::nullopt;
}

}  // namespace tutti::compile::passes
