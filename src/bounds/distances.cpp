#include "bounds/distances.hpp"

#include "core/expects.hpp"

#include <algorithm>

namespace tutti::bounds {

Passage::Passage(const Instance& the_instance, Bytes size, std::optional<CollectiveId> of)
    : instance(&the_instance), bytes(size), collective(of) {
    const Topology& topology = instance->topology();
    const std::size_t links = topology.links().size();
    transit.reserve(links);
    step.reserve(links);
    busy.reserve(links);
    const std::vector<Ticks> betas = topology.betas(bytes);
    for (std::size_t l = 0; l < links; ++l) {
        const LinkId id(l);
        const Ticks beta = betas[l];
        transit.push_back(instance->alpha(id) + beta);
        step.push_back(topology.is_cut_through(topology.link(id).dst) ? instance->alpha(id) : transit.back());
        busy.push_back(instance->busy(id, beta));
    }
    const bool alike =
        !step.empty() && std::ranges::all_of(step, [&](Ticks time) { return time == step.front(); });
    if (alike) every_step = step.front();
}

namespace {

/// Breadth first: what Dijkstra's algorithm comes to where all steps are equal.
std::vector<Ticks> distances_in_steps(const Passage& passage, std::span<const NodeId> set,
                                      Direction direction) {
    const Topology& topology = passage.instance->topology();
    const bool forwards = direction == Direction::Forwards;
    std::vector<Ticks> times(topology.nodes(), kNever);
    std::vector<NodeId> queue;
    queue.reserve(topology.nodes());
    for (const NodeId node : set) {
        if (times[node.index()] == kNever) queue.push_back(node);
        times[node.index()] = Ticks(0);
    }
    for (std::size_t next = 0; next < queue.size() && queue.size() < topology.nodes(); ++next) {
        const NodeId node = queue[next];
        const Ticks time = times[node.index()] + *passage.every_step;
        for (const LinkId id : forwards ? topology.out_links(node) : topology.in_links(node)) {
            const NodeId to = forwards ? topology.link(id).dst : topology.link(id).src;
            if (times[to.index()] != kNever || !passage.admits(to)) continue;
            times[to.index()] = time;
            queue.push_back(to);
        }
    }
    return times;
}

}  // namespace

std::vector<bool> carriers(const Topology& topology, const std::vector<const Passage*>& passages) {
    std::vector<bool> may;
    for (std::size_t n = 0; n < topology.nodes(); ++n) {
        may.push_back(std::ranges::any_of(passages, [&](const Passage* p) { return p->admits(NodeId(n)); }));
    }
    return may;
}

std::vector<Ticks> distances(const Passage& passage, std::span<const NodeId> set, Direction direction) {
    if (passage.every_step) return distances_in_steps(passage, set, direction);
    return shortest_paths(
        passage.instance->topology(), set, direction, kNever,
        [&](LinkId link, NodeId next) { return passage.admits(next) ? passage.step[link.index()] : kNever; });
}

std::vector<std::uint32_t> link_counts(const Passage& passage, std::span<const NodeId> set) {
    const Topology& topology = passage.instance->topology();
    std::vector<std::uint32_t> count(topology.nodes(), UINT32_MAX);
    std::vector<NodeId> queue(set.begin(), set.end());
    queue.reserve(topology.nodes());
    for (const NodeId node : queue) count[node.index()] = 0;
    for (std::size_t next = 0; next < queue.size() && queue.size() < topology.nodes(); ++next) {
        const NodeId node = queue[next];
        for (const LinkId id : topology.out_links(node)) {
            const NodeId to = topology.link(id).dst;
            if (count[to.index()] != UINT32_MAX || !passage.admits(to)) continue;
            count[to.index()] = count[node.index()] + 1;
            queue.push_back(to);
        }
    }
    return count;
}

std::vector<LinkId> fastest_path(const Passage& passage, const std::vector<Ticks>& times, NodeId node) {
    expects(times.size() == passage.instance->topology().nodes() && times[node.index()] != Ticks::max());
    const Topology& topology = passage.instance->topology();
    // Searched back from its end among the links of all fastest paths. Steps into crossbars may take no time,
    // so a node is not visited twice. Into an NPU every step takes some, so an NPU at time 0 is of the set.
    std::vector<std::optional<LinkId>> onward(topology.nodes());
    std::vector<bool> seen(topology.nodes(), false);
    const NodeId end = node;
    std::vector<NodeId> stack{end};
    seen[end.index()] = true;
    while (!stack.empty()) {
        node = stack.back();
        stack.pop_back();
        if (topology.is_npu(node) && times[node.index()] == Ticks(0)) break;
        const auto in_links = topology.in_links(node);
        for (std::size_t i = in_links.size(); i-- > 0;) {
            const LinkId id = in_links[i];
            const NodeId src = topology.link(id).src;
            if (seen[src.index()]) continue;
            if (sum(times[src.index()], passage.step[id.index()]) != times[node.index()]) continue;
            seen[src.index()] = true;
            onward[src.index()] = id;
            stack.push_back(src);
        }
    }
    std::vector<LinkId> links;
    while (node != end) {
        links.push_back(*onward[node.index()]);
        node = topology.link(links.back()).dst;
    }
    return links;
}

}  // namespace tutti::bounds
