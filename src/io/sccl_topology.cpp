#include "io/sccl_topology.hpp"

#include "core/expects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

// SCCL writes a matrix links[dst][src] of chunks per round and a list of switches. TACCL writes one machine
// and how many copies of it there are; links between copies join the GPUs that `internode_conn` names, and
// take remote_alpha + k * remote_beta for k chunks that leave together. Inside a machine a chunk takes its
// entry of node_invbws. Times in the sends are ten times those of the topology.

namespace tutti::io {
namespace {

using plan::PlanNode;
using plan::ScclLink;
using plan::ScclPlan;

constexpr std::int64_t kTimesScale = 10;
constexpr std::size_t kMostCopiedLinks = std::size_t{1} << 24U;
constexpr double kMostAlpha = 1e9;
constexpr std::int64_t kMostCapacity = std::int64_t{1} << 40U;

PlanNode node_of(const PlanField& field, std::int32_t nodes) {
    return plan::id_of<PlanNode>(field.integer(0, nodes - 1));
}

std::vector<PlanNode> node_set(const PlanField& field, std::int32_t nodes) {
    std::vector<PlanNode> set;
    for (std::size_t i = 0; i < field.size(); ++i) set.push_back(node_of(field[i], nodes));
    std::ranges::sort(set);
    const auto rest = std::ranges::unique(set);
    set.erase(rest.begin(), rest.end());
    return set;
}

void sort_links(std::vector<ScclLink>& links) {
    std::ranges::sort(links, {}, [](const ScclLink& link) { return std::pair(link.src, link.dst); });
}

/// Calls `take(dst, src, row)` for every entry of a square matrix.
template <typename Take>
void for_each_entry(const PlanField& matrix, std::int32_t size, Take take) {
    const auto expect = [&](const PlanField& list, const char* what) {
        if (list.size() == static_cast<std::size_t>(size)) return;
        list.fail("bad-value", fmt::format("expected {} {}, found {}", size, what, list.size()));
    };
    expect(matrix, "rows, one for each node");
    for (const PlanNode dst : plan::nodes_below(size)) {
        const PlanField row = matrix[dst.index()];
        expect(row, "entries, one for each node");
        for (const PlanNode src : plan::nodes_below(size)) take(dst, src, row);
    }
}

std::int64_t integer_of(const PlanField& row, PlanNode node) {
    return row.integer_at(node.index(), 0, kMostCapacity);
}

void read_links(const PlanField& topology, ScclPlan& plan) {
    for_each_entry(topology.at("links"), plan.nodes, [&](PlanNode dst, PlanNode src, const PlanField& row) {
        const std::int64_t capacity = integer_of(row, src);
        if (capacity > 0) plan.links.push_back({src, dst, capacity, 0, 0});
    });
    if (const auto switches = topology.find("switches")) {
        for (std::size_t i = 0; i < switches->size(); ++i) {
            const PlanField entry = (*switches)[i];
            if (entry.size() != 4) entry.fail("bad-value", "expected [sources, destinations, number, name]");
            plan.switches.push_back({node_set(entry[0], plan.nodes), node_set(entry[1], plan.nodes),
                                     entry[2].integer(1, kMostCapacity), entry[3].string()});
        }
    }
}

std::int64_t fine_time(const PlanField& field) {
    const double units = field.number(0, kMostAlpha) * static_cast<double>(kTimesScale);
    return std::llround(units * static_cast<double>(plan::kFinePerTime));
}

struct Machines {
    std::int64_t copies = 1;
    std::int32_t size = 0;

    /// A node of one machine, in a copy of it.
    [[nodiscard]] PlanNode in_copy(std::int64_t copy, PlanNode node) const {
        return plan::id_of<PlanNode>(copy * size + node.value());
    }
};

void read_machine_links(const PlanField& topology, const Machines& machines, ScclPlan& plan) {
    const PlanField times = topology.at("node_invbws");
    std::vector<ScclLink> inside;
    for_each_entry(topology.at("node_links"), machines.size,
                   [&](PlanNode dst, PlanNode src, const PlanField& row) {
                       const std::int64_t lanes = integer_of(row, src);
                       if (lanes > 0) inside.push_back({src, dst, lanes, 0, 0});
                   });
    std::size_t next = 0;
    for_each_entry(times, machines.size, [&](PlanNode dst, PlanNode src, const PlanField& row) {
        const std::int64_t time = fine_time(row[src.index()]);
        if (next == inside.size() || inside[next].dst != dst || inside[next].src != src) return;
        inside[next++].beta = time;
    });
    if (inside.size() > kMostCopiedLinks / static_cast<std::size_t>(machines.copies)) {
        topology.fail("too-large", fmt::format("this makes more than {} links", kMostCopiedLinks));
    }
    for (std::int32_t copy = 0; copy < machines.copies; ++copy) {
        for (ScclLink link : inside) {
            link.src = machines.in_copy(copy, link.src);
            link.dst = machines.in_copy(copy, link.dst);
            plan.links.push_back(link);
        }
    }
}

PlanNode node_named(const PlanField& place, const std::string& name, std::int32_t nodes) {
    std::int32_t node = -1;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), node);
    if (error != std::errc{} || end != name.data() + name.size() || node < 0 || node >= nodes) {
        place.fail("bad-integer", fmt::format("expected the key to be a node from 0 to {}", nodes - 1));
    }
    return plan::id_of<PlanNode>(node);
}

void read_links_between(const PlanField& topology, const Machines& machines, ScclPlan& plan) {
    const PlanField pairs = topology.at("internode_conn");
    std::vector<std::pair<PlanNode, PlanNode>> ends;
    for (const auto& [name, targets] : pairs.fields()) {
        const PlanNode src = node_named(targets, name, machines.size);
        for (const PlanNode dst : node_set(targets, machines.size)) ends.emplace_back(src, dst);
    }
    const auto copies = static_cast<std::size_t>(machines.copies);
    if (ends.size() > kMostCopiedLinks / (copies * copies)) {
        topology.fail("too-large", fmt::format("this makes more than {} links", kMostCopiedLinks));
    }
    const std::int64_t alpha = fine_time(topology.at("remote_alpha"));
    const std::int64_t beta = fine_time(topology.at("remote_beta"));
    for (std::int32_t from = 0; from < machines.copies; ++from) {
        for (std::int32_t to = 0; to < machines.copies; ++to) {
            if (from == to) continue;
            for (const auto& [src, dst] : ends) {
                plan.links.push_back(
                    {machines.in_copy(from, src), machines.in_copy(to, dst), 1, alpha, beta});
            }
        }
    }
}

void read_machines(const PlanField& topology, ScclPlan& plan) {
    Machines machines;
    machines.copies = topology.at("copies").integer(1, plan.nodes);
    machines.size = static_cast<std::int32_t>(topology.at("ngpus_per_node").integer(1, plan.nodes));
    if (machines.copies * machines.size != plan.nodes) {
        topology.fail("bad-value", fmt::format("expected {} nodes as the collective has, found {} times {}",
                                               plan.nodes, machines.copies, machines.size));
    }
    read_machine_links(topology, machines, plan);
    if (machines.copies > 1) read_links_between(topology, machines, plan);
    plan.has_latencies = true;
}

}  // namespace

void read_sccl_topology(const PlanField& topology, ScclPlan& plan) {
    expects(plan.nodes > 0);
    if (const auto name = topology.find("name")) plan.network = name->string();
    if (topology.find("node_links")) {
        read_machines(topology, plan);
    } else {
        read_links(topology, plan);
    }
    sort_links(plan.links);
    plan.has_links = true;
}

}  // namespace tutti::io
