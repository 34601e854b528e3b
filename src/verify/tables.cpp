#include "verify/tables.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace tutti::verify {
namespace {

constexpr std::size_t kMaxHops = std::size_t{1} << 22;
constexpr std::size_t kMaxLanes = std::size_t{1} << 16;

Hop::Kind end_kind(const Topology& topology, const std::vector<bool>& passing, NodeId node) {
    if (topology.is_npu(node)) return Hop::Stored;
    if (passing[node.index()]) return Hop::Passing;
    const SwitchRule& rule = topology.rule(node);
    if (!only_forwards(rule)) return Hop::Special;
    return rule.copy ? Hop::Stored : Hop::Counted;
}

/// Cut-through switches that are joined by links, by their lowest one; other nodes alone.
std::vector<std::uint32_t> cut_through_parts(const Topology& topology) {
    std::vector<std::uint32_t> up(topology.nodes());
    std::iota(up.begin(), up.end(), 0U);
    const auto root = [&](std::uint32_t i) {
        while (up[i] != i) i = up[i] = up[up[i]];
        return i;
    };
    for (const Link& link : topology.links()) {
        if (!topology.is_cut_through(link.src) || !topology.is_cut_through(link.dst)) continue;
        const std::uint32_t a = root(link.src.value()), b = root(link.dst.value());
        up[std::max(a, b)] = std::min(a, b);
    }
    for (std::uint32_t n = 0; n < up.size(); ++n) up[n] = root(n);
    return up;
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

/// The switches where chunks pass without state beyond the next tick at which they are due: they cut through,
/// neither copy nor reduce, and all links around them and around those that they are joined to have one beta.
std::vector<bool> Tables::passing_switches(const Instance& instance) const {
    const Topology& topology = instance.topology();
    const std::vector<std::uint32_t> part = cut_through_parts(topology);
    std::vector<bool> fits(topology.nodes(), true);
    for (std::size_t n = topology.npus(); n < topology.nodes(); ++n) {
        const SwitchRule& rule = topology.rule(NodeId(n));
        if (!rule.cut_through || rule.copy || rule.reduce) fits[part[n]] = false;
    }
    std::vector<Ticks> beta(topology.nodes());
    for (const ChunkId chunk : of_size_) {
        std::ranges::fill(beta, Ticks(-1));
        for (std::size_t l = 0; l < links_; ++l) {
            const Link& link = topology.link(LinkId(l));
            for (const NodeId end : {link.src, link.dst}) {
                if (!topology.is_cut_through(end)) continue;
                const std::uint32_t own = part[end.index()];
                const Ticks here = instance.beta(LinkId(l), chunk);
                if (beta[own] != Ticks(-1) && beta[own] != here) fits[own] = false;
                beta[own] = here;
            }
        }
    }
    std::vector<bool> passing(topology.nodes(), false);
    for (std::size_t n = topology.npus(); n < topology.nodes(); ++n)
        passing[n] = topology.is_cut_through(NodeId(n)) && fits[part[n]];
    return passing;
}

void Tables::list_hops(const Instance& instance) {
    const Topology& topology = instance.topology();
    const std::vector<bool> passing = passing_switches(instance);
    std::vector<bool> entered_at_once(topology.nodes(), false);
    for (const Link& link : topology.links()) {
        if (link.wire.alpha == Ticks(0)) entered_at_once[link.dst.index()] = true;
    }
    std::map<Ticks, std::uint32_t> lanes;
    hops_.reserve(of_size_.size() * links_);
    for (const ChunkId chunk : of_size_) {
        for (std::size_t l = 0; l < links_; ++l) {
            const Link& link = topology.link(LinkId(l));
            const Ticks beta = instance.beta(LinkId(l), chunk);
            const Ticks transit = link.wire.alpha + beta;
            const auto [lane, is_new] = lanes.try_emplace(transit, static_cast<std::uint32_t>(lanes.size()));
            if (is_new) lanes_.push_back(transit);
            const Hop::Kind kind =
                std::max(end_kind(topology, passing, link.src), end_kind(topology, passing, link.dst));
            const bool may_wait = kind == Hop::Passing && topology.is_cut_through(link.src) &&
                                  entered_at_once[link.src.index()];
            passes_at_once_ = passes_at_once_ || may_wait;
            hops_.push_back({link.src, link.dst, lane->second, kind, topology.is_cut_through(link.src),
                             topology.is_cut_through(link.dst), may_wait, instance.busy(LinkId(l), beta)});
        }
    }
    if (lanes_.size() > kMaxLanes) hops_.clear();
}

}  // namespace tutti::verify
