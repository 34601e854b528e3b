// A path's potentials are a proof by induction over time: no holder has the chunk before its potential (the
// release), and a chunk that arrives over a link left a node that had it no earlier than that node's
// potential. So no node has it before its own potential.

#include "core/expects.hpp"
#include "verify/certificate_checks.hpp"
#include "verify/certificate_paths.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::verify {

Objection check_path(const Instance& instance, const PathCertificate& path, Ticks value) {
    expects(value > Ticks(0));
    const Topology& topology = instance.topology();
    if (path.chunk.index() >= instance.chunks())
        return fmt::format("there is no chunk {}", path.chunk.value());
    const Demand demand = instance.demand(path.chunk);
    if (!std::ranges::binary_search(demand.holders, path.holder)) {
        return fmt::format("node {} does not hold chunk {}", path.holder.value(), path.chunk.value());
    }
    if (!std::ranges::binary_search(demand.receivers, path.receiver)) {
        return fmt::format("node {} need not receive chunk {}", path.receiver.value(), path.chunk.value());
    }
    if (path.receiver == path.holder ||
        (!demand.reduction && std::ranges::binary_search(demand.holders, path.receiver))) {
        return fmt::format("NPU {} has chunk {} from the start", path.receiver.value(), path.chunk.value());
    }
    const Ticks release =
        demand.reduction ? instance.release(path.chunk, path.holder) : instance.release(path.chunk);
    if (path.release != release) return "the release is not the holder's";
    if (path.potential.size() != topology.nodes()) {
        return fmt::format("expected {} potentials, one per node, found {}", topology.nodes(),
                           path.potential.size());
    }
    const std::span<const NodeId> only(&path.holder, 1);
    for (const NodeId start : demand.reduction ? only : demand.holders) {
        if (path.potential[start.index()] > path.release) {
            return fmt::format("NPU {} has chunk {} from its release on, before its potential", start.value(),
                               path.chunk.value());
        }
    }
    for (std::size_t e = 0; e < topology.links().size(); ++e) {
        const Link& link = topology.link(LinkId(e));
        if (!may_use(instance, LinkId(e), demand.collective)) continue;
        const Ticks from = path.potential[link.src.index()], to = path.potential[link.dst.index()];
        if (from == Ticks::max()) continue;
        const Wide arrival = Wide{from.count()} + transit(instance, LinkId(e), path.chunk).count();
        if (arrival < to.count()) {
            return fmt::format("{} brings chunk {} before the potential of its end",
                               name_of(topology, LinkId(e)), path.chunk.value());
        }
    }
    if (path.potential[path.receiver.index()] < value) {
        return fmt::format("the receiver's potential is {}, below the bound",
                           path.potential[path.receiver.index()].count());
    }
    return std::nullopt;
}

}  // namespace tutti::verify
