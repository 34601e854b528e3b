// The bound `trees` for thousands of NPUs, with lengths for which no path need be searched.
//
// Take a partition of the NPUs, each part with its switches, and give length 1 to the links that enter a part
// from elsewhere (or: that leave one). A message between parts enters the receiver's part, so it costs at
// least the least busy time of such a link; one within a part costs nothing or more. So at every threshold up
// to that cost the components are the parts, and the integral of trees.cpp is that cost times the messages
// that a chunk needs between parts: parts with a receiver but no holder, or of a reduction (parts with
// holders
// - 1) + (parts with receivers - 1). With single NPUs as parts these are the ports: an all-reduce of n NPUs
// with one port each takes 2 (n - 1) transfers of a port for each chunk that it owns, which neither `ingress`
// nor `volume` sees.
//
// The certificate is the same as that of `trees`, and its check finds costs at least as large. Measured: 4
// 096 NPUs behind a fat tree, all-reduce: 8 197 in 0.1 s, where `ingress` proves 4 103.

#include "bounds/border_trees.hpp"

#include "bounds/busy_windows.hpp"
#include "bounds/parts.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace tutti::bounds {
namespace {

constexpr std::size_t kMostCounting = 200'000'000;  ///< holders and receivers looked at

class BorderTrees {
  public:
    BorderTrees(const Traffic& traffic, const Stop& stop)
        : traffic_(traffic),
          topology_(traffic.topology()),
          classes_(countable_chunks(traffic)),
          windows_(traffic),
          effort_(kMostCounting, stop) {}

    Bound run(const Stop& stop) {
        Partition single;
        single.part.resize(topology_.npus());
        std::iota(single.part.begin(), single.part.end(), 0U);
        single.parts = topology_.npus();
        look_at(single);
        for (const Partition& partition : natural_partitions(traffic_, stop)) look_at(partition);
        return best_;
    }

  private:
    void look_at(const Partition& partition) {
        const std::vector<std::uint32_t> part = parts_of_nodes(topology_, partition);
        std::vector<std::int64_t> into, out_of;
        for (const Link& link : topology_.links()) {
            const std::uint32_t from = part[link.src.index()], to = part[link.dst.index()];
            into.push_back(from != to && to < partition.parts ? 1 : 0);
            out_of.push_back(from != to && from < partition.parts ? 1 : 0);
        }
        std::map<std::size_t, std::uint64_t> messages;  // by passage
        seen_.assign(partition.parts, {});
        for (const ChunkClass* c : classes_) {
            const auto own = messages_of(*c, partition);
            if (!own) return;
            messages[c->passage] += *own;
            passages_[c->passage] = &traffic_.passage(*c);
        }
        for (const auto& length : {into, out_of}) {
            Wide cost = 0;
            for (const auto& [passage, count] : messages)
                cost += Wide{count} * least_busy(*passages_[passage], length);
            improve(length, cost);
        }
    }

    /// Between parts, of all chunks of the class. None: there is no more time to count.
    std::optional<std::uint64_t> messages_of(const ChunkClass& c, const Partition& partition) {
        const Demand demand = traffic_.demand(c);
        if (!effort_.spend(demand.holders.size() + demand.receivers.size())) return std::nullopt;
        ++stamp_;
        std::uint64_t holding = 0, receiving = 0, lacking = 0;
        for (const NodeId node : demand.holders) {
            std::uint64_t& held = seen_[partition.part[node.index()]].held;
            if (std::exchange(held, stamp_) != stamp_) ++holding;
        }
        for (const NodeId node : demand.receivers) {
            Seen& seen = seen_[partition.part[node.index()]];
            if (std::exchange(seen.wanted, stamp_) == stamp_) continue;
            ++receiving;
            if (seen.held != stamp_) ++lacking;
        }
        return c.count * (demand.reduction ? holding + receiving - 2 : lacking);
    }

    /// Of the links with a length.
    static std::int64_t least_busy(const Passage& passage, const std::vector<std::int64_t>& length) {
        Ticks least = kNever;
        for (std::size_t l = 0; l < length.size(); ++l) {
            if (length[l] > 0) least = std::min(least, passage.busy[l]);
        }
        return least == kNever ? 0 : least.count();
    }

    void improve(const std::vector<std::int64_t>& length, Wide cost) {
        if (cost == 0) return;
        const auto end = windows_.least_end(length, cost);
        if (end && *end > best_.value) best_ = {"trees", *end, TreesCertificate{length}, 0};
    }

    struct Seen {
        std::uint64_t held = 0, wanted = 0;
    };
    const Traffic& traffic_;
    const Topology& topology_;
    const std::vector<const ChunkClass*> classes_;
    const BusyWindows windows_;
    Effort effort_;
    std::map<std::size_t, const Passage*> passages_;
    std::vector<Seen> seen_;  ///< per part: the class that was seen there last
    std::uint64_t stamp_ = 0;
    Bound best_{"trees", Ticks(0), {}, 0};
};

}  // namespace

std::vector<const ChunkClass*> countable_chunks(const Traffic& traffic) {
    bool copies = false, adds = false;
    for (const SwitchRule& rule : traffic.topology().parts().switches) {
        copies = copies || rule.copy;
        adds = adds || rule.reduce;
    }
    std::vector<const ChunkClass*> classes;
    for (const ChunkClass& c : traffic.classes()) {
        const Demand demand = traffic.demand(c);
        const bool is_chain = demand.holders.size() == 1 && demand.receivers.size() == 1;
        if (is_chain || (!copies && !(demand.reduction && adds))) classes.push_back(&c);
    }
    return classes;
}

Bound border_trees(const Traffic& traffic, const Stop& stop) {
    if (traffic.classes().empty() || traffic.topology().links().empty()) return {"trees", Ticks(0), {}, 0};
    return BorderTrees(traffic, stop).run(stop);
}

}  // namespace tutti::bounds
