// A mesh has no translations, but a Hamiltonian cycle in it has. A two-way ring of N NPUs completes an
// all-gather in ceil((N - 1) / 2) busy periods, and no network with a corner of two links can do better. So
// where latency is zero, the cycle alone is optimal for such a mesh.
//
// The grid is read from NPU 0: its neighbours' numbers are the strides of the dimensions. Leave one dimension
// of length a out; a snake through the others is a line of L = N / a NPUs, and the grid a x L has a cycle if
// both are at least 2 and one of them is even: along the first row, then back and forth through the rest of
// each column pair. The result is checked against the links, so a missing link ends the attempt.

#include "symmetry/symmetry_search.hpp"

#include <algorithm>
#include <functional>

namespace tutti::symmetry {
namespace {

/// The strides of a grid, lowest first: the longest chain of divisors among 0's neighbours.
std::vector<std::uint32_t> strides_of(const Topology& topology) {
    std::vector<std::uint32_t> steps;
    for (const LinkId link : topology.out_links(NodeId(0))) steps.push_back(topology.link(link).dst.value());
    std::ranges::sort(steps);
    std::vector<std::uint32_t> strides;
    for (const std::uint32_t step : steps) {
        if (strides.empty()
                ? step == 1
                : step > strides.back() && step % strides.back() == 0 && topology.npus() % step == 0)
            strides.push_back(step);
    }
    return strides;
}

/// A walk through the box of the given dimensions, one step at a time, from corner 0.
std::vector<std::uint32_t> snake(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& dimensions) {
    std::vector<std::uint32_t> walk{0};
    for (const auto& [stride, length] : dimensions) {
        const std::size_t block = walk.size();
        for (std::uint32_t layer = 1; layer < length; ++layer) {
            // Each layer is the last one walked back, one step further.
            for (std::size_t i = 0; i < block; ++i) walk.push_back(walk[walk.size() - 1 - 2 * i] + stride);
        }
    }
    return walk;
}

/// A cycle through rows x columns, rows even, as (row, column): down column 0, then up through the others,
/// two rows at a time.
std::vector<std::pair<std::uint32_t, std::uint32_t>> cycle(std::uint32_t rows, std::uint32_t columns) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> result;
    for (std::uint32_t r = 0; r < rows; ++r) result.emplace_back(r, 0);
    for (std::uint32_t r = rows; r-- > 0;) {
        const bool out = (rows - 1 - r) % 2 == 0;
        for (std::uint32_t c = 1; c < columns; ++c) result.emplace_back(r, out ? c : columns - c);
    }
    return result;
}

bool has_link(const Topology& topology, NodeId from, NodeId to, const Wire& wire) {
    return std::ranges::any_of(topology.out_links(from), [&](LinkId id) {
        return topology.link(id).dst == to && topology.link(id).wire == wire;
    });
}

std::optional<Generator> ring_of(const Topology& topology, const std::vector<std::uint32_t>& order) {
    Generator generator{std::vector<NodeId>(order.size()), static_cast<std::uint32_t>(order.size())};
    const auto& links = topology.links();
    for (std::size_t i = 0; i < order.size(); ++i) {
        const NodeId from(order[i]), to(order[(i + 1) % order.size()]);
        const Wire& wire = links.front().wire;
        if (!has_link(topology, from, to, wire) || !has_link(topology, to, from, wire)) return std::nullopt;
        generator.images[from.index()] = to;
    }
    return generator;
}

}  // namespace

std::optional<Generator> ring_through_grid(const Topology& topology) {
    const std::uint32_t npus = topology.npus();
    if (topology.switches() > 0 || npus < 4 || npus % 2 != 0 || topology.links().empty()) return std::nullopt;
    const auto strides = strides_of(topology);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> dimensions;
    for (std::size_t d = 0; d < strides.size(); ++d) {
        const std::uint32_t end = d + 1 < strides.size() ? strides[d + 1] : npus;
        dimensions.emplace_back(strides[d], end / strides[d]);
    }
    for (std::size_t d = 0; d < dimensions.size(); ++d) {
        auto others = dimensions;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(d));
        const auto line = snake(others);
        const auto [stride, length] = dimensions[d];
        const auto along = static_cast<std::uint32_t>(line.size());
        if (length < 2 || along < 2) continue;
        std::vector<std::uint32_t> order;
        if (length % 2 == 0) {
            for (const auto& [row, column] : cycle(length, along))
                order.push_back(row * stride + line[column]);
        } else {
            for (const auto& [row, column] : cycle(along, length))
                order.push_back(column * stride + line[row]);
        }
        if (auto ring = ring_of(topology, order)) return ring;
    }
    return std::nullopt;
}

}  // namespace tutti::symmetry
