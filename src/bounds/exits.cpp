// Sums over slow links between parts: boards on a ring, sites on long lines. Every chunk must leave every
// part at least once. Where the slow links have room for few sends, many chunks leave many parts only once,
// and a chunk that leaves a part S only once leaves it with the whole sum of S. So before it goes, all g
// holders in S but one have sent inside S; j such chunks have made j (g - 1) sends there, which the links
// inside take a while for. And what S sends out then can reach every other receiver only around S, because
// going through S it would leave S again.
//
//     gather(S, j) = the least time by which the links inside S can have ended j (g - 1) sends
//     rest(S)      = min over links e out of S of time(e) + the way from its end to the farthest receiver
//                    outside S, around S
//
// By T at most q(S, T) chunks can leave S once, the largest j with gather(S, j) + rest(S) <= T, all others
// leave it twice or more: K * p chunks and parts need 2 K p - sum of q sends over the borders.
//
// `pairs` sees one border and the way to the next part; here the way is through all parts, and the chunks
// wait for each other inside. It proves ring4-of-full4-ar (four boards of four on a ring): 152.3 -> 162.8 us,
// the optimum. Networks without switches only: through switches sends are no messages.
//
// Complexity: a search for each end of a link between parts, O(log T) sums over links.

#include "bounds/families.hpp"
#include "bounds/parts.hpp"
#include "bounds/shortest_paths.hpp"
#include "core/least_tick.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace tutti::bounds {
namespace {

constexpr std::size_t kMostExitWork = 20'000'000;  ///< links relaxed

/// Reductions that want the same.
struct EqualReductions {
    ChunkId first;
    std::int64_t chunks = 0;
    Ticks release;
};

std::vector<EqualReductions> equal_reductions(const Traffic& traffic) {
    std::map<std::tuple<std::vector<NodeId>, std::vector<NodeId>, Bytes>, EqualReductions> all;
    for (const ChunkClass& c : traffic.classes()) {
        const Demand demand = traffic.demand(c);
        if (!demand.reduction) continue;
        const std::tuple key{std::vector<NodeId>(demand.holders.begin(), demand.holders.end()),
                             std::vector<NodeId>(demand.receivers.begin(), demand.receivers.end()),
                             demand.bytes};
        EqualReductions& same =
            all.try_emplace(key, EqualReductions{c.chunk, 0, traffic.release(c)}).first->second;
        same.chunks += static_cast<std::int64_t>(c.count);
        same.release = std::min(same.release, traffic.release(c));
    }
    std::vector<EqualReductions> list;
    for (const auto& [key, same] : all) list.push_back(same);
    return list;
}

/// A part that chunks must leave.
struct Exited {
    std::int64_t holders = 0;
    std::vector<LinkId> inside, out;
    Ticks rest = kNever;
};

class Exits {
  public:
    Exits(const Traffic& traffic, const Partition& partition, const EqualReductions& sums)
        : instance_(traffic.instance()),
          topology_(traffic.topology()),
          partition_(partition),
          sums_(sums),
          demand_(instance_.demand(sums.first)) {}

    /// None: too much work.
    std::optional<Ticks> value(Effort& effort) {
        std::vector<Exited> parts(partition_.parts);
        std::vector<bool> wanted_outside(partition_.parts, false);
        for (const NodeId holder : demand_.holders) ++parts[part(holder)].holders;
        for (std::uint32_t p = 0; p < partition_.parts; ++p) {
            wanted_outside[p] =
                std::ranges::any_of(demand_.receivers, [&](NodeId node) { return part(node) != p; });
        }
        for (std::size_t e = 0; e < topology_.links().size(); ++e) {
            const Link& link = topology_.link(LinkId(e));
            Exited& from = parts[part(link.src)];
            (part(link.src) == part(link.dst) ? from.inside : from.out).push_back(LinkId(e));
        }
        for (std::uint32_t p = 0; p < partition_.parts; ++p) {
            if (parts[p].holders == 0 || !wanted_outside[p]) continue;
            if (!set_rest(parts[p], p, effort)) return std::nullopt;
            exited_.push_back(std::move(parts[p]));
        }
        if (exited_.size() < 2) return Ticks(0);
        const auto least = least_tick([&](Ticks time) { return has_room(time); });
        return least ? sums_.release + *least : Ticks(0);
    }

  private:
    [[nodiscard]] std::uint32_t part(NodeId node) const { return partition_.part[node.index()]; }
    [[nodiscard]] Ticks beta(LinkId link) const { return topology_.beta(link, demand_.bytes); }
    [[nodiscard]] Ticks time(LinkId link) const { return instance_.alpha(link) + beta(link); }

    bool set_rest(Exited& exited, std::uint32_t p, Effort& effort) const {
        std::set<NodeId> ends;
        for (const LinkId link : exited.out) ends.insert(topology_.link(link).dst);
        if (!effort.spend(ends.size() * topology_.links().size())) return false;
        std::map<NodeId, Ticks> farthest;
        for (const NodeId end : ends) {
            const auto around = shortest_paths<Ticks>(
                topology_, std::vector{end}, Direction::Forwards, kNever,
                [&](LinkId link, NodeId next) { return part(next) == p ? kNever : time(link); });
            Ticks most;
            for (const NodeId receiver : demand_.receivers) {
                if (part(receiver) != p) most = std::max(most, around[receiver.index()]);
            }
            farthest[end] = most;
        }
        for (const LinkId link : exited.out) {
            const Ticks way = farthest[topology_.link(link).dst];
            if (way < kNever) exited.rest = std::min(exited.rest, time(link) + way);
        }
        return true;
    }

    /// How many sends the links can have started and ended within the time.
    [[nodiscard]] Wide room(const std::vector<LinkId>& links, Ticks within) const {
        Wide sends = 0;
        for (const LinkId link : links) {
            if (within < time(link)) continue;
            const std::int64_t gap = instance_.busy(link, beta(link)).count();
            sends += gap == 0 ? Wide{1} << 62 : Wide{(within - time(link)).count() / gap + 1};
        }
        return sends;
    }

    [[nodiscard]] bool has_room(Ticks within) const {
        const auto parts = static_cast<std::int64_t>(exited_.size());
        Wide sends = Wide{-2} * sums_.chunks * parts;
        for (const Exited& exited : exited_) {
            sends += room(exited.out, within);
            if (exited.rest > within) continue;
            const std::int64_t before = exited.holders - 1;
            const Wide once =
                before == 0 ? Wide{sums_.chunks} : room(exited.inside, within - exited.rest) / before;
            sends += std::min(Wide{sums_.chunks}, once);
        }
        return sends >= 0;
    }

    const Instance& instance_;
    const Topology& topology_;
    const Partition& partition_;
    const EqualReductions& sums_;
    const Demand demand_;
    std::vector<Exited> exited_;
};

}  // namespace

std::optional<Bound> exits(const Traffic& traffic, const Stop& stop) {
    Bound best{"exits", Ticks(0), {}, 0};
    if (traffic.topology().nodes() > traffic.topology().npus()) return best;
    const auto sums = equal_reductions(traffic);
    if (sums.empty()) return best;
    Effort effort(kMostExitWork, stop);
    for (const Partition& partition : natural_partitions(traffic, stop)) {
        for (const EqualReductions& equal : sums) {
            const auto value = Exits(traffic, partition, equal).value(effort);
            if (!value) return best.value > Ticks(0) ? std::optional(best) : std::nullopt;
            if (*value <= best.value) continue;
            best.value = *value;
            best.certificate = ExitsCertificate{partition.part, equal.first};
        }
    }
    return best;
}

}  // namespace tutti::bounds
