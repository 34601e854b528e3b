#include "report/layout/graph.hpp"

#include <algorithm>
#include <limits>

namespace tutti::report {

Graph::Graph(const Topology& topology) : neighbours_(topology.nodes()) {
    for (const Link& link : topology.links()) {
        neighbours_[link.src.index()].push_back(link.dst.value());
        neighbours_[link.dst.index()].push_back(link.src.value());
    }
    for (auto& list : neighbours_) {
        std::ranges::sort(list);
        list.erase(std::ranges::unique(list).begin(), list.end());
    }
}

bool Graph::joined(std::size_t a, std::size_t b) const {
    return std::ranges::binary_search(neighbours_[a], static_cast<std::uint32_t>(b));
}

std::size_t Graph::edges() const {
    std::size_t ends = 0;
    for (const auto& list : neighbours_) ends += list.size();
    return ends / 2;
}

Graph Graph::part(const std::vector<std::uint32_t>& nodes) const {
    constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::uint32_t> number(size(), kNone);
    for (std::uint32_t i = 0; i < nodes.size(); ++i) number[nodes[i]] = i;
    Graph graph(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        for (const std::uint32_t other : neighbours_[nodes[i]]) {
            if (number[other] != kNone) graph.neighbours_[i].push_back(number[other]);
        }
        std::ranges::sort(graph.neighbours_[i]);
    }
    return graph;
}

std::vector<std::vector<std::uint32_t>> Graph::components() const {
    std::vector<std::vector<std::uint32_t>> found;
    std::vector<bool> seen(size());
    for (std::uint32_t first = 0; first < size(); ++first) {
        if (seen[first]) continue;
        std::vector<std::uint32_t> nodes{first};
        seen[first] = true;
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            for (const std::uint32_t next : neighbours_[nodes[i]]) {
                if (seen[next]) continue;
                seen[next] = true;
                nodes.push_back(next);
            }
        }
        std::ranges::sort(nodes);
        found.push_back(std::move(nodes));
    }
    return found;
}

std::vector<std::uint32_t> Graph::distances(const std::vector<std::uint32_t>& from) const {
    const auto far = static_cast<std::uint32_t>(size());
    std::vector<std::uint32_t> steps(size(), far), queue = from;
    for (const std::uint32_t node : from) steps[node] = 0;
    for (std::size_t i = 0; i < queue.size(); ++i) {
        for (const std::uint32_t next : neighbours_[queue[i]]) {
            if (steps[next] != far) continue;
            steps[next] = steps[queue[i]] + 1;
            queue.push_back(next);
        }
    }
    return steps;
}

}  // namespace tutti::report
