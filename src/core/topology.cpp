#include "core/topology.hpp"

#include <fmt/format.h>

namespace tutti {
namespace {

void check_link(const TopologyParts& parts, std::size_t index, Units units) {
    const Link& link = parts.links[index];
    const bool known = link.src.index() < parts.nodes() && link.dst.index() < parts.nodes();
    const bool timed = link.wire.alpha >= Ticks(0) && link.wire.alpha <= kMaxLinkTicks &&
                       (link.wire.units() == Units::Physical ||
                        (link.wire.beta >= Ticks(1) && link.wire.beta <= kMaxLinkTicks));
    if (known && timed && link.src != link.dst && link.wire.units() == units) return;
    const std::string place = fmt::format("/links/{}", index);
    for (const auto& [node, field] : {std::pair{link.src, "src"}, {link.dst, "dst"}}) {
        if (node.index() >= parts.nodes()) {
            throw InputError(fmt::format("expected a node from 0 to {} ({} NPUs and {} switches), found {}",
                                         parts.nodes() - 1, parts.npus, parts.switches.size(), node.value()),
                             place + "/" + field);
        }
    }
    if (link.src == link.dst) throw InputError("a link must join two different nodes", place);
    const Wire& wire = link.wire;
    if (wire.alpha < Ticks(0) || wire.alpha > kMaxLinkTicks) {
        throw InputError("expected an alpha from 0 to 2^53 ticks", place);
    }
    if (wire.units() == Units::Abstract && (wire.beta < Ticks(1) || wire.beta > kMaxLinkTicks)) {
        throw InputError("expected a beta from 1 to 2^53 ticks", place);
    }
    throw InputError(
        "this link gives physical units and the first link abstract ones, or the reverse; use one kind",
        place);
}

/// Counting sort of link ids by one end: rows of a compressed sparse adjacency.
void build_rows(const std::vector<Link>& links, std::size_t nodes, NodeId Link::*end,
                std::vector<LinkId>& ids, std::vector<std::uint32_t>& begin) {
    begin.assign(nodes + 1, 0);
    for (const Link& link : links) ++begin[(link.*end).index() + 1];
    for (std::size_t i = 0; i < nodes; ++i) begin[i + 1] += begin[i];
    ids.resize(links.size());
    auto next = begin;
    for (std::size_t i = 0; i < links.size(); ++i) ids[next[(links[i].*end).index()]++] = LinkId(i);
}

}  // namespace

Topology::Topology(TopologyParts parts) : parts_(std::move(parts)) {
    if (parts_.npus == 0) throw InputError("expected at least one NPU", "/npus");
    if (parts_.nodes() > kMaxNodes)
        throw InputError(fmt::format("expected at most {} nodes", kMaxNodes), "/npus");
    if (parts_.links.size() > kMaxLinks)
        throw InputError(fmt::format("expected at most {} links", kMaxLinks), "/links");
    units_ = parts_.units();
    for (std::size_t i = 0; i < parts_.links.size(); ++i) check_link(parts_, i, units_);
    build_rows(parts_.links, nodes(), &Link::src, out_, out_begin_);
    build_rows(parts_.links, nodes(), &Link::dst, in_, in_begin_);
}

Ticks Topology::beta(LinkId id, Bytes bytes) const {
    const Wire& wire = link(id).wire;
    return wire.units() == Units::Abstract ? wire.beta : beta_of(bytes, wire.bandwidth);
}

std::vector<Ticks> Topology::betas(Bytes bytes) const {
    // Networks have few kinds of wires, and the division is slow.
    constexpr std::size_t kMostKept = 8;
    std::vector<std::pair<Decimal, Ticks>> known;
    std::vector<Ticks> betas;
    betas.reserve(links().size());
    for (const Link& link : links()) {
        if (link.wire.units() == Units::Abstract) {
            betas.push_back(link.wire.beta);
            continue;
        }
        std::size_t at = 0;
        while (at < known.size() && known[at].first != link.wire.bandwidth) ++at;
        if (at == known.size()) {
            if (at == kMostKept) known.clear();
            known.emplace_back(link.wire.bandwidth, beta_of(bytes, link.wire.bandwidth));
            at = known.size() - 1;
        }
        betas.push_back(known[at].second);
    }
    return betas;
}

std::string name_of(const Topology& topology, NodeId node) {
    return fmt::format("{} {}", topology.is_npu(node) ? "NPU" : "switch", node.value());
}

std::string name_of(const Topology& topology, LinkId id) {
    const Link& link = topology.link(id);
    return fmt::format("link {} ({} -> {})", id.value(), link.src.value(), link.dst.value());
}

}  // namespace tutti
