// Three levels, for machines without NVLink: GPUs of one PCIe switch are `pair` neighbours, the switches of a
// node hang on its sockets, nodes are joined by network cards. The data is halved between the GPUs of a
// switch first, then summed up among those of one number below the switches of a node, then across nodes, so
// that each link upwards carries as little as it can; then all comes back the same way. Every stage goes to
// all members at once. Source: the idea of Cho et al., BlueConnect, MLSys 2019, section 3 (one stage for each
// level of the network), with the levels of Cowan et al., MSCCLang, ASPLOS 2023 (PCIe machines).

#include "lang/library/algorithms.hpp"
#include "lang/library/stages.hpp"

#include <fmt/format.h>

#include <array>

namespace tutti::lang::library {
namespace {

/// Ranks as digits: number below the switch, switch of the node, node.
struct Levels {
    std::array<std::uint32_t, 3> size, stride;
    [[nodiscard]] std::uint32_t digit(std::uint32_t rank, std::size_t level) const {
        return rank / stride[level] % size[level];
    }
};

Levels levels_of(const Settings& settings) {
    const std::uint32_t n = settings.request.ranks, pair = settings["pair"], gpus = settings["gpus"];
    return {{pair, gpus / pair, n / gpus}, {1, pair, gpus}};
}

/// One stage along a level: ranks that differ in that digit only. A rank's share is that of all ranks that
/// agree with it in the digits up to this level.
void stage(Program& p, const Levels& levels, std::size_t level, bool sums) {
    const std::uint32_t n = p.ranks(), part = p.shape().chunks / n;
    const Directive on{.channel = static_cast<std::int32_t>(level) + (sums ? 0 : 3)};
    for (std::uint32_t first = 0; first < n; ++first) {
        if (levels.digit(first, level) != 0) continue;
        std::vector<std::uint32_t> members;
        std::vector<Share> shares;
        for (std::uint32_t i = 0; i < levels.size[level]; ++i) {
            members.push_back(first + i * levels.stride[level]);
            std::vector<std::uint32_t> agreeing;
            std::vector<Share> all(n);
            for (std::uint32_t r = 0; r < n; ++r) {
                all[r] = {{r * part, part}};
                bool agrees = true;
                for (std::size_t l = 0; l <= level; ++l)
                    agrees &= levels.digit(r, l) == levels.digit(members.back(), l);
                if (agrees) agreeing.push_back(r);
            }
            shares.push_back(joined(all, agreeing));
        }
        if (sums) {
            sum_shares(p, members, shares, Style::Pairs, work_buffer(p), on);
        } else {
            spread_shares(p, members, shares, Style::Pairs, kOutput, on);
        }
    }
}

void write_pcie_hierarchical(Program& p, const Settings& settings) {
    const Levels levels = levels_of(settings);
    for (std::uint32_t r = 0; r < p.ranks(); ++r) (void)writable(p, r, 0, p.shape().chunks);
    for (std::size_t level = 0; level < 3; ++level) stage(p, levels, level, true);
    for (std::size_t level = 3; level-- > 0;) stage(p, levels, level, false);
}

}  // namespace

Algorithm pcie_hierarchical() {
    return {
        .name = "pcie-hierarchical",
        .about = "a stage for each level: below a PCIe switch, among the switches of a node, across nodes",
        .source = "Cho et al. (BlueConnect), MLSys 2019; Cowan et al. (MSCCLang), ASPLOS 2023",
        .kinds = {CollectiveKind::AllReduce},
        .parameters = {{"pair", "ranks below one PCIe switch, which are neighbours", 2, 1, 64,
                        Knob::Divisors},
                       {"gpus", "ranks of a node, which are neighbours", 8, 1, 1024, Knob::Divisors},
                       {"chunks", "chunks of a rank's share", 1, 1, 16}},
        .why_not = [](const Settings& settings) -> std::string {
            const std::uint32_t n = settings.request.ranks, gpus = settings["gpus"];
            if (gpus % settings["pair"] != 0) {
                return fmt::format("nodes of {} ranks (parameter gpus) have no switches of {} (pair)", gpus,
                                   settings["pair"]);
            }
            return n % gpus == 0 ? "" : fmt::format("{} ranks are no nodes of {} (parameter gpus)", n, gpus);
        },
        .chunks = [](const Settings& settings) { return settings["chunks"] * settings.request.ranks; },
        .write = write_pcie_hierarchical};
}

}  // namespace tutti::lang::library
