// The k-ary n-tree of Petrini and Vanneschi ("k-ary n-trees: high performance networks for massively parallel
// architectures", IPPS 1997). A switch is (level, w) with w a number of n-1 digits to the base k. Switches of
// levels l and l+1 are joined when their w agree in every digit but digit l (digit 0 is the lowest). NPU p
// is attached to leaf p / k. A message goes up, with a free choice for each digit it passes, and comes down
// on a unique path. Two NPUs that agree in all but the lowest j digits share an ancestor at level j-1, so
// neighbouring numbers are near each other.

#include "core/generators/fat_tree.hpp"

#include "core/generators/build.hpp"

namespace tutti::generators {

TopologyParts fat_tree(std::uint64_t k, std::uint64_t n, std::span<const Wire> wires,
                       const SwitchRule& rule) {
    expect_between(k, 2, kMaxNodes, "/k");
    expect_between(n, 1, kMaxLevels, "/n");
    expect_wires(wires, n, "/n");
    std::uint64_t width = 1;  // switches per level
    for (std::uint64_t i = 1; i < n; ++i) width = capped_product(width, k);
    const std::uint64_t npus = capped_product(width, k);
    const std::uint64_t switches = capped_product(n, width);
    const std::uint64_t link_count = capped_product(capped_product(2, n), npus);
    expect_fits(capped_sum(npus, switches), link_count, n == 1 ? "/k" : "/n");

    TopologyParts parts;
    parts.npus = static_cast<std::uint32_t>(npus);
    parts.switches.assign(switches, rule);
    parts.links.reserve(link_count);
    for (std::size_t npu = 0; npu < npus; ++npu) {
        add_pair(parts.links, npu, npus + npu / k, wire_of(wires, 0));
    }
    std::size_t power = 1;  // k^level: the weight of the digit that may change on the way up
    for (std::size_t level = 0; level + 1 < n; ++level, power *= k) {
        const std::size_t lower = npus + level * width;
        for (std::size_t w = 0; w < width; ++w) {
            const std::size_t others = w - w / power % k * power;
            for (std::size_t digit = 0; digit < k; ++digit) {
                add_pair(parts.links, lower + w, lower + width + others + digit * power,
                         wire_of(wires, level + 1));
            }
        }
    }
    return parts;
}

}  // namespace tutti::generators
