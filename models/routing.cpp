// From demands to commodities.
//
// A plain chunk spreads. A chunk that one NPU has and one wants is a unit of a flow: chunks of one holder
// (or, turned round, of one receiver, whichever makes fewer flows) need not be told apart until the schedule
// is written down. A reduction with one receiver is a spread from the receiver to the contributors with time
// running backwards; that loses nothing: in any valid schedule, let every node send only the last of those
// sends by which its value got into the final sum; each is then sent once, after all that it received, and
// the sums are disjoint because the ways form a tree. A reduction with several receivers is a sum whose
// contributions are tracked.
//
// Contributions with different releases change nothing of that. In the tree of last sends a contributor sends
// once, with its own contribution, so from its release on; backwards that is a time by which the spread must
// have reached it. A sum's contribution is in its holder's value from its release on.

#include "models/routing.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace tutti::models {
namespace {

/// A unit of so many ticks is small enough to be taken apart.
constexpr Units64 kFewTicks = 4;

}  // namespace

Units64 unit_of(const Instance& instance) {
    Units64 unit = 0;
    std::set<Bytes> sizes;
    for (std::size_t c = 0; c < instance.chunks(); ++c) {
        const ChunkId chunk(c);
        if (!sizes.insert(instance.demand(chunk).bytes).second) continue;
        for (std::size_t l = 0; l < instance.topology().links().size(); ++l) {
            unit = std::gcd(unit, instance.beta(LinkId(l), chunk).count());
        }
    }
    for (std::size_t l = 0; l < instance.topology().links().size(); ++l) {
        unit = std::gcd(unit, instance.alpha(LinkId(l)).count());
    }
    for (const Collective& collective : instance.collectives()) {
        unit = std::gcd(unit, collective.release.count());
        for (const Ticks release : collective.releases) unit = std::gcd(unit, release.count());
    }
    // Sums are tracked at every tick where that is not much more: between two units they might avoid a tie.
    const bool has_shared_sums = [&] {
        for (std::size_t c = 0; c < instance.chunks(); ++c) {
            const Demand demand = instance.demand(ChunkId(c));
            if (demand.reduction && demand.holders.size() > 1 && demand.receivers.size() > 1) return true;
        }
        return false;
    }();
    return has_shared_sums && unit <= kFewTicks ? 1 : std::max<Units64>(unit, 1);
}

Units64 ready_at(const Commodity& commodity, NodeId source) {
    const auto late =
        std::ranges::lower_bound(commodity.late, source, {}, &std::pair<NodeId, Units64>::first);
    return late != commodity.late.end() && late->first == source ? late->second : commodity.ready;
}

Routing::Routing(const Instance& instance, const Stop& stop)
    : instance_(&instance), stop_(stop), unit_(unit_of(instance)) {
    add_commodities();
    const Topology& topology = instance.topology();
    for (std::size_t n = topology.npus(); n < topology.nodes(); ++n) {
        const SwitchRule& rule = topology.rule(NodeId(n));
        limited_ = limited_ || (!rule.cut_through && rule.buffer);
    }
    for (const Network& network : networks_) {
        if (incomplete_.empty()) incomplete_ = network.incomplete;
    }
    // Rounding all starts down to units keeps every distance, but makes some ties where order matters.
    if (incomplete_.empty() && unit_ > 1 && ties_matter()) {
        incomplete_ = "between two units sends might avoid a tie";
    }
}

bool Routing::ties_matter() const {
    return has_sums() || std::ranges::any_of(commodities_, [&](const Commodity& c) {
               const Network& network = network_of(c);
               return c.moves == Moves::Spread && network.order_matters &&
                      std::ranges::any_of(network.passages, [](const auto& p) { return !p.empty(); });
           });
}

bool Routing::has_sums() const {
    return std::ranges::any_of(commodities_, [](const Commodity& c) { return c.moves == Moves::Sum; });
}

std::size_t Routing::network(ChunkId chunk, bool backwards, Use use) {
    const Collective& collective = instance_->collective_of(chunk);
    const std::uint64_t carriers =
        collective.forwarding == Forwarding::Group ? collective.group.value() + std::uint64_t{1} : 0;
    const Key key{carriers, instance_->demand(chunk).bytes, backwards, use};
    const auto found = std::ranges::find(keys_, key);
    if (found != keys_.end()) return static_cast<std::size_t>(found - keys_.begin());
    keys_.push_back(key);
    networks_.push_back(network_for(*instance_, chunk, backwards, use, unit_, stop_));
    return networks_.size() - 1;
}

void Routing::add_commodities() {
    std::vector<ChunkId> unicasts;
    for (std::size_t c = 0; c < instance_->chunks(); ++c) {
        if ((c & 255U) == 0 && stop_.requested()) {
            incomplete_ = kRoutingStopped;
            return;
        }
        const ChunkId chunk(c);
        const Demand demand = instance_->demand(chunk);
        const Units64 release = units(instance_->release(chunk));
        Commodity commodity;
        commodity.chunks = {chunk};
        const std::vector<NodeId> holders(demand.holders.begin(), demand.holders.end());
        const std::vector<NodeId> receivers(demand.receivers.begin(), demand.receivers.end());
        if (demand.reduction && holders.size() > 1) {
            if (receivers.size() == 1) {
                commodity.sources = receivers;
                std::ranges::set_difference(holders, receivers, std::back_inserter(commodity.targets));
                commodity.spare = release;
                commodity.network = network(chunk, true, Use::Branch);
                commodity.late = late_ones(commodity.targets, chunk);
            } else {
                commodity.moves = Moves::Sum;
                commodity.sources = holders;
                commodity.targets = receivers;
                commodity.ready = release;
                commodity.network = network(chunk, false, Use::Sum);
                commodity.late = late_ones(commodity.sources, chunk);
            }
        } else {
            commodity.sources = holders;
            std::ranges::set_difference(receivers, holders, std::back_inserter(commodity.targets));
            if (instance_->is_staggered(chunk) && !commodity.targets.empty()) {
                // A late holder is a node like any other here.
                for (const auto& [holder, time] : late_ones(holders, chunk))
                    std::erase(commodity.sources, holder);
                if (incomplete_.empty()) incomplete_ = "a late holder of a chunk might send it";
            }
            if (holders.size() == 1 && commodity.targets.size() == 1) {
                unicasts.push_back(chunk);
                continue;
            }
            commodity.ready = release;
            if (!commodity.targets.empty()) commodity.network = network(chunk, false, Use::Branch);
        }
        if (!commodity.targets.empty()) commodities_.push_back(std::move(commodity));
    }
    add_unicasts(unicasts);
}

std::vector<std::pair<NodeId, Units64>> Routing::late_ones(const std::vector<NodeId>& holders,
                                                           ChunkId chunk) const {
    std::vector<std::pair<NodeId, Units64>> late;
    if (!instance_->is_staggered(chunk)) return late;
    for (const NodeId holder : holders) {
        const Ticks release = instance_->release(chunk, holder);
        if (release > instance_->release(chunk)) late.emplace_back(holder, units(release));
    }
    return late;
}

void Routing::add_unicasts(const std::vector<ChunkId>& chunks) {
    // Chunks of one flow have the same end, network and release.
    using End = std::tuple<NodeId, std::size_t, Units64>;
    std::map<End, std::vector<ChunkId>> from, into;
    const auto receiver = [&](ChunkId chunk) {
        const Demand demand = instance_->demand(chunk);
        return *std::ranges::find_if(demand.receivers, [&](NodeId r) { return r != demand.holders[0]; });
    };
    for (const ChunkId chunk : chunks) {
        const Units64 release = units(instance_->release(chunk));
        from[{instance_->demand(chunk).holders[0], network(chunk, false, Use::Path), release}].push_back(
            chunk);
    }
    for (const auto& [key, group] : from) {
        for (const ChunkId chunk : group)
            into[{receiver(chunk), std::get<1>(key), std::get<2>(key)}].push_back(chunk);
    }
    const bool backwards = into.size() < from.size();
    for (const auto& [key, group] : backwards ? into : from) {
        Commodity flow;
        flow.moves = Moves::Flow;
        flow.chunks = group;
        flow.sources = {std::get<0>(key)};
        for (const ChunkId chunk : group) {
            flow.targets.push_back(backwards ? instance_->demand(chunk).holders[0] : receiver(chunk));
        }
        flow.network = network(group.front(), backwards, Use::Path);
        (backwards ? flow.spare : flow.ready) = std::get<2>(key);
        commodities_.push_back(std::move(flow));
    }
}

}  // namespace tutti::models
