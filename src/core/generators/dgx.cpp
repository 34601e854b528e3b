// NVIDIA's nodes, as tables of cables. DGX-1: the hybrid cube mesh of the V100 system ("NVIDIA DGX-1 With
// Tesla V100 System Architecture", white paper, 2017), with its single and double connections. DGX-2:
// "NVSwitch and DGX-2" (Hot Chips 30, 2018). A100, H100: the eight-GPU boards of these generations with 6 and
// 4 NVSwitches.

#include "core/generators/dgx.hpp"

#include "core/generators/build.hpp"

#include <array>

namespace tutti::generators {
namespace {

/// Several NVLinks between the same two ends.
struct Cable {
    std::size_t a;
    std::size_t b;
    int nvlinks;
};

/// In physical units a product of more than 15 digits is rounded down to 15, which every JSON reader keeps.
Wire bonded(Wire wire, int nvlinks) {
    if (wire.units() == Units::Abstract) {
        wire.beta = Ticks((wire.beta.count() + nvlinks - 1) / nvlinks);
        return wire;
    }
    auto& mantissa = wire.bandwidth.mantissa;
    auto& scale = wire.bandwidth.scale;
    mantissa *= nvlinks;
    constexpr std::int64_t kSixteenDigits = 1'000'000'000'000'000;
    while (scale > 0 && (mantissa % 10 == 0 || mantissa >= kSixteenDigits)) {
        mantissa /= 10;
        --scale;
    }
    return wire;
}

void lay(std::vector<Link>& links, const Cable& cable, const Wire& nvlink, Bonding bonding) {
    if (bonding == Bonding::Bonded) {
        add_pair(links, cable.a, cable.b, bonded(nvlink, cable.nvlinks));
        return;
    }
    for (int i = 0; i < cable.nvlinks; ++i) add_pair(links, cable.a, cable.b, nvlink);
}

/// Each of 8 GPUs on every switch, by as many NVLinks as the switch's row says.
template <std::size_t Switches>
TopologyParts switched_node(const std::array<int, Switches>& nvlinks, const Wire& nvlink, Bonding bonding,
                            const SwitchRule& rule) {
    TopologyParts parts;
    parts.npus = 8;
    parts.switches.assign(Switches, rule);
    for (std::size_t gpu = 0; gpu < 8; ++gpu) {
        for (std::size_t s = 0; s < Switches; ++s) {
            lay(parts.links, {gpu, 8 + s, nvlinks[s]}, nvlink, bonding);
        }
    }
    return parts;
}

}  // namespace

TopologyParts dgx1(const Wire& nvlink, Bonding bonding) {
    // NVLinks from GPU to GPU, as `nvidia-smi topo -m` shows them.
    static constexpr int kNvlinks[8][8] = {
        {0, 1, 1, 2, 2, 0, 0, 0},  // GPU 0
        {1, 0, 2, 1, 0, 2, 0, 0},  // GPU 1
        {1, 2, 0, 2, 0, 0, 1, 0},  // GPU 2
        {2, 1, 2, 0, 0, 0, 0, 1},  // GPU 3
        {2, 0, 0, 0, 0, 1, 1, 2},  // GPU 4
        {0, 2, 0, 0, 1, 0, 2, 1},  // GPU 5
        {0, 0, 1, 0, 1, 2, 0, 2},  // GPU 6
        {0, 0, 0, 1, 2, 1, 2, 0},  // GPU 7
    };
    TopologyParts parts;
    parts.npus = 8;
    for (std::size_t a = 0; a < 8; ++a) {
        for (std::size_t b = a + 1; b < 8; ++b) {
            if (kNvlinks[a][b] > 0) lay(parts.links, {a, b, kNvlinks[a][b]}, nvlink, bonding);
        }
    }
    return parts;
}

TopologyParts dgx2(const Wire& nvlink, Bonding bonding, const SwitchRule& rule) {
    constexpr std::size_t kGpus = 16, kSwitchesOfBoard = 6;
    TopologyParts parts;
    parts.npus = kGpus;
    parts.switches.assign(2 * kSwitchesOfBoard, rule);
    for (std::size_t gpu = 0; gpu < kGpus; ++gpu) {
        const std::size_t first_switch = kGpus + gpu / 8 * kSwitchesOfBoard;
        for (std::size_t s = 0; s < kSwitchesOfBoard; ++s) {
            lay(parts.links, {gpu, first_switch + s, 1}, nvlink, bonding);
        }
    }
    for (std::size_t s = 0; s < kSwitchesOfBoard; ++s) {
        lay(parts.links, {kGpus + s, kGpus + kSwitchesOfBoard + s, 8}, nvlink, bonding);
    }
    return parts;
}

TopologyParts a100(const Wire& nvlink, Bonding bonding, const SwitchRule& rule) {
    return switched_node(std::array{2, 2, 2, 2, 2, 2}, nvlink, bonding, rule);
}

TopologyParts h100(const Wire& nvlink, Bonding bonding, const SwitchRule& rule) {
    return switched_node(std::array{5, 4, 4, 5}, nvlink, bonding, rule);
}

}  // namespace tutti::generators
