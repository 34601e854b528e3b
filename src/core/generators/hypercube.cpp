#include "core/generators/hypercube.hpp"

#include "core/generators/build.hpp"
#include "core/generators/product.hpp"

namespace tutti::generators {

TopologyParts hypercube(std::uint64_t dimensions, std::span<const Wire> wires) {
    expect_between(dimensions, 1, kMaxFactors, "/dimensions");
    expect_wires(wires, dimensions, "/dimensions");
    std::vector<Factor> factors;
    for (std::size_t i = 0; i < dimensions; ++i) factors.push_back({Shape::Line, 2, wire_of(wires, i)});
    return product(factors, [](std::size_t) { return "/dimensions"; });
}

}  // namespace tutti::generators
