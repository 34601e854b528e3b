#include "models/step_problem.hpp"

#include "models/step_bounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace tutti::models {
namespace {

__extension__ using Wide = __int128;

void check(const Instance& instance) {
    const Topology& topology = instance.topology();
    if (instance.collectives().size() != 1) {
        throw InputError(fmt::format("expected one collective, found {}: steps and rounds are those of one",
                                     instance.collectives().size()),
                         "/collectives");
    }
    if (topology.switches() > 0) {
        throw InputError(
            "the synchronous model knows no switches; give the links between NPUs that the switches amount "
            "to",
            "/topology");
    }
    if (topology.npus() > kMostStepNodes) {
        throw InputError(fmt::format("expected at most {} NPUs, found {}", kMostStepNodes, topology.npus()),
                         "/topology");
    }
    bool copies = false, reductions = false;
    for (std::size_t c = 0; c < instance.chunks(); ++c) {
        const Demand demand = instance.demand(ChunkId(c));
        (demand.reduction ? reductions : copies) = true;
        if (demand.bytes != instance.demand(ChunkId(0)).bytes) {
            throw InputError("expected chunks of one size", "/collectives/0/demands");
        }
        if (demand.reduction && demand.receivers.size() > 1 &&
            instance.collective_of(ChunkId(c)).kind != CollectiveKind::AllReduce) {
            throw InputError("a custom reduction must have one receiver here", "/collectives/0/demands");
        }
    }
    if (copies && reductions) {
        throw InputError("expected copies or reductions, found both", "/collectives/0/demands");
    }
}

std::int64_t power_of_ten(int exponent) {
    std::int64_t power = 1;
    for (int i = 0; i < exponent; ++i) power *= 10;
    return power;
}

/// Whether a is slower than b.
bool slower(const Wire& a, const Wire& b) {
    if (a.units() == Units::Abstract) return a.beta > b.beta;
    return static_cast<Wide>(a.bandwidth.mantissa) * power_of_ten(b.bandwidth.scale) <
           static_cast<Wide>(b.bandwidth.mantissa) * power_of_ten(a.bandwidth.scale);
}

/// How many times as fast as the slow one, rounded down.
std::int64_t times_as_fast(const Wire& wire, const Wire& slow) {
    constexpr std::int64_t kMost = 1'000'000;  // chunks per round; more is as good as no limit
    if (wire.units() == Units::Abstract) return std::min(slow.beta.count() / wire.beta.count(), kMost);
    const Wide numerator = static_cast<Wide>(wire.bandwidth.mantissa) * power_of_ten(slow.bandwidth.scale);
    const Wide denominator = static_cast<Wide>(slow.bandwidth.mantissa) * power_of_ten(wire.bandwidth.scale);
    return static_cast<std::int64_t>(std::min<Wide>(numerator / denominator, kMost));
}

void add_arcs(const Instance& instance, StepView& view) {
    const Topology& topology = instance.topology();
    const auto usable = [&](const Link& link) {
        return instance.may_carry(link.src, CollectiveId(0)) && instance.may_carry(link.dst, CollectiveId(0));
    };
    const Wire* slow = nullptr;
    for (const Link& link : topology.links()) {
        if (usable(link) && (slow == nullptr || slower(link.wire, *slow))) slow = &link.wire;
    }
    std::map<std::pair<NodeId, NodeId>, std::size_t> arc_of;
    for (std::size_t i = 0; i < topology.links().size(); ++i) {
        const Link& link = topology.links()[i];
        view.link_capacity.push_back(0);
        if (!usable(link)) continue;
        view.link_capacity.back() = times_as_fast(link.wire, *slow);
        const auto [place, is_new] = arc_of.try_emplace({link.src, link.dst}, view.problem.arcs.size());
        if (is_new) {
            view.problem.arcs.push_back({link.src, link.dst, 0});
            view.arc_links.emplace_back();
        }
        view.problem.arcs[place->second].capacity += view.link_capacity.back();
        view.arc_links[place->second].emplace_back(i);
    }
}

/// Where the copies of a chunk start from: its holders; of a reduction, who ends up with the sum first.
std::vector<NodeId> origins(const Instance& instance, ChunkId chunk) {
    const Demand demand = instance.demand(chunk);
    if (!demand.reduction) return {demand.holders.begin(), demand.holders.end()};
    if (instance.collective_of(chunk).kind != CollectiveKind::AllReduce) return {demand.receivers.front()};
    const std::size_t rank = chunk.index() / instance.collective_of(chunk).chunks;
    return {instance.group_of(chunk).members[rank]};
}

void add_classes(const Instance& instance, StepView& view) {
    std::map<std::pair<std::vector<NodeId>, std::vector<NodeId>>, std::size_t> class_of;
    for (std::size_t c = 0; c < instance.chunks(); ++c) {
        const ChunkId chunk(c);
        const Demand demand = instance.demand(chunk);
        StepClass kind{origins(instance, chunk), {}, 0};
        const auto ends = demand.reduction ? demand.holders : demand.receivers;
        std::ranges::set_difference(ends, kind.holders, std::back_inserter(kind.receivers));
        const auto [place, is_new] =
            class_of.try_emplace({kind.holders, kind.receivers}, view.problem.classes.size());
        if (is_new) {
            view.problem.classes.push_back(std::move(kind));
            view.chunks.emplace_back();
        }
        ++view.problem.classes[place->second].count;
        view.chunks[place->second].push_back(chunk);
    }
}

}  // namespace

StepView step_view(const Instance& instance) {
    check(instance);
    StepView view;
    view.problem.nodes = instance.topology().nodes();
    add_arcs(instance, view);
    add_classes(instance, view);
    if (std::ranges::all_of(view.problem.classes,
                            [](const StepClass& kind) { return kind.receivers.empty(); })) {
        throw InputError("nobody needs anything: there is nothing to send", "/collectives/0");
    }
    if (instance.demand(ChunkId(0)).reduction) {
        const bool all = instance.collectives().front().kind == CollectiveKind::AllReduce;
        view.form = all ? StepForm::Composition : StepForm::Reductions;
    }
    view.reversed = view.problem;
    for (StepArc& arc : view.reversed.arcs) std::swap(arc.src, arc.dst);
    return view;
}

InstanceParts with_chunks(const Instance& instance, int chunks) {
    InstanceParts parts{instance.name(), instance.topology().parts(), instance.groups(),
                        instance.collectives()};
    const auto times = static_cast<std::uint64_t>(chunks);
    for (Collective& collective : parts.collectives) {
        const bool counted =
            collective.kind != CollectiveKind::Custom && collective.kind != CollectiveKind::AllToAllV;
        const auto before = counted ? static_cast<std::int64_t>(collective.chunks) : 1;
        const auto share = [&](Bytes bytes) { return Bytes{(bytes.count * before + chunks - 1) / chunks}; };
        collective.chunk_bytes = share(collective.chunk_bytes);
        if (counted) collective.chunks = times;
        for (auto& row : collective.counts) {
            for (std::uint64_t& count : row) count *= times;
        }
        std::vector<CustomDemand> demands;
        for (CustomDemand& demand : collective.demands) {
            if (demand.bytes) demand.bytes = share(*demand.bytes);
            demands.insert(demands.end(), times, demand);
        }
        collective.demands = std::move(demands);
    }
    return parts;
}

std::int64_t sccl_chunks(const Instance& instance, int chunks) {
    using enum CollectiveKind;
    const Collective& collective = instance.collectives().front();
    const auto ranks = static_cast<std::int64_t>(instance.groups()[collective.group.index()].members.size());
    switch (collective.kind) {
        case AllToAll:
        case AllReduce:
        case ReduceScatter:
        case Scatter:
            return chunks * ranks;
        default:
            return chunks;
    }
}

}  // namespace tutti::models
