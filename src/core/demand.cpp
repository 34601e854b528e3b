#include "core/demand.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti {
namespace {

std::vector<NodeId> sorted(std::vector<NodeId> nodes) {
    std::ranges::sort(nodes);
    return nodes;
}

void check_rank(std::uint64_t rank, std::size_t ranks, const std::string& place) {
    if (rank >= ranks) {
        throw InputError(fmt::format("expected a rank from 0 to {}, found {}", ranks - 1, rank), place);
    }
}

void check_counts(const std::vector<std::vector<std::uint64_t>>& counts, std::size_t ranks) {
    if (counts.size() != ranks) {
        throw InputError(fmt::format("expected {} rows, one for each rank, found {}", ranks, counts.size()),
                         "/counts");
    }
    for (std::size_t i = 0; i < ranks; ++i) {
        if (counts[i].size() == ranks) continue;
        throw InputError(
            fmt::format("expected {} numbers, one for each rank, found {}", ranks, counts[i].size()),
            fmt::format("/counts/{}", i));
    }
}

/// The sorted nodes of a custom demand, each of them a member, none of them twice.
std::vector<NodeId> members_only(const std::vector<NodeId>& nodes, const Group& group,
                                 std::span<const NodeId> sorted_members, const std::string& place) {
    if (nodes.empty()) throw InputError("expected at least one NPU", place);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (!std::ranges::binary_search(sorted_members, nodes[i])) {
            throw InputError(
                fmt::format("expected a member of group '{}', found NPU {}", group.name, nodes[i].value()),
                fmt::format("{}/{}", place, i));
        }
    }
    auto set = sorted(nodes);
    if (std::ranges::adjacent_find(set) != set.end()) throw InputError("an NPU is listed twice", place);
    return set;
}

}  // namespace

Demand DemandList::operator[](ChunkId chunk) const {
    const Row& row = rows_[chunk.index()];
    return {row.collective, sizes_[row.size], row.reduction, sets_[row.holders], sets_[row.receivers]};
}

std::uint32_t DemandList::add_set(std::vector<NodeId> nodes) {
    sets_.push_back(std::move(nodes));
    return static_cast<std::uint32_t>(sets_.size() - 1);
}

std::uint32_t DemandList::add_size(Bytes bytes) {
    const auto found = std::ranges::find(sizes_, bytes);
    if (found != sizes_.end()) return static_cast<std::uint32_t>(found - sizes_.begin());
    sizes_.push_back(bytes);
    return static_cast<std::uint32_t>(sizes_.size() - 1);
}

void DemandList::expect_room(std::uint64_t senders, std::uint64_t receivers, std::uint64_t chunks) const {
    __extension__ using Wide = unsigned __int128;
    const Wide pairs = static_cast<Wide>(senders) * receivers;
    if (pairs <= kMaxChunks && pairs * chunks <= kMaxChunks - rows_.size()) return;
    throw InputError(fmt::format("this makes more than {} chunks, which is all tutti can number", kMaxChunks),
                     chunks > 1 ? "/chunks" : "");
}

void DemandList::add_chunks(std::uint64_t count, Row row) {
    if (count > kMaxChunks - rows_.size()) {
        throw InputError(
            fmt::format("this makes more than {} chunks, which is all tutti can number", kMaxChunks),
            "/chunks");
    }
    if (count == 1) {
        rows_.push_back(row);
    } else {
        rows_.insert(rows_.end(), count, row);
    }
}

void DemandList::append(const Collective& collective, CollectiveId id, const Group& group) {
    using enum CollectiveKind;
    const std::size_t n = group.members.size();
    if (collective.kind == AllToAll && n > 1) expect_room(n, n - 1, collective.chunks);
    const std::uint32_t size = add_size(collective.chunk_bytes);
    const auto add = [&](std::uint64_t count, std::uint32_t holders, std::uint32_t receivers,
                         bool reduction = false) {
        add_chunks(count, {holders, receivers, id, size, reduction});
    };
    sets_.reserve(sets_.size() + n + 1);
    const std::uint32_t all = add_set(sorted(group.members));
    const auto first = static_cast<std::uint32_t>(sets_.size());
    for (const NodeId member : group.members) add_set({member});
    const auto only = [&](std::size_t rank) { return first + static_cast<std::uint32_t>(rank); };

    std::uint32_t root = 0;
    if (has_root(collective.kind)) {
        check_rank(collective.root.value_or(Rank(0)).value(), n, "/root");
        root = only(collective.root.value_or(Rank(0)).index());
    }
    switch (collective.kind) {
        case Broadcast:
            add(collective.chunks, root, all);
            break;
        case Reduce:
            add(collective.chunks, all, root, true);
            break;
        case Scatter:
            for (std::size_t r = 0; r < n; ++r) add(collective.chunks, root, only(r));
            break;
        case Gather:
            for (std::size_t r = 0; r < n; ++r) add(collective.chunks, only(r), root);
            break;
        case AllGather:
            for (std::size_t r = 0; r < n; ++r) add(collective.chunks, only(r), all);
            break;
        case ReduceScatter:
            for (std::size_t r = 0; r < n; ++r) add(collective.chunks, all, only(r), true);
            break;
        case AllReduce:
            for (std::size_t r = 0; r < n; ++r) add(collective.chunks, all, all, true);
            break;
        case AllToNext:
            for (std::size_t r = 0; r + 1 < n; ++r) add(collective.chunks, only(r), only(r + 1));
            break;
        case SendRecv:
            for (std::size_t r = 0; r < n; ++r) add(collective.chunks, only(r), only((r + 1) % n));
            break;
        case AllToAllV:
            check_counts(collective.counts, n);
            [[fallthrough]];
        case AllToAll:
            if (collective.kind == AllToAll) rows_.reserve(rows_.size() + n * (n - 1) * collective.chunks);
            for (std::size_t i = 0; i < n; ++i) {
                for (std::size_t j = 0; j < n; ++j) {
                    if (i == j) continue;
                    add(collective.kind == AllToAll ? collective.chunks : collective.counts[i][j], only(i),
                        only(j));
                }
            }
            break;
        case Permute:
            for (std::size_t i = 0; i < collective.pairs.size(); ++i) {
                const auto& [from, to] = collective.pairs[i];
                check_rank(from.value(), n, fmt::format("/pairs/{}/0", i));
                check_rank(to.value(), n, fmt::format("/pairs/{}/1", i));
                add(collective.chunks, only(from.index()), only(to.index()));
            }
            break;
        case Custom:
            for (std::size_t i = 0; i < collective.demands.size(); ++i) {
                const CustomDemand& demand = collective.demands[i];
                const std::string place = fmt::format("/demands/{}", i);
                const auto holders =
                    add_set(members_only(demand.holders, group, sets_[all], place + "/holders"));
                const auto receivers =
                    add_set(members_only(demand.receivers, group, sets_[all], place + "/receivers"));
                add_chunks(1, {holders, receivers, id,
                               add_size(demand.bytes.value_or(collective.chunk_bytes)), demand.reduction});
            }
            break;
    }
}

}  // namespace tutti
