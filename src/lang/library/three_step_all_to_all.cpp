// All-to-all between nodes in three steps: for each other node b, one rank of the node (a, b mod g) collects
// all that the node's ranks have for it, sends it as one message of g^2 blocks to one rank there (b, a mod
// g), and that one hands it out. Fewest and longest messages between nodes, one for each pair of nodes; the
// data moves twice inside of nodes. Source: Cowan et al., MSCCLang, ASPLOS 2023, section 7.3 (three-step).

#include "lang/library/algorithms.hpp"

#include <fmt/format.h>

namespace tutti::lang::library {
namespace {

void write_three_step_all_to_all(Program& p, const Settings& settings) {
    const std::uint32_t n = p.ranks(), k = p.shape().chunks, g = settings["gpus"], nodes = n / g;
    const std::uint32_t out = p.scratch("out"), in = p.scratch("in");
    const auto rank = [&](std::uint32_t node, std::uint32_t i) { return node * g + i; };
    for (std::uint32_t a = 0; a < nodes; ++a) {
        for (std::uint32_t i = 0; i < g; ++i) {
            for (std::uint32_t j = 0; j < g; ++j) {
                (void)p.chunk(rank(a, i), kInput, rank(a, j) * k, k)
                    .copy(rank(a, j), kOutput, rank(a, i) * k, {.channel = 0});
            }
        }
    }
    // Of its node's blocks for node b: number i's are at place i, in the order of their receivers.
    for (std::uint32_t s = 1; s < nodes; ++s) {
        for (std::uint32_t a = 0; a < nodes; ++a) {
            const std::uint32_t b = (a + s) % nodes, sender = rank(a, b % g), receiver = rank(b, a % g);
            const std::uint32_t at = b / g * g * g * k, there = a / g * g * g * k;
            for (std::uint32_t i = 0; i < g; ++i) {
                (void)p.chunk(rank(a, i), kInput, rank(b, 0) * k, g * k)
                    .copy(sender, out, at + i * g * k, {.channel = 0});
            }
            (void)p.chunk(sender, out, at, g * g * k).copy(receiver, in, there, {.channel = 1});
            for (std::uint32_t i = 0; i < g; ++i) {
                for (std::uint32_t j = 0; j < g; ++j) {
                    (void)p.chunk(receiver, in, there + (i * g + j) * k, k)
                        .copy(rank(b, j), kOutput, rank(a, i) * k, {.channel = 2});
                }
            }
        }
    }
}

}  // namespace

Algorithm three_step_all_to_all() {
    return {.name = "three-step-all-to-all",
            .about = "one message for each pair of nodes: collected inside, sent, handed out",
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
            .write = write_three_step_all_to_all};
}

}  // namespace tutti::lang::library
