// Two levels: sums inside the node (each rank gets a share), then across nodes between ranks of one number,
// then copies inside. Between nodes only one n-th of the data goes over each link.
// Source: Cho, Finkler, Serrano, Kung and Hunter, BlueConnect, MLSys 2019; Cowan et al., MSCCLang, ASPLOS
// 2023.
//
// Inside and across the ranks form rings, so that the chunks of a share follow each other.

#include "lang/library/algorithms.hpp"

#include <fmt/format.h>

namespace tutti::lang::library {
namespace {

void write_hierarchical(Program& p, const Settings& settings) {
    const std::uint32_t g = settings["gpus"], nodes = p.ranks() / g;
    const auto rank = [&](std::uint32_t node, std::uint32_t i) { return (node % nodes) * g + i % g; };
    const Directive inside{.channel = 0}, across{.channel = 1}, back{.channel = 2};
    // Chunk (i, b): share i inside, part b of it across nodes.
    const auto at = [&](std::uint32_t i, std::uint32_t b) { return i * nodes + b; };
    for (std::uint32_t node = 0; node < nodes; ++node) {
        for (std::uint32_t i = 0; i < g; ++i) {
            for (std::uint32_t b = 0; b < nodes; ++b) {
                Ref x = writable(p, rank(node, i + 1), at(i, b));
                for (std::uint32_t s = 2; s <= g; ++s)
                    x = writable(p, rank(node, i + s), at(i, b)).reduce(x, inside);
            }
        }
    }
    for (std::uint32_t i = 0; i < g; ++i) {
        for (std::uint32_t b = 0; b < nodes; ++b) {
            const std::uint32_t work = work_buffer(p);
            Ref x = p.chunk(rank(b + 1, i), work, at(i, b));
            for (std::uint32_t s = 2; s <= nodes; ++s)
                x = p.chunk(rank(b + s, i), work, at(i, b)).reduce(x, across);
            for (std::uint32_t s = 1; s < nodes; ++s) x = x.copy(rank(b + s, i), kOutput, at(i, b), across);
        }
    }
    for (std::uint32_t node = 0; node < nodes; ++node) {
        for (std::uint32_t i = 0; i < g; ++i) {
            for (std::uint32_t b = 0; b < nodes; ++b) {
                Ref x = p.chunk(rank(node, i), kOutput, at(i, b));
                for (std::uint32_t s = 1; s < g; ++s) x = x.copy(rank(node, i + s), kOutput, at(i, b), back);
            }
        }
    }
}

}  // namespace

Algorithm hierarchical() {
    return {.name = "hierarchical",
            .about = "sums inside nodes, across nodes between ranks of one number, copies inside",
            .source = "Cho et al. (BlueConnect), MLSys 2019",
            .kinds = {CollectiveKind::AllReduce},
            .parameters = {{"gpus", "ranks of a node, which are neighbours", 8, 1, 1024}},
            .why_not = [](const Settings& settings) -> std::string {
                const std::uint32_t n = settings.request.ranks, g = settings["gpus"];
                return n % g == 0 ? "" : fmt::format("{} ranks are no nodes of {} (parameter gpus)", n, g);
            },
            .chunks = [](const Settings& settings) { return settings.request.ranks; },
            .write = write_hierarchical};
}

}  // namespace tutti::lang::library
