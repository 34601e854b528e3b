#include "app/plan_bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace tutti::app {
namespace {

/// With more chunks (times receivers, where each lists its own) bounds would take longer than the timing.
constexpr std::uint64_t kMostChunks = std::uint64_t{1} << 20;

/// Whether the collective's `chunks` count a rank's share of the call, not the whole call.
bool counts_shares(CollectiveKind kind) {
    using enum CollectiveKind;
    return kind == AllReduce || kind == AllGather || kind == ReduceScatter || kind == AllToAll ||
           kind == Gather || kind == Scatter;
}

/// Demands for an all-reduce whose number of chunks is no multiple of the ranks.
void ask_chunk_by_chunk(Collective& collective, const timing::JobTiming& timing, std::uint64_t chunks) {
    collective.kind = CollectiveKind::Custom;
    for (std::uint64_t i = 0; i < chunks; ++i)
        collective.demands.push_back({timing.group, timing.group, true, std::nullopt});
}

/// What a condition asks for, each output that many times. None where two sums share a contribution without
/// being the same: one transfer could then be useful for both, and each would be bounded as if it were not.
std::optional<std::vector<CustomDemand>> demands_of(const plan::Condition& condition,
                                                    const timing::JobTiming& timing, std::uint64_t times) {
    std::map<std::vector<plan::Contribution>, std::vector<NodeId>> receivers;
    std::uint64_t asked = 0;
    for (const auto& [rank, outputs] : condition.outputs) {
        for (const auto& [chunk, sum] : outputs) {
            asked += sum.size();
            auto& to = receivers[sum];
            if (to.empty() || to.back() != timing.group.at(rank.index()))
                to.push_back(timing.group[rank.index()]);
        }
    }
    if (asked > kMostChunks || receivers.size() > kMostChunks / times) return std::nullopt;
    std::set<plan::Contribution> used;
    std::vector<CustomDemand> demands;
    for (auto& [sum, to] : receivers) {
        CustomDemand demand{{}, std::move(to), sum.size() > 1, std::nullopt};
        for (const plan::Contribution& part : sum) {
            demand.holders.push_back(timing.group.at(part.rank.index()));
            if (!used.insert(part).second) return std::nullopt;
        }
        std::ranges::sort(demand.holders);
        std::ranges::sort(demand.receivers);
        if (std::ranges::adjacent_find(demand.holders) != demand.holders.end()) return std::nullopt;
        const bool is_there = !demand.reduction && demand.holders == demand.receivers;
        if (demand.holders.empty() || is_there) continue;
        demands.insert(demands.end(), times, demand);
    }
    if (demands.empty()) return std::nullopt;
    return demands;
}

/// The number of chunks of a job's data, and their size.
struct Cut {
    std::uint64_t chunks;
    Bytes bytes;
};

std::optional<Collective> collective_of(const BoundJob& job, const Cut& cut, std::size_t number) {
    const CollectiveKind kind = plan_kind_of(job.goal);
    const auto ranks = static_cast<std::uint64_t>(job.timing.ranks);
    if (ranks < 2 || (kind == CollectiveKind::Custom && job.condition == nullptr)) return std::nullopt;
    if (has_root(kind) && !job.root) return std::nullopt;
    const std::uint64_t chunks = cut.chunks;
    if (chunks > kMostChunks || (kind == CollectiveKind::AllToAll && chunks > kMostChunks / ranks))
        return std::nullopt;

    Collective collective;
    collective.id = fmt::format("plan{}", number);
    collective.group = GroupId(number);
    collective.kind = kind;
    collective.chunk_bytes = cut.bytes;
    if (has_root(kind)) collective.root = *job.root;
    if (kind == CollectiveKind::Custom) {
        auto demands = demands_of(*job.condition, job.timing, cut.chunks / job.timing.chunks);
        if (!demands) return std::nullopt;
        collective.demands = std::move(*demands);
        return collective;
    }
    collective.chunks = counts_shares(kind) ? chunks / ranks : chunks;
    if (counts_shares(kind) && chunks % ranks != 0) {
        if (kind != CollectiveKind::AllReduce || chunks > kMostChunks / ranks) return std::nullopt;
        ask_chunk_by_chunk(collective, job.timing, chunks);
        collective.chunks = 1;
    }
    return collective;
}

std::optional<Instance> instance_in(std::span<const BoundJob> jobs, std::span<const Cut> cuts,
                                    TopologyParts topology) {
    InstanceParts parts;
    parts.name = "plan";
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        auto collective = collective_of(jobs[i], cuts[i], i);
        if (!collective) return std::nullopt;
        parts.groups.push_back({fmt::format("ranks{}", i), jobs[i].timing.group});
        parts.collectives.push_back(std::move(*collective));
    }
    if (jobs.empty()) return std::nullopt;
    parts.topology = std::move(topology);
    return Instance(std::move(parts));
}

/// Bytes that the fastest link carries in a tick, rounded up: rounding up a chunk's time adds at most these.
std::int64_t bytes_per_tick(const Topology& topology) {
    double most = 0;
    for (const Link& link : topology.links()) most = std::max(most, to_double(link.wire.bandwidth) / 1000);
    return static_cast<std::int64_t>(most) + 1;
}

}  // namespace

std::optional<Instance> instance_of(std::span<const BoundJob> jobs, const Topology& topology) {
    std::vector<Cut> cuts;
    for (const BoundJob& job : jobs) cuts.push_back({job.timing.chunks, job.timing.chunk});
    return instance_in(jobs, cuts, topology.parts());
}

std::optional<FinerInstance> finer_instance_of(std::span<const BoundJob> jobs, const Topology& topology) {
    constexpr std::uint64_t kMostTimes = 64, kMostPieces = std::uint64_t{1} << 14;
    constexpr std::int64_t kLeastBytes = 1024;
    if (topology.units() != Units::Physical) return std::nullopt;
    std::uint64_t pieces = 0, times = kMostTimes;
    for (const BoundJob& job : jobs) {
        const auto ranks = static_cast<std::uint64_t>(job.timing.ranks);
        pieces += job.timing.chunks * (job.goal == CollectiveKind::AllToAll ? ranks : 1);
        while (times > 1 && job.timing.chunk.count / static_cast<std::int64_t>(times) < kLeastBytes)
            times /= 2;
    }
    while (times > 1 && pieces * times > kMostPieces) times /= 2;
    if (times == 1) return std::nullopt;

    const std::int64_t slack = bytes_per_tick(topology);
    std::vector<Cut> cuts;
    for (const BoundJob& job : jobs) {
        const std::int64_t bytes = job.timing.chunk.count / static_cast<std::int64_t>(times) - slack;
        cuts.push_back({job.timing.chunks * times, Bytes{bytes}});
    }
    TopologyParts parts = topology.parts();
    parts.busy = Busy::Beta;
    auto instance = instance_in(jobs, cuts, std::move(parts));
    if (!instance) return std::nullopt;
    return FinerInstance{std::move(*instance), times};
}

}  // namespace tutti::app
