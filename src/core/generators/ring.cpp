#include "core/generators/ring.hpp"

#include "core/generators/product.hpp"

#include <array>

namespace tutti::generators {
namespace {

TopologyParts one_dimension(Shape shape, std::uint64_t npus, const Wire& wire) {
    const std::array factors{Factor{shape, npus, wire}};
    return product(factors, [](std::size_t) { return "/npus"; });
}

}  // namespace

TopologyParts ring(std::uint64_t npus, const Wire& wire, Direction direction) {
    return one_dimension(direction == Direction::Both ? Shape::Ring : Shape::OneWayRing, npus, wire);
}

TopologyParts line(std::uint64_t npus, const Wire& wire) { return one_dimension(Shape::Line, npus, wire); }

}  // namespace tutti::generators
