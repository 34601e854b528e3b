#include "core/generators/star.hpp"

#include "core/generators/build.hpp"

namespace tutti::generators {

TopologyParts star(std::uint64_t npus, const Wire& wire, const SwitchRule& rule) {
    expect_between(npus, 1, kMaxNodes - 1, "/npus");
    expect_fits(npus + 1, 2 * npus, "/npus");
    TopologyParts parts;
    parts.npus = static_cast<std::uint32_t>(npus);
    parts.switches = {rule};
    parts.links.reserve(2 * npus);
    for (std::size_t npu = 0; npu < npus; ++npu) add_pair(parts.links, npu, npus, wire);
    return parts;
}

}  // namespace tutti::generators
