// All-to-all between nodes in two steps: within its node, a rank hands what is for the ranks with number j of
// all nodes to the rank with number j; that one has then one long message for each other node. Fewer and
// longer messages between nodes. Source: Cowan et al., MSCCLang, ASPLOS 2023, section 7.3.

#include "lang/library/algorithms.hpp"

#include <fmt/format.h>

namespace tutti::lang::library {
namespace {

void write_two_step_all_to_all(Program& p, const Settings& settings) {
    const std::uint32_t n = p.ranks(), k = p.shape().chunks, g = settings["gpus"];
    const std::uint32_t nodes = n / g;
    // Scratch of rank (a, j): for each node b and each rank i of its own node, the block (a, i) -> (b, j).
    const std::uint32_t scratch = p.scratch("scratch");
    const auto rank = [&](std::uint32_t node, std::uint32_t i) { return node * g + i; };
    for (std::uint32_t a = 0; a < nodes; ++a) {
        for (std::uint32_t b = 0; b < nodes; ++b) {
            for (std::uint32_t i = 0; i < g; ++i) {
                for (std::uint32_t j = 0; j < g; ++j) {
                    const Ref block = p.chunk(rank(a, i), kInput, rank(b, j) * k, k);
                    if (a == b) {
                        (void)block.copy(rank(b, j), kOutput, rank(a, i) * k);
                    } else {
                        (void)block.copy(rank(a, j), scratch, (b * g + i) * k);
                    }
                }
            }
        }
    }
    for (std::uint32_t s = 1; s < nodes; ++s) {
        for (std::uint32_t a = 0; a < nodes; ++a) {
            const std::uint32_t b = (a + s) % nodes;
            for (std::uint32_t j = 0; j < g; ++j) {
                (void)p.chunk(rank(a, j), scratch, b * g * k, g * k).copy(rank(b, j), kOutput, a * g * k);
            }
        }
    }
}

}  // namespace

Algorithm two_step_all_to_all() {
    return {
        .name = "two-step-all-to-all",
        .about =
            "all-to-all between nodes: gathered inside the node, then one long message for each other node",
        .source = "Cowan et al. (MSCCLang), ASPLOS 2023",
        .kinds = {CollectiveKind::AllToAll},
        .parameters = {{"gpus", "ranks of a node, which are neighbours", 8, 1, 1024, Knob::Divisors},
                       {"chunks", "chunks of a block, sent in one step", 1, 1, 16}},
        .why_not = [](const Settings& settings) -> std::string {
            if (*settings.request.in_place)
                return "in place, blocks would be overwritten before they are sent";
            const std::uint32_t n = settings.request.ranks, g = settings["gpus"];
            return n % g == 0 ? "" : fmt::format("{} ranks are no nodes of {} (parameter gpus)", n, g);
        },
        .chunks = [](const Settings& settings) { return settings["chunks"]; },
        .write = write_two_step_all_to_all};
}

}  // namespace tutti::lang::library
