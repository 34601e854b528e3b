#include "verify/cut_through_order.hpp"

#include <unordered_map>
#include <vector>

namespace tutti::verify {

void take_in_cut_through_order(std::span<const NumberedSend> sends, const Instance& instance,
                               const std::function<void(const NumberedSend&)>& take) {
    const Topology& topology = instance.topology();
    const auto at = [](NodeId node, ChunkId chunk) {
        return (std::uint64_t{node.value()} << 32) | chunk.value();
    };
    std::unordered_map<std::uint64_t, std::size_t> feeding;
    std::unordered_map<std::uint64_t, std::vector<std::size_t>> blocked;
    const auto feeds_at_once = [&](const NumberedSend& p) {
        return topology.is_cut_through(topology.link(p.send.link).dst) &&
               instance.alpha(p.send.link) == Ticks(0);
    };
    for (const NumberedSend& p : sends) {
        if (feeds_at_once(p)) ++feeding[at(topology.link(p.send.link).dst, p.send.chunk)];
    }
    std::vector<bool> taken(sends.size(), false);
    std::vector<std::size_t> ready;
    for (std::size_t i = 0; i < sends.size(); ++i) {
        const auto source = at(topology.link(sends[i].send.link).src, sends[i].send.chunk);
        if (feeding.contains(source)) {
            blocked[source].push_back(i);
        } else {
            ready.push_back(i);
        }
    }
    for (std::size_t next = 0; next < ready.size(); ++next) {
        const NumberedSend& p = sends[ready[next]];
        take(p);
        taken[ready[next]] = true;
        if (!feeds_at_once(p)) continue;
        const auto destination = at(topology.link(p.send.link).dst, p.send.chunk);
        if (--feeding[destination] > 0) continue;
        const auto& freed = blocked[destination];
        ready.insert(ready.end(), freed.begin(), freed.end());
    }
    // The remaining sends form cycles that nothing feeds.
    for (std::size_t i = 0; i < sends.size(); ++i) {
        if (!taken[i]) take(sends[i]);
    }
}

}  // namespace tutti::verify
