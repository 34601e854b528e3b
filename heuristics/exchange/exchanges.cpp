// What the textbook algorithms of this directory need to know of an instance (exchanges.hpp).

#include "heuristics/exchange/exchanges.hpp"

#include <algorithm>
#include <map>

namespace tutti::heuristics {
namespace {

constexpr std::size_t kMostMembersOrdered = 1024;

/// Where the chunk's tree has its root: at its only receiver or holder, else in turn.
NodeId exchange_root(const std::vector<NodeId>& members, const Demand& demand, std::size_t turn) {
    if (demand.receivers.size() == 1) return demand.receivers.front();
    if (demand.holders.size() == 1) return demand.holders.front();
    return members[turn % members.size()];
}

}  // namespace

std::string Exchanges::why_not(const Instance& instance) {
    if (!MessageGraph::fits(instance)) return "the network is too large for a table of all pairs";
    std::size_t messages = 0;
    for (std::size_t c = 0; c < instance.chunks(); ++c) {
        const Demand demand = instance.demand(ChunkId(c));
        messages += demand.receivers.size() + (demand.reduction ? demand.holders.size() : 0);
        if (messages > kMostMessages) return "there are too many messages";
    }
    return {};
}

Exchanges::Exchanges(const Instance& instance, const Stop& stop) : graph_(instance) {
    std::map<std::pair<std::vector<NodeId>, std::uint32_t>, std::size_t> known;
    const DemandList& demands = instance.demands();
    for (std::size_t c = 0; c < instance.chunks(); ++c) {
        const ChunkId chunk(c);
        const Demand demand = demands[chunk];
        are_sums_ = are_sums_ && demand.reduction;
        std::vector<NodeId> members;
        std::ranges::set_union(demand.holders, demand.receivers, std::back_inserter(members));
        const auto [place, is_new] = known.try_emplace({members, demand.collective.value()}, sets_.size());
        if (is_new) sets_.push_back({.members = std::move(members)});
        Set& set = sets_[place->second];
        set.roots.push_back(exchange_root(set.members, demand, set.chunks.size()));
        set.chunks.push_back(chunk);
        tree_messages_ += 2 * (set.members.size() - 1);
    }
    for (Set& set : sets_) add_orders(set, stop);
}

void Exchanges::add_orders(Set& set, const Stop& stop) const {
    const auto enter = [](std::vector<std::vector<NodeId>>& orders, std::vector<NodeId> order) {
        if (std::ranges::find(orders, order) == orders.end()) orders.push_back(std::move(order));
    };
    const ChunkId chunk = set.chunks.front();
    if (set.members.size() <= kMostMembersOrdered && !stop.requested()) {
        if (auto near = doubling_order(graph_, set.members, chunk)) enter(set.orders, std::move(*near));
        set.levels = partitions(graph_, set.members, chunk);
        for (const Parts& parts : set.levels) {
            std::vector<NodeId> order;
            for (const auto& part : parts) order.insert(order.end(), part.begin(), part.end());
            enter(set.orders, std::move(order));
        }
    }
    enter(set.orders, set.members);
    if (!graph_.hops().is_direct()) return;
    std::vector<NodeId> carriers;
    for (std::size_t n = 0; n < instance().topology().npus(); ++n) {
        if (instance().may_carry(NodeId(n), instance().demand(chunk).collective)) carriers.emplace_back(n);
    }
    if (carriers.size() == set.members.size()) return;
    enter(set.wide_orders, carriers);
    if (carriers.size() > kMostMembersOrdered || stop.requested()) return;
    if (auto near = doubling_order(graph_, carriers, chunk)) enter(set.wide_orders, std::move(*near));
}

std::string why_no_rounds(const Instance& instance) {
    for (std::size_t c = 0; c < instance.chunks(); ++c) {
        if (!instance.demand(ChunkId(c)).reduction) return "there are chunks that are no sums";
    }
    return Exchanges::why_not(instance);
}

std::string why_no_sum_trees(const Instance& instance) { return Exchanges::why_not(instance); }

}  // namespace tutti::heuristics
