// Lanes to channels. Joined lanes have one channel, and two lanes between the same ranks have different ones.
// What the user asks for is placed first; then each chain of joined lanes takes the first channel that is
// free on all its pairs of ranks.

#include "compile/trace/layout.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace tutti::compile::trace {
namespace {

/// The lanes of each chain: a path or a circle of joined lanes.
std::vector<std::vector<std::uint32_t>> chains_of(const std::vector<Lane>& lanes) {
    std::vector<std::vector<std::uint32_t>> chains;
    std::vector<bool> seen(lanes.size(), false);
    for (std::uint32_t first = 0; first < lanes.size(); ++first) {
        if (seen[first]) continue;
        std::vector<std::uint32_t> chain, open{first};
        seen[first] = true;
        while (!open.empty()) {
            const std::uint32_t l = open.back();
            open.pop_back();
            chain.push_back(l);
            for (const std::uint32_t next : {lanes[l].onward, lanes[l].inbound}) {
                if (next != kNone && !seen[next]) {
                    seen[next] = true;
                    open.push_back(next);
                }
            }
        }
        chains.push_back(std::move(chain));
    }
    return chains;
}

}  // namespace

void choose_channels(Layout& layout) {
    auto& lanes = layout.lanes;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::set<std::uint32_t>> taken;
    auto chains = chains_of(lanes);
    const auto wanted = [&](const std::vector<std::uint32_t>& chain) {
        return lanes[chain[0]].wanted_channel;
    };
    std::ranges::stable_sort(chains, [&](const auto& a, const auto& b) {
        if ((wanted(a) >= 0) != (wanted(b) >= 0)) return wanted(a) >= 0;
        return a.size() > b.size();
    });
    layout.channels = 1;
    for (const auto& chain : chains) {
        std::uint32_t channel = 0;
        if (wanted(chain) >= 0) {
            channel = static_cast<std::uint32_t>(wanted(chain));
        } else {
            const auto is_free = [&] {
                return std::ranges::none_of(chain, [&](std::uint32_t l) {
                    return taken[{lanes[l].from, lanes[l].to}].contains(channel);
                });
            };
            while (!is_free()) ++channel;
        }
        for (const std::uint32_t l : chain) {
            lanes[l].channel = channel;
            if (lanes[l].messages == 0) continue;
            taken[{lanes[l].from, lanes[l].to}].insert(channel);
            layout.channels = std::max(layout.channels, channel + 1);
        }
    }
}

}  // namespace tutti::compile::trace
