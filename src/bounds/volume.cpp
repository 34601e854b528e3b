// All demands together need some number of transfers over any links at all, and all links together manage
// only so many by T. How many a chunk needs: docs/bounds.md. In short, a receiver that is served first is as
// far away as the links say, and every other one needs an arrival of its own, with a send more for every
// switch on the way that cannot copy; a reduction needs as many as one-way gossip, 2(n-1) for an all-reduce
// over n NPUs.

#include "bounds/families.hpp"
#include "bounds/link_window.hpp"

#include <algorithm>

namespace tutti::bounds {
namespace {

constexpr std::size_t kMostVolumeWork = 100'000'000;

/// Fewest links from a node of the set to every NPU (at least one link), or from every NPU to the set, with
/// only nodes outside the set in between.
std::vector<std::uint64_t> runs(const Topology& topology, const std::vector<bool>& in_set,
                                Direction direction) {
    constexpr std::uint64_t kNone = UINT64_MAX;
    std::vector<std::uint64_t> count(topology.nodes(), kNone);
    std::vector<NodeId> queue;
    for (std::size_t n = 0; n < topology.nodes(); ++n) {
        if (in_set[n]) queue.emplace_back(n);
    }
    for (std::size_t next = 0; next < queue.size(); ++next) {
        const NodeId node = queue[next];
        const std::uint64_t so_far = in_set[node.index()] ? 0 : count[node.index()];
        for (const LinkId id :
             direction == Direction::Forwards ? topology.out_links(node) : topology.in_links(node)) {
            const NodeId to =
                direction == Direction::Forwards ? topology.link(id).dst : topology.link(id).src;
            if (count[to.index()] != kNone) continue;
            count[to.index()] = so_far + 1;
            if (!in_set[to.index()]) queue.push_back(to);
        }
    }
    for (std::uint64_t& links : count) links = links == kNone ? 1 : links;
    return count;
}

/// Equal windows side by side become one of their weight together: most links of a large network are alike.
std::vector<LinkWindow> merged(const std::vector<LinkWindow>& windows) {
    std::vector<LinkWindow> fewer;
    for (const LinkWindow& window : windows) {
        const bool alike = !fewer.empty() && fewer.back().first == window.first &&
                           fewer.back().last == window.last && fewer.back().busy == window.busy;
        if (alike) {
            fewer.back().weight += window.weight;
        } else {
            fewer.push_back(window);
        }
    }
    return fewer;
}

class Volume {
  public:
    Volume(Traffic& traffic, const Stop& stop) : traffic_(traffic), effort_(kMostVolumeWork, stop) {
        const Topology& topology = traffic.topology();
        std::vector<bool> copiers(topology.nodes(), true), npus(topology.nodes(), true);
        bool all_plain = true;
        for (std::size_t n = topology.npus(); n < topology.nodes(); ++n) {
            const SwitchRule& rule = topology.rule(NodeId(n));
            copiers[n] = rule.copy;
            npus[n] = false;
            all_plain = all_plain && !rule.copy && !rule.reduce;
        }
        run_ = runs(topology, copiers, Direction::Forwards);
        sum_run_ = lead_ = std::vector<std::uint64_t>(topology.nodes(), 1);
        if (all_plain) {
            sum_run_ = run_;
            lead_ = runs(topology, npus, Direction::Backwards);
        }
    }

    Bound run() {
        std::uint64_t transfers = 0;
        for (const ChunkClass& c : traffic_.classes()) {
            const Demand demand = traffic_.demand(c);
            // Counting only a part of the chunks is safe too, but not what a checker would count.
            const bool far = !demand.reduction && !reaches_all_without_switches(c, demand);
            const bool again =
                last_ != nullptr && traffic_.demand(*last_).holders.data() == demand.holders.data();
            const std::size_t work = (demand.reduction || far ? demand.receivers.size() : 1) +
                                     (far && !again ? traffic_.topology().links().size() : 0);
            if (!effort_.spend(work)) return {"volume", Ticks(0), {}, 0};
            transfers += c.count * (demand.reduction ? need_of_reduction(demand) : need_of_plain(c, demand));
        }
        if (transfers == 0) return {"volume", Ticks(0), {}, 0};
        const auto end = least_end(merged(rooms_of_all_links(traffic_)), Wide{transfers});
        return {"volume", end.value_or(Ticks(0)), VolumeCertificate{transfers, traffic_.smallest().bytes}, 0};
    }

  private:
    std::uint64_t need_of_plain(const ChunkClass& c, const Demand& demand) {
        if (reaches_all_without_switches(c, demand)) return all_runs_but(demand.holders);
        const bool again = last_ != nullptr && last_->passage == c.passage &&
                           traffic_.demand(*last_).holders.data() == demand.holders.data();
        if (!again) links_ = link_counts(traffic_.passage(c), demand.holders);
        last_ = &c;
        std::uint64_t nearest = UINT64_MAX, farthest = 0, all_runs = 0, longest_run = 0;
        for (const NodeId receiver : demand.receivers) {
            const std::uint64_t links = links_[receiver.index()];
            if (links == 0) continue;
            nearest = std::min(nearest, links);
            farthest = std::max(farthest, links);
            all_runs += run_[receiver.index()];
            longest_run = std::max(longest_run, run_[receiver.index()]);
        }
        return farthest == 0 ? 0 : std::max(farthest, nearest + all_runs - longest_run);
    }

    /// Whether every NPU wants the chunk and there are NPUs only: then a neighbour of a holder is served
    /// first, over one link, and no way is longer than there are receivers.
    [[nodiscard]] bool reaches_all_without_switches(const ChunkClass& c, const Demand& demand) const {
        return traffic_.topology().switches() == 0 && !traffic_.passage(c).collective &&
               demand.receivers.size() == traffic_.topology().npus();
    }
    /// Without switches all runs are 1.
    [[nodiscard]] std::uint64_t all_runs_but(std::span<const NodeId> holders) const {
        return traffic_.topology().npus() - holders.size();
    }

    std::uint64_t need_of_reduction(const Demand& demand) {
        if (demand.holders.size() == 1 && std::ranges::equal(demand.holders, demand.receivers)) return 0;
        if (demand.holders.data() != summed_) {
            summed_ = demand.holders.data();
            leads_ = 0;
            for (const NodeId holder : demand.holders) leads_ += lead_[holder.index()];
        }
        std::uint64_t all = leads_;
        for (const NodeId receiver : demand.receivers) all += sum_run_[receiver.index()];
        std::uint64_t most_saved = 0;
        for (const NodeId first : demand.receivers) {
            const bool holds = std::ranges::binary_search(demand.holders, first);
            most_saved = std::max(most_saved, sum_run_[first.index()] + (holds ? lead_[first.index()] : 0));
        }
        return all - most_saved;
    }

    Traffic& traffic_;
    Effort effort_;
    std::vector<std::uint64_t> run_, sum_run_, lead_;  ///< per node
    const NodeId* summed_ = nullptr;                   ///< the holders of whom leads_ is the sum
    std::uint64_t leads_ = 0;
    const ChunkClass* last_ = nullptr;  ///< whose holders' links_ are
    std::vector<std::uint32_t> links_;
};

}  // namespace

std::vector<LinkWindow> rooms_of_all_links(const Traffic& traffic) {
    const Topology& topology = traffic.topology();
    const Passage& passage = traffic.smallest();
    std::vector<bool> holds(topology.nodes(), false), receives(topology.nodes(), false);
    const NodeId *last_holders = nullptr, *last_receivers = nullptr;
    for (const ChunkClass& c : traffic.classes()) {
        const Demand demand = traffic.demand(c);
        if (demand.holders.data() != last_holders) {
            for (const NodeId node : demand.holders) holds[node.index()] = true;
        }
        if (demand.receivers.data() != last_receivers) {
            for (const NodeId node : demand.receivers) receives[node.index()] = true;
        }
        last_holders = demand.holders.data();
        last_receivers = demand.receivers.data();
    }
    std::vector<NodeId> holders, receivers;
    for (std::size_t n = 0; n < topology.nodes(); ++n) {
        if (holds[n]) holders.emplace_back(n);
        if (receives[n]) receivers.emplace_back(n);
    }
    const auto from = distances(passage, holders, Direction::Forwards);
    const auto to = distances(passage, receivers, Direction::Backwards);
    std::vector<LinkWindow> windows;
    for (std::size_t l = 0; l < topology.links().size(); ++l) {
        const Link& link = topology.link(LinkId(l));
        const Ticks rest = std::max(passage.transit[l], sum(passage.step[l], to[link.dst.index()]));
        windows.push_back({sum(traffic.first_release(), from[link.src.index()]), rest, passage.busy[l]});
    }
    return windows;
}

Bound volume(Traffic& traffic, const Stop& stop) { return Volume(traffic, stop).run(); }

}  // namespace tutti::bounds
