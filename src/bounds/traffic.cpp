#include "bounds/traffic.hpp"

#include <algorithm>

namespace tutti::bounds {
namespace {

/// Distances to keep, in numbers, and links to relax for them, at most.
constexpr std::size_t kMostKept = 50'000'000;
constexpr std::size_t kMostRelaxed = 400'000'000;

/// Which collectives have nodes that may not carry them.
std::vector<bool> restricted_collectives(const Instance& instance) {
    std::vector<bool> restricted;
    for (std::size_t c = 0; c < instance.collectives().size(); ++c) {
        bool any = false;
        if (instance.collective(CollectiveId(c)).forwarding == Forwarding::Any) {
            restricted.push_back(false);
            continue;
        }
        for (std::size_t n = 0; n < instance.topology().nodes() && !any; ++n) {
            any = !instance.may_carry(NodeId(n), CollectiveId(c));
        }
        restricted.push_back(any);
    }
    return restricted;
}

bool same(const Demand& a, const Demand& b) {
    return a.collective == b.collective && a.bytes == b.bytes && a.reduction == b.reduction &&
           a.holders.data() == b.holders.data() && a.holders.size() == b.holders.size() &&
           a.receivers.data() == b.receivers.data() && a.receivers.size() == b.receivers.size();
}

}  // namespace

Traffic::Traffic(const Instance& instance) : instance_(&instance) {
    const auto restricted = restricted_collectives(instance);
    std::map<std::pair<std::size_t, Bytes>, std::size_t>
        known;  // collective + 1, or 0 where anybody may carry
    std::optional<Demand> last;
    std::size_t sets = 0;
    Bytes least{INT64_MAX};
    for (std::size_t i = 0; i < instance.chunks(); ++i) {
        const ChunkId chunk(i);
        const Demand demand = instance.demand(chunk);
        if (last && same(*last, demand)) {
            ++classes_.back().count;
            continue;
        }
        if (!last || last->holders.data() != demand.holders.data()) ++sets;
        first_release_ = std::min(first_release_, instance.release(chunk));
        least = std::min(least, demand.bytes);
        if (last && last->collective == demand.collective && last->bytes == demand.bytes) {
            classes_.push_back({chunk, 1, classes_.back().passage});
            last = demand;
            continue;
        }
        const std::size_t collective =
            restricted[demand.collective.index()] ? demand.collective.index() + 1 : 0;
        const auto [entry, added] = known.try_emplace({collective, demand.bytes}, passages_.size());
        if (added && collective > 0) passages_.emplace_back(instance, demand.bytes, demand.collective);
        if (added && collective == 0) passages_.emplace_back(instance, demand.bytes);
        classes_.push_back({chunk, 1, entry->second});
        last = demand;
    }
    if (classes_.empty()) return;
    if (passages_.front().bytes == least && !passages_.front().collective) {
        smallest_ = passages_.front();
    } else {
        smallest_.emplace(instance, least);
    }
    const std::size_t tables = std::min(sets, classes_.size()) + topology().npus() * passages_.size();
    huge_ = tables * topology().nodes() > kMostKept || tables * topology().links().size() > kMostRelaxed;
    from_.resize(passages_.size());
    to_.resize(passages_.size());
}

Traffic::Table& Traffic::place(std::vector<std::vector<Table>>& tables, const ChunkClass& c,
                               NodeId node) const {
    auto& row = tables[c.passage];
    if (row.empty()) row.resize(topology().nodes());
    return row[node.index()];
}

const std::vector<Ticks>& Traffic::from(const ChunkClass& c, std::span<const NodeId> set) {
    if (set.size() == 1) return from(c, set[0]);
    Table& table = from_sets_[{c.passage, set.data()}];
    if (!table) {
        table = std::make_unique<const std::vector<Ticks>>(distances(passage(c), set, Direction::Forwards));
    }
    return *table;
}

const std::vector<Ticks>& Traffic::from(const ChunkClass& c, NodeId node) {
    Table& table = place(from_, c, node);
    if (!table) {
        table = std::make_unique<const std::vector<Ticks>>(
            distances(passage(c), std::span(&node, 1), Direction::Forwards));
    }
    return *table;
}

const std::vector<Ticks>& Traffic::to(const ChunkClass& c, NodeId node) {
    Table& table = place(to_, c, node);
    if (!table) {
        table = std::make_unique<const std::vector<Ticks>>(
            distances(passage(c), std::span(&node, 1), Direction::Backwards));
    }
    return *table;
}

}  // namespace tutti::bounds
