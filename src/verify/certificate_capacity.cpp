// Volume and lengths: what all chunks together need, against what all links together can carry by the bound.
//
// Volume counts transfers. A plain chunk: a chain of transfers leads into each receiver that does not hold
// it, from the nearest node that can copy (an NPU, a copying switch). No two chains share a transfer, because
// no node inside a chain copies. The first receiver is reached from a holder, on a path that shares no
// transfer with the other chains either. A reduction: let v be the first receiver that has the whole sum.
// From each holder but v a chain leads to the nearest node that can add. After that, each receiver but v gets
// the arrival that completes it, at the end of a chain as above. None of these transfers is among the first
// ones, which all led to v before that.
//
// Lengths weight transfers: a chunk pays the length of each link it uses, so at least the shortest length to
// its farthest receiver, and link e is paid at most length[e] for each transfer that it can carry.

#include "core/expects.hpp"
#include "verify/certificate_checks.hpp"
#include "verify/certificate_paths.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::verify {
namespace {

constexpr auto kOne = [](LinkId) { return Wide{1}; };

/// Per node the least number of links of its chain: into the node from the last node that copies, or out of
/// it to the next that adds.
std::vector<Wide> chains(const Instance& instance, CollectiveId collective, Direction direction) {
    const Topology& topology = instance.topology();
    const bool into = direction == Direction::Forwards;
    std::vector<Wide> at(topology.nodes(), kNever);
    for (std::size_t v = 0; v < at.size(); ++v) {
        const NodeId node(v);
        const bool ends =
            topology.is_npu(node) || (into ? topology.rule(node).copy : topology.rule(node).reduce);
        if (ends) at[v] = 0;
    }
    const auto price = shortest_paths(instance, collective, direction, std::move(at), kOne);
    std::vector<Wide> links(topology.nodes(), kNever);
    for (std::size_t e = 0; e < topology.links().size(); ++e) {
        if (!may_use(instance, LinkId(e), collective)) continue;
        const Link& link = topology.link(LinkId(e));
        const NodeId here = into ? link.dst : link.src, there = into ? link.src : link.dst;
        links[here.index()] = std::min(links[here.index()], price[there.index()] + 1);
    }
    return links;
}

/// The least number of transfers for the needs of one collective.
class Volume {
  public:
    Volume(const Instance& instance, CollectiveId collective)
        : instance_(instance),
          collective_(collective),
          into_(chains(instance, collective, Direction::Forwards)),
          out_of_(chains(instance, collective, Direction::Backwards)) {}

    Wide of(const Need& need) {
        const Demand demand = instance_.demand(need.chunk);
        return demand.reduction ? of_reduction(demand) : of_plain(demand);
    }

  private:
    Wide of_plain(const Demand& demand) {
        const auto& hops = hops_from(demand.holders);
        Wide sum = 0, first_adds = kNever, farthest = 0;
        for (const NodeId node : demand.receivers) {
            const Wide links = hops[node.index()];
            if (links == 0) continue;  // a holder
            if (links == kUnreached) return kNever;
            sum += into_[node.index()];
            first_adds = std::min(first_adds, links - into_[node.index()]);
            farthest = std::max(farthest, links);
        }
        return std::max(sum + first_adds, farthest);
    }

    Wide of_reduction(const Demand& demand) const {
        const auto bounded = [](Wide links) { return std::min(links, kNever >> 30); };
        Wide sum = 0, spared = 0;
        for (const NodeId node : demand.holders) sum += bounded(out_of_[node.index()]);
        for (const NodeId node : demand.receivers) {
            const bool both = std::ranges::binary_search(demand.holders, node);
            sum += bounded(into_[node.index()]);
            spared =
                std::max(spared, bounded(into_[node.index()]) + (both ? bounded(out_of_[node.index()]) : 0));
        }
        return sum - spared;
    }

    /// Breadth first: the fewest links to each node.
    const std::vector<std::uint32_t>& hops_from(std::span<const NodeId> holders) {
        if (std::ranges::equal(holders, known_)) return hops_;
        known_.assign(holders.begin(), holders.end());
        const Topology& topology = instance_.topology();
        hops_.assign(topology.nodes(), kUnreached);
        queue_.assign(holders.begin(), holders.end());
        for (const NodeId node : holders) hops_[node.index()] = 0;
        for (std::size_t next = 0; next < queue_.size(); ++next) {
            const NodeId node = queue_[next];
            for (const LinkId link : topology.out_links(node)) {
                const NodeId to = topology.link(link).dst;
                if (hops_[to.index()] != kUnreached || !may_use(instance_, link, collective_)) continue;
                hops_[to.index()] = hops_[node.index()] + 1;
                queue_.push_back(to);
            }
        }
        return hops_;
    }

    static constexpr std::uint32_t kUnreached = UINT32_MAX;

    const Instance& instance_;
    CollectiveId collective_;
    std::vector<Wide> into_, out_of_;
    std::vector<NodeId> known_;  ///< the holders whose hops_ these are
    std::vector<std::uint32_t> hops_;
    std::vector<NodeId> queue_;
};

Bytes smallest(const Instance& instance, const std::vector<Need>& needs) {
    Bytes bytes = instance.demand(needs.front().chunk).bytes;
    for (const Need& need : needs) bytes = std::min(bytes, instance.demand(need.chunk).bytes);
    return bytes;
}

}  // namespace

Objection check_volume(const Instance& instance, const VolumeCertificate& volume, Ticks value) {
    expects(value > Ticks(0));
    auto needs = needs_of(instance);
    std::erase_if(needs, [&](const Need& need) { return instance.demand(need.chunk).bytes < volume.bytes; });
    Wide transfers = 0;
    for (const auto& [kind, members] : by_kind(instance, needs)) {
        Volume least(instance, kind.first);
        for (const std::size_t i : members) {
            const Wide each = least.of(needs[i]);
            if (each >= kNever) return std::nullopt;  // a receiver cannot be reached: every bound holds
            transfers += each * needs[i].count;
        }
    }
    if (transfers < Wide{volume.transfers}) {
        return fmt::format("the demands need only {} transfers, not {}", text_of(transfers),
                           volume.transfers);
    }
    Wide possible = 0;
    for (const LinkUse& use : uses_of_links(instance, trips_of(instance, needs), volume.bytes)) {
        possible += use.transfers_by(value.count() - 1);
    }
    if (possible >= Wide{volume.transfers}) {
        return fmt::format("by tick {} the links manage {} transfers, and {} are needed", value.count() - 1,
                           text_of(possible), volume.transfers);
    }
    return std::nullopt;
}

Objection check_lengths(const Instance& instance, const LengthsCertificate& lengths, Ticks value) {
    expects(value > Ticks(0));
    const std::size_t links = instance.topology().links().size();
    if (lengths.length.size() != links) {
        return fmt::format("expected {} lengths, one per link, found {}", links, lengths.length.size());
    }
    if (std::ranges::any_of(lengths.length, [](std::int64_t length) { return length < 0; })) {
        return "a length is negative";
    }
    const auto needs = needs_of(instance);
    if (needs.empty()) return "no chunk has to move";
    MinimumPrices prices(instance, [&](ChunkId chunk, std::span<const NodeId> starts) {
        std::vector<Wide> at(instance.topology().nodes(), kNever);
        for (const NodeId node : starts) at[node.index()] = 0;
        return shortest_paths(instance, instance.demand(chunk).collective, Direction::Forwards, std::move(at),
                              [&](LinkId link) { return Wide{lengths.length[link.index()]}; });
    });
    Wide needed = 0;
    for (const Need& need : needs) {
        const Wide each = prices.of(need);
        if (each >= kNever) return std::nullopt;  // a receiver cannot be reached: every bound holds
        needed += each * need.count;
    }
    Wide possible = 0;
    const auto uses = uses_of_links(instance, trips_of(instance, needs), smallest(instance, needs));
    for (std::size_t e = 0; e < links && possible < needed; ++e) {  // stops before the sum can overflow
        possible += uses[e].transfers_by(value.count() - 1) * lengths.length[e];
    }
    if (possible >= needed) {
        return fmt::format("by tick {} the links can carry the total length {} that the chunks need",
                           value.count() - 1, text_of(needed));
    }
    return std::nullopt;
}

}  // namespace tutti::verify
