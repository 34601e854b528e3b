// Plans of waves: sums and copies by switches.
//
// What switches can do decides. Where one reduces and copies, a chunk is one wave from all to all. Where a
// part only can reduce, the others send to the chunk's root in one wave; where it can only copy, the root
// sends to the others in one wave; and what no wave can do, messages from NPU to NPU do, which are waves with
// one source and one target. On networks of several levels the same is done inside each part, to the members
// at the root's place, between these, and inside each part back (rails: the node's switch adds, the rail's
// switch adds and copies, the node's switch copies).
//
// Measured: h100x1-ct-copyred-c4 34.98 -> 19.87 us, the bound.

#include "heuristics/exchange/exchanges.hpp"
#include "heuristics/exchange/waves.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>

namespace tutti::heuristics {
namespace {

constexpr std::size_t kMostWaveSends = std::size_t{1} << 20;

using NodeList = std::vector<NodeId>;

NodeList without(std::span<const NodeId> nodes, NodeId out) {
    NodeList rest;
    std::ranges::copy_if(nodes, std::back_inserter(rest), [&](NodeId node) { return node != out; });
    return rest;
}

/// The waves of all chunks, in the order of their dependencies.
class WavePlan {
  public:
    explicit WavePlan(const Instance& instance) : instance_(instance) {}

    /// One level: all members at once. False: there are no paths, or too many sends.
    bool add_flat(ChunkId chunk, NodeId root) {
        const Demand demand = instance_.demand(chunk);
        if (!demand.reduction) {
            if (std::ranges::find(demand.holders, root) == demand.holders.end())
                root = demand.holders.front();
            NodeList targets;
            std::ranges::set_difference(demand.receivers, demand.holders, std::back_inserter(targets));
            return spread(chunk, root, targets);
        }
        if (std::ranges::equal(demand.holders, demand.receivers))
            return exchange(chunk, {demand.holders.begin(), demand.holders.end()}, root);
        if (std::ranges::find(demand.receivers, root) == demand.receivers.end())
            root = demand.receivers.front();
        return gather(chunk, without(demand.holders, root), root) &&
               spread(chunk, root, without(demand.receivers, root));
    }

    /// Two levels. Precondition: the chunk's holders are its receivers, and the parts consist of them.
    bool add_levels(ChunkId chunk, const Parts& parts, NodeId root) {
        std::size_t place = 0;
        for (const auto& part : parts) {
            const auto found = std::ranges::find(part, root);
            if (found != part.end()) place = static_cast<std::size_t>(found - part.begin());
        }
        NodeList leaders;
        for (const auto& part : parts) {
            leaders.push_back(part[place % part.size()]);
            if (!gather(chunk, without(part, leaders.back()), leaders.back())) return false;
        }
        if (!exchange(chunk, leaders, root)) return false;
        for (std::size_t p = 0; p < parts.size(); ++p) {
            if (!spread(chunk, leaders[p], without(parts[p], leaders[p]))) return false;
        }
        return true;
    }

    [[nodiscard]] const std::vector<ChunkWave>& waves() const { return waves_; }

  private:
    bool exchange(ChunkId chunk, const NodeList& members, NodeId root) {
        if (members.size() < 2) return true;
        if (const Wave* wave = find(chunk, members, members)) return enter(chunk, wave, Op::Copy);
        return gather(chunk, without(members, root), root) && spread(chunk, root, without(members, root));
    }
    bool gather(ChunkId chunk, const NodeList& sources, NodeId root) {
        if (sources.empty()) return true;
        if (const Wave* wave = find(chunk, sources, {root})) return enter(chunk, wave, Op::Reduce);
        return std::ranges::all_of(
            sources, [&](NodeId source) { return enter(chunk, find(chunk, {source}, {root}), Op::Reduce); });
    }
    bool spread(ChunkId chunk, NodeId root, const NodeList& targets) {
        if (targets.empty()) return true;
        if (const Wave* wave = find(chunk, {root}, targets)) return enter(chunk, wave, Op::Copy);
        return std::ranges::all_of(
            targets, [&](NodeId target) { return enter(chunk, find(chunk, {root}, {target}), Op::Copy); });
    }
    bool enter(ChunkId chunk, const Wave* wave, Op op) {
        if (wave == nullptr || sends_ + wave->paths.front().sends.size() > kMostWaveSends) return false;
        sends_ += wave->paths.front().sends.size();
        waves_.push_back({chunk, wave, op});
        return true;
    }
    /// Chunks of one collective and size have the same waves.
    const Wave* find(ChunkId chunk, const NodeList& sources, const NodeList& targets) {
        const std::uint32_t kind = instance_.demands().size_class(chunk);
        const std::uint32_t collective = instance_.demands().collective(chunk).value();
        const auto [place, is_new] = known_.try_emplace({kind, collective, sources, targets}, nullptr);
        if (is_new) {
            if (auto wave = WaveFinder(instance_, chunk).find(sources, targets)) {
                store_.push_back(std::move(*wave));
                place->second = &store_.back();
            }
        }
        return place->second;
    }

    const Instance& instance_;
    std::deque<Wave> store_;
    std::map<std::tuple<std::uint32_t, std::uint32_t, NodeList, NodeList>, const Wave*> known_;
    std::vector<ChunkWave> waves_;
    std::size_t sends_ = 0;
};

}  // namespace

std::optional<Schedule> switch_sums(const Exchanges& exchanges, Ticks target, const ExchangeTurn& turn) {
    std::optional<Schedule> best;
    const auto stop = [&]() -> const Stop& { return best ? turn.all : turn.first; };
    std::size_t levels = 0;
    for (const Exchanges::Set& set : exchanges.sets()) levels = std::max(levels, set.levels.size());
    for (std::size_t level = 0; level <= levels && !stop().requested(); ++level) {
        WavePlan plan(exchanges.instance());
        bool fits = true;
        for (const Exchanges::Set& set : exchanges.sets()) {
            const bool flat = level == 0 || set.levels.empty();
            for (std::size_t i = 0; fits && i < set.chunks.size(); ++i) {
                const ChunkId chunk = set.chunks[i];
                const Demand demand = exchanges.instance().demand(chunk);
                const bool both = demand.reduction && std::ranges::equal(demand.holders, demand.receivers);
                fits = flat || !both ? plan.add_flat(chunk, set.roots[i])
                                     : plan.add_levels(chunk, set.levels[(level - 1) % set.levels.size()],
                                                       set.roots[i]);
                if (stop().requested()) return best;
            }
        }
        if (!fits) continue;
        for (const bool in_turn : {false, true}) {
            auto found = schedule_waves(exchanges.instance(), plan.waves(), in_turn, stop());
            if (found && (!best || found->makespan < best->makespan)) best = std::move(found);
        }
        if (best && best->makespan <= target) break;
    }
    return best;
}

std::string why_no_switch_sums(const Instance& instance) {
    const Topology& topology = instance.topology();
    for (std::size_t n = topology.npus(); n < topology.nodes(); ++n) {
        const SwitchRule& rule = topology.rule(NodeId(n));
        if (rule.copy || rule.reduce) return Exchanges::why_not(instance);
    }
    return "no switch copies or reduces";
}

}  // namespace tutti::heuristics
