// An all-to-all of 1 024 NPUs on a 32x32 mesh has 22 million sends. Held as transfers, moves and sends, each
// with room to grow, they took 3.4 GB. But list scheduling is a simulation in order of time: its transfers
// can be handed on as they start. What remains are the paths (4 bytes a send) and the records of the
// simulation (16 bytes a send), 0.7 GB with the verifier's tables. At such sizes there is one plan and one
// list schedule and no justification anyway, so the schedule is as good.

#include "heuristics/paths/path_stream.hpp"

#include "heuristics/paths/priced_paths.hpp"
#include "heuristics/spread_bound.hpp"

#include <algorithm>

namespace tutti::heuristics {
namespace {

bool has_one_path(const Demand& demand) { return demand.holders.size() == 1 && demand.receivers.size() == 1; }

}  // namespace

std::uint64_t sends_of_shortest_paths(const Instance& instance) {
    const Topology& topology = instance.topology();
    std::vector<std::vector<ChunkId>> chunks(topology.npus());  // by holder
    for (std::size_t c = 0; c < instance.chunks(); ++c) {
        const Demand demand = instance.demand(ChunkId(c));
        if (!has_one_path(demand)) return 0;
        chunks[demand.holders.front().index()].emplace_back(c);
    }
    std::uint64_t sends = 0;
    std::vector<std::uint32_t> links(topology.nodes());
    std::vector<NodeId> queue;
    for (std::size_t source = 0; source < chunks.size(); ++source) {
        if (chunks[source].empty()) continue;
        std::ranges::fill(links, UINT32_MAX);
        links[source] = 0;
        queue.assign(1, NodeId(source));
        for (std::size_t i = 0; i < queue.size(); ++i) {
            for (const LinkId id : topology.out_links(queue[i])) {
                const NodeId next = topology.link(id).dst;
                if (links[next.index()] != UINT32_MAX) continue;
                links[next.index()] = links[queue[i].index()] + 1;
                queue.push_back(next);
            }
        }
        for (const ChunkId chunk : chunks[source]) {
            const std::uint32_t far = links[instance.demand(chunk).receivers.front().index()];
            sends += far == UINT32_MAX ? 0 : far;
        }
    }
    return sends;
}

PathStream::PathStream(const Instance& instance, Ticks target, const SearchOptions& options,
                       std::uint64_t seed, const Stop& stop)
    : stop_(stop),
      graph_(instance),
      problem_{graph_, {}, LinkCalendar(instance.topology().links().size()), target, options} {
    if (!graph_.is_simple()) {
        why_none_ = "chunks cannot wait in every switch";
        return;
    }
    for (std::size_t c = 0; c < instance.chunks(); ++c) {
        const Demand demand = instance.demand(ChunkId(c));
        if (!has_one_path(demand)) {
            why_none_ = "a chunk is wanted, or contributed to, by several";
            return;
        }
        if (demand.holders.front() == demand.receivers.front()) continue;
        problem_.spreads.push_back(
            {ChunkId(c), demand.holders, instance.last_release(ChunkId(c)), demand.receivers});
    }
    problem_.target = std::max(target, spread_bound(problem_));
    Rng rng = Rng(seed).split();  // as the portfolio does
    plan_ = plan_paths(problem_, PlanOrder::Random, rng, stop_);
    if (!plan_) {
        why_none_ = stop_.requested() ? "stopped" : "it found no path";
        return;
    }
    ListOptions list;
    list.seed = rng.next();
    list_.emplace(problem_, *plan_, list, stop_);
}

std::span<const Send> PathStream::next() {
    given_ += sends_.size();
    sends_.clear();
    if (!list_) return {};
    for (const Transfer& transfer : list_->next())
        sends_.push_back({transfer.chunk, *graph_.only_link(transfer.hop), transfer.start, Op::Copy});
    std::ranges::sort(sends_, starts_before);
    return sends_;
}

}  // namespace tutti::heuristics
