#include "verify/tables.hpp"

#include <map>

namespace tutti::verify {
namespace {

constexpr std::size_t kMaxHops = std::size_t{1} << 22;
constexpr std::size_t kMaxLanes = std::size_t{1} << 16;

Hop::Kind end_kind(const Topology& topology, NodeId node) {
    if (topology.is_npu(node)) return Hop::Stored;
    const SwitchRule& rule = topology.rule(node);
    if (!only_forwards(rule)) return Hop::Special;
    return rule.copy ? Hop::Stored : Hop::Counted;
}

}  // namespace

Tables::Tables(const Instance& instance) : links_(instance.topology().links().size()) {
    list_chunks(instance);
    if (of_size_.size() * links_ <= kMaxHops) list_hops(instance);
    alike_ = reductions() == 0 && of_size_.size() == 1;
}

void Tables::list_chunks(const Instance& instance) {
    std::map<Bytes, std::uint32_t> classes;
    std::uint32_t reductions = 0;
    chunks_.resize(instance.chunks());
    for (std::size_t c = 0; c < chunks_.size(); ++c) {
        const Demand demand = instance.demand(ChunkId(c));
        const auto [size, is_new] =
            classes.try_emplace(demand.bytes, static_cast<std::uint32_t>(classes.size()));
        if (is_new) of_size_.emplace_back(c);
        const auto slot = demand.reduction ? reductions++ : static_cast<std::uint32_t>(plain_chunks_++);
        chunks_[c] = {slot, size->second, demand.collective, demand.reduction};
    }
}

void Tables::list_hops(const Instance& instance) {
    const Topology& topology = instance.topology();
    std::map<Ticks, std::uint32_t> lanes;
    hops_.reserve(of_size_.size() * links_);
    for (const ChunkId chunk : of_size_) {
        for (std::size_t l = 0; l < links_; ++l) {
            const Link& link = topology.link(LinkId(l));
            const Ticks beta = instance.beta(LinkId(l), chunk);
            const Ticks transit = link.wire.alpha + beta;
            const auto [lane, is_new] = lanes.try_emplace(transit, static_cast<std::uint32_t>(lanes.size()));
            if (is_new) lanes_.push_back(transit);
            const Hop::Kind kind = std::max(end_kind(topology, link.src), end_kind(topology, link.dst));
            hops_.push_back({link.src, link.dst, lane->second, kind, instance.busy(LinkId(l), beta)});
        }
    }
    if (lanes_.size() > kMaxLanes) hops_.clear();
}

}  // namespace tutti::verify
