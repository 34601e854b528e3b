#include "tests/support/symmetric_instance.hpp"

#include "tests/support/builders.hpp"

#include <array>

namespace tutti::test {

Instance on_all_npus(TopologyParts topology, CollectiveKind kind, std::uint64_t chunks) {
    InstanceParts parts;
    parts.name = "symmetric";
    parts.groups = {{"all", {}}};
    for (std::size_t n = 0; n < topology.npus; ++n) parts.groups[0].members.emplace_back(n);
    parts.topology = std::move(topology);
    parts.collectives = {collective(kind)};
    parts.collectives[0].chunks = chunks;
    return Instance(std::move(parts));
}

Instance random_symmetric_instance(Rng& rng) {
    static const std::vector<std::vector<std::uint32_t>> kDigits{{2},    {3},    {5},       {2, 2},
                                                                 {3, 2}, {4, 3}, {2, 2, 2}, {7}};
    const auto& digits = kDigits[rng.below(kDigits.size())];
    std::uint32_t group = 1;
    for (const std::uint32_t digit : digits) group *= digit;
    const auto orbits = static_cast<std::uint32_t>(1 + rng.below(group < 9 ? 3 : 2));
    const auto sum = [&](std::uint32_t a, std::uint32_t b) {
        std::uint32_t result = 0, stride = 1;
        for (const std::uint32_t digit : digits) {
            result += (a / stride + b / stride) % digit * stride;
            stride *= digit;
        }
        return result;
    };
    TopologyParts topology;
    topology.npus = group * orbits;
    topology.busy = rng.below(2) == 0 ? Busy::Beta : Busy::AlphaPlusBeta;
    const auto add = [&](std::uint32_t from, std::uint32_t to, std::uint32_t displacement) {
        if (from == to && displacement == 0) return;
        const Wire wire{Ticks(static_cast<std::int64_t>(rng.below(3))),
                        Ticks(static_cast<std::int64_t>(1 + rng.below(3))),
                        {}};
        for (std::uint32_t e = 0; e < group; ++e)
            topology.links.push_back(
                {NodeId(from * group + e), NodeId(to * group + sum(e, displacement)), wire});
    };
    std::uint32_t stride = 1;
    for (const std::uint32_t digit : digits) {
        add(0, 0, stride);
        stride *= digit;
    }
    for (std::uint32_t o = 0; o < orbits && orbits > 1; ++o)
        add(o, (o + 1) % orbits, static_cast<std::uint32_t>(rng.below(group)));
    for (std::uint64_t extra = rng.below(4); extra > 0; --extra) {
        const auto from = static_cast<std::uint32_t>(rng.below(orbits));
        add(from, static_cast<std::uint32_t>(rng.below(orbits)),
            static_cast<std::uint32_t>(rng.below(group)));
    }
    using enum CollectiveKind;
    constexpr std::array kKinds{AllGather, ReduceScatter, AllReduce, AllToAll};
    return on_all_npus(std::move(topology), kKinds[rng.below(kKinds.size())], 1 + rng.below(2));
}

}  // namespace tutti::test
