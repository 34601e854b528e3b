#include "core/generators/full.hpp"

#include "core/generators/product.hpp"

#include <array>

namespace tutti::generators {

TopologyParts fully_connected(std::uint64_t npus, const Wire& wire) {
    const std::array factors{Factor{Shape::FullyConnected, npus, wire}};
    return product(factors, [](std::size_t) { return "/npus"; });
}

}  // namespace tutti::generators
