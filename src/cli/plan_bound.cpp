#include "cli/plan_bound.hpp"

#include <fmt/format.h>

namespace tutti::cli {
namespace {

/// Beyond so many chunks (times receivers, where each names them) bounds would take longer than the timing.
constexpr std::uint64_t kMostChunks = std::uint64_t{1} << 20;

std::optional<CollectiveKind> kind_of(plan::Goal goal) {
    using enum plan::Goal;
    switch (goal) {
        case AllReduce:
            return CollectiveKind::AllReduce;
        case AllGather:
            return CollectiveKind::AllGather;
        case ReduceScatter:
            return CollectiveKind::ReduceScatter;
        case AllToAll:
            return CollectiveKind::AllToAll;
        case Broadcast:
            return CollectiveKind::Broadcast;
        case Reduce:
            return CollectiveKind::Reduce;
        case Gather:
            return CollectiveKind::Gather;
        case Scatter:
            return CollectiveKind::Scatter;
        case AllToNext:
            return CollectiveKind::AllToNext;
        case SendRecv:
            return CollectiveKind::Permute;
        case None:
            break;
    }
    return std::nullopt;
}

/// Whether the collective's `chunks` are those of a rank's share of the call, not of the whole of it.
bool counts_shares(CollectiveKind kind) {
    using enum CollectiveKind;
    return kind == AllReduce || kind == AllGather || kind == ReduceScatter || kind == AllToAll ||
           kind == Gather || kind == Scatter;
}

/// An all-reduce whose chunks cannot be dealt out to the ranks evenly.
void ask_chunk_by_chunk(Collective& collective, const run::JobTiming& timing) {
    collective.kind = CollectiveKind::Custom;
    for (std::uint64_t i = 0; i < timing.chunks; ++i)
        collective.demands.push_back({timing.group, timing.group, true, std::nullopt});
}

std::optional<Collective> collective_of(const BoundJob& job, std::size_t number) {
    const auto kind = kind_of(job.goal);
    const auto ranks = static_cast<std::uint64_t>(job.timing.ranks);
    if (!kind || ranks < 2) return std::nullopt;
    if (has_root(*kind) && !job.root) return std::nullopt;
    const std::uint64_t chunks = job.timing.chunks;
    if (chunks > kMostChunks || (*kind == CollectiveKind::AllToAll && chunks > kMostChunks / ranks))
        return std::nullopt;

    Collective collective;
    collective.id = fmt::format("plan{}", number);
    collective.group = GroupId(number);
    collective.kind = *kind;
    collective.chunk_bytes = job.timing.chunk;
    if (has_root(*kind)) collective.root = Rank(static_cast<std::size_t>(*job.root));
    collective.chunks = counts_shares(*kind) ? chunks / ranks : chunks;
    if (counts_shares(*kind) && chunks % ranks != 0) {
        if (*kind != CollectiveKind::AllReduce || chunks > kMostChunks / ranks) return std::nullopt;
        ask_chunk_by_chunk(collective, job.timing);
        collective.chunks = 1;
    }
    for (std::size_t rank = 0; *kind == CollectiveKind::Permute && rank < ranks; ++rank)
        collective.pairs.emplace_back(Rank(rank), Rank((rank + 1) % ranks));
    return collective;
}

}  // namespace

std::optional<Instance> instance_of(std::span<const BoundJob> jobs, const Topology& topology) {
    InstanceParts parts;
    parts.name = "plan";
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        auto collective = collective_of(jobs[i], i);
        if (!collective) return std::nullopt;
        parts.groups.push_back({fmt::format("ranks{}", i), jobs[i].timing.group});
        parts.collectives.push_back(std::move(*collective));
    }
    if (jobs.empty()) return std::nullopt;
    parts.topology = topology.parts();
    return Instance(std::move(parts));
}

}  // namespace tutti::cli
