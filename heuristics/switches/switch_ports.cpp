// Rotation. A port tries its sources round robin from where it last stopped, and ports begin at different
// ones: v, v+1, v+2 … pull from v+r, v+r+1, v+r+2 …, as in a Latin square, so they seldom need the same
// uplink. On a star this alone is optimal.
//
// Back-off. Ports that find nothing try again after increasing delays, at first up to one transfer's time.
// After kTriesAwake tries in vain (waiting for a release, or a long wire) the delays grow without limit,
// until a chunk arrives somewhere.

#include "heuristics/switches/switch_ports.hpp"

#include <algorithm>
#include <utility>

namespace tutti::heuristics {
namespace {

/// Tries in vain after which delays grow without limit.
constexpr std::uint32_t kTriesAwake = 64;

/// Ports of one cluster begin at neighbouring sources, those of the next cluster after them. `turn`: how many
/// ports of the same holder precede it.
std::uint32_t first_source(const SwitchPaths& paths, const SwitchClusters& clusters,
                           const SwitchPaths::Port& port, std::size_t level, std::size_t turn) {
    const std::size_t count = paths.sources(port, level);
    if (count == 0) return 0;
    std::size_t after = 0;
    while (after < count && paths.source(port, level, after).node <= port.holder) ++after;
    std::size_t rank = turn;
    if (level > 0) {
        for (std::size_t n = 0; n < port.holder.index(); ++n) {
            if (clusters.cluster(level - 1, NodeId(n)) == clusters.cluster(level - 1, port.holder)) ++rank;
        }
    }
    return static_cast<std::uint32_t>((after + rank) % count);
}

}  // namespace

SwitchPorts::SwitchPorts(const HopGraph& graph, const SwitchPaths& paths, const SwitchClusters& clusters,
                         ChunkId chunk)
    : states_(paths.ports().size()) {
    const Instance& instance = graph.instance();
    const auto& ports = paths.ports();
    for (std::size_t p = 0, same = 0; p < ports.size(); ++p) {
        same = p > 0 && ports[p - 1].holder == ports[p].holder ? same + 1 : 0;
        State& state = states_[p];
        state.busy = instance.busy(ports[p].link, instance.beta(ports[p].link, chunk));
        for (std::size_t l = 0; l <= clusters.levels(); ++l) {
            state.next.push_back(first_source(paths, clusters, ports[p], l, same));
        }
    }
}

bool SwitchPorts::take_due(std::uint32_t p, Ticks now) {
    State& state = states_[p];
    if (state.due != now) return false;
    state.due = kNoAppointment;
    state.served = false;
    return true;
}

Ticks SwitchPorts::next_try(std::uint32_t p, Ticks now, Ticks horizon) {
    State& state = states_[p];
    if (state.served) {
        state.patience = Ticks(0);
        state.in_vain = 0;
        return state.due = now + state.pulled;
    }
    const Ticks quarter((state.busy.count() + 3) / 4);
    state.patience = std::max(quarter, state.patience * 2);
    Ticks next = now + state.patience;
    if (++state.in_vain < kTriesAwake) {
        state.patience = std::min(state.patience, state.busy);
        next = now + state.patience;
    } else if (now < horizon) {
        next = std::min(next, horizon);
    }
    if (state.in_vain == kTriesAwake) dozing_.push_back(p);
    return state.due = next;
}

void SwitchPorts::wake(Ticks now, std::vector<std::uint32_t>& ready) {
    std::erase_if(dozing_, [&](std::uint32_t p) { return states_[p].in_vain < kTriesAwake; });
    for (const std::uint32_t p : dozing_) {
        State& state = states_[p];
        state.patience = Ticks(0);
        if (std::exchange(state.due, kNoAppointment) <= now) continue;
        state.served = false;
        ready.push_back(p);
    }
}

}  // namespace tutti::heuristics
