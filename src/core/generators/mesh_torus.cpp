#include "core/generators/mesh_torus.hpp"

#include "core/generators/build.hpp"
#include "core/generators/product.hpp"

#include <fmt/format.h>

namespace tutti::generators {
namespace {

TopologyParts grid(Shape shape, std::span<const std::uint64_t> dims, std::span<const Wire> wires) {
    expect_between(dims.size(), 1, kMaxFactors, "/dims");
    expect_wires(wires, dims.size(), "/dims");
    std::vector<Factor> factors;
    for (std::size_t i = 0; i < dims.size(); ++i) factors.push_back({shape, dims[i], wire_of(wires, i)});
    return product(factors, [](std::size_t i) { return fmt::format("/dims/{}", i); });
}

}  // namespace

TopologyParts mesh(std::span<const std::uint64_t> dims, std::span<const Wire> wires) {
    return grid(Shape::Line, dims, wires);
}

TopologyParts torus(std::span<const std::uint64_t> dims, std::span<const Wire> wires) {
    return grid(Shape::Ring, dims, wires);
}

}  // namespace tutti::generators
