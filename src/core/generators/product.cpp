// Rings, lines, meshes, tori, hypercubes and fully connected networks are Cartesian products of
// one-dimensional factors. Two NPUs are joined when their coordinates differ in one dimension only and that
// dimension's factor joins the two coordinates. Only this file creates such links; the others name factors.
//
// Each cable is listed once, at one of its two ends:
// - line: c lists the cable to c+1;
// - ring: c lists c+1, and the last lists 0, unless there are two NPUs: that would be one cable twice;
// - one-way ring: c lists c+1 and the last lists 0, one direction each, so two NPUs have one link each way;
// - fully connected: c lists c+1, c+2, … in this order.
// A factor of size 1 has no links.

#include "core/generators/product.hpp"

#include "core/generators/build.hpp"

#include <fmt/format.h>

namespace tutti::generators {
namespace {

std::uint64_t links_along(const Factor& factor) {
    const std::uint64_t n = factor.size;
    if (n == 1) return 0;
    switch (factor.shape) {
        case Shape::Line:
            return 2 * (n - 1);
        case Shape::Ring:
            return n == 2 ? 2 : 2 * n;
        case Shape::OneWayRing:
            return n;
        case Shape::FullyConnected:
            return n * (n - 1);
    }
    throw InternalError("a factor of unknown shape");
}

struct Sizes {
    std::uint64_t nodes = 1;
    std::uint64_t links = 0;
};

Sizes checked_sizes(std::span<const Factor> factors, const PlaceOfFactor& place) {
    expect_between(factors.size(), 1, kMaxFactors, "/factors");
    Sizes sizes;
    for (std::size_t i = 0; i < factors.size(); ++i) {
        expect_between(factors[i].size, 1, kMaxNodes, place(i));
        sizes.nodes = capped_product(sizes.nodes, factors[i].size);
        expect_fits(sizes.nodes, 0, place(i));
    }
    for (std::size_t i = 0; i < factors.size(); ++i) {
        const std::uint64_t copies = sizes.nodes / factors[i].size;
        sizes.links = capped_sum(sizes.links, capped_product(copies, links_along(factors[i])));
        expect_fits(sizes.nodes, sizes.links, place(i));
    }
    return sizes;
}

/// Lists the cables of `node` along one factor; its neighbours there are multiples of `stride` away.
void open_links(std::vector<Link>& links, const Factor& factor, std::size_t node, std::size_t stride) {
    const std::size_t size = factor.size;
    const std::size_t coordinate = node / stride % size;
    const std::size_t first = node - coordinate * stride;
    const bool last = coordinate + 1 == size;
    const std::size_t next = last ? first : node + stride;
    if (size == 1) return;
    switch (factor.shape) {
        case Shape::Line:
            if (!last) add_pair(links, node, next, factor.wire);
            break;
        case Shape::Ring:
            if (!last || size > 2) add_pair(links, node, next, factor.wire);
            break;
        case Shape::OneWayRing:
            links.push_back({NodeId(node), NodeId(next), factor.wire});
            break;
        case Shape::FullyConnected:
            for (std::size_t c = coordinate + 1; c < size; ++c) {
                add_pair(links, node, first + c * stride, factor.wire);
            }
            break;
    }
}

}  // namespace

std::string factor_place(std::size_t factor) { return fmt::format("/factors/{}/size", factor); }

TopologyParts product(std::span<const Factor> factors, const PlaceOfFactor& place) {
    const Sizes sizes = checked_sizes(factors, place);
    std::vector<std::size_t> strides(factors.size(), 1);
    for (std::size_t i = factors.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * factors[i].size;

    TopologyParts parts;
    parts.npus = static_cast<std::uint32_t>(sizes.nodes);
    parts.links.reserve(sizes.links);
    for (std::size_t node = 0; node < sizes.nodes; ++node) {
        for (std::size_t i = 0; i < factors.size(); ++i) {
            open_links(parts.links, factors[i], node, strides[i]);
        }
    }
    return parts;
}

}  // namespace tutti::generators
