// All pairs inside nodes and across them. Each rank sums up one share of its node, which all of the node send
// it; sends that sum to the ranks of its number in all other nodes, and adds theirs, all at the same time as
// they do; and sends the result to all of its node. Three latencies, of which one is the network's, where a
// hierarchical all-reduce of the same data has four, two of them the network's; each network card sends
// (nodes - 1) times a rank's share, which is more than a reduce-scatter and an all-gather would as soon as
// there are three nodes. For two nodes there is nothing better for small and middle sizes.
// Source: allreduce_a100_multinode_allpairs of Cowan et al., MSCCLang, ASPLOS 2023, there for two nodes.

#include "lang/library/algorithms.hpp"

#include <fmt/format.h>

namespace tutti::lang::library {
namespace {

struct Nodes {
    std::uint32_t gpus, nodes, share;
    [[nodiscard]] std::uint32_t rank(std::uint32_t node, std::uint32_t gpu) const {
        return node * gpus + gpu;
    }
    [[nodiscard]] std::uint32_t first(std::uint32_t gpu) const { return gpu * share; }
};

/// Adds up what has come into scratch, `parts` shares.
void add_up(Program& p, const Nodes& of, std::uint32_t rank, std::uint32_t scratch, std::uint32_t parts) {
    Ref sum = writable(p, rank, of.first(rank % of.gpus), of.share);
    for (std::uint32_t i = 0; i < parts; ++i)
        sum = sum.reduce(p.chunk(rank, scratch, i * of.share, of.share));
}

void sum_in_nodes(Program& p, const Nodes& of) {
    const std::uint32_t scratch = p.scratch("node");
    for (std::uint32_t rank = 0; rank < p.ranks(); ++rank) {
        const std::uint32_t node = rank / of.gpus, gpu = rank % of.gpus;
        for (std::uint32_t s = 1; s < of.gpus; ++s) {
            const std::uint32_t from = of.rank(node, (gpu + s) % of.gpus);
            (void)p.chunk(from, kInput, of.first(gpu), of.share).copy(rank, scratch, (s - 1) * of.share);
        }
    }
    for (std::uint32_t rank = 0; rank < p.ranks(); ++rank) add_up(p, of, rank, scratch, of.gpus - 1);
}

void sum_across(Program& p, const Nodes& of) {
    const std::uint32_t scratch = p.scratch("network");
    for (std::uint32_t rank = 0; rank < p.ranks(); ++rank) {
        const std::uint32_t node = rank / of.gpus, gpu = rank % of.gpus;
        for (std::uint32_t s = 1; s < of.nodes; ++s) {
            const std::uint32_t from = of.rank((node + s) % of.nodes, gpu);
            (void)p.chunk(from, work_buffer(p), of.first(gpu), of.share)
                .copy(rank, scratch, (s - 1) * of.share);
        }
    }
    for (std::uint32_t rank = 0; rank < p.ranks(); ++rank) add_up(p, of, rank, scratch, of.nodes - 1);
}

void write_multi_node_all_pairs(Program& p, const Settings& settings) {
    const std::uint32_t gpus = settings["gpus"];
    const Nodes of{gpus, p.ranks() / gpus, p.shape().chunks / gpus};
    sum_in_nodes(p, of);
    sum_across(p, of);
    for (std::uint32_t rank = 0; rank < p.ranks(); ++rank) {
        const std::uint32_t node = rank / gpus, gpu = rank % gpus;
        for (std::uint32_t s = 1; s < gpus; ++s) {
            (void)p.chunk(rank, kOutput, of.first(gpu), of.share)
                .copy(of.rank(node, (gpu + s) % gpus), kOutput, of.first(gpu));
        }
    }
}

}  // namespace

Algorithm multi_node_all_pairs() {
    return {.name = "multi-node-all-pairs",
            .about = "all pairs in a node, across nodes, in the node: three latencies, one of the network",
            .source = "Cowan et al. (MSCCLang), ASPLOS 2023",
            .kinds = {CollectiveKind::AllReduce},
            .parameters = {{"gpus", "ranks of a node, which are neighbours", 8, 1, 1024, Knob::Divisors},
                           {"chunks", "chunks of a rank's share, sent in one step", 1, 1, 64}},
            .why_not =
                [](const Settings& settings) {
                    const std::uint32_t ranks = settings.request.ranks, gpus = settings["gpus"];
                    return ranks % gpus == 0
                               ? std::string()
                               : fmt::format("{} ranks are no nodes of {} (parameter gpus)", ranks, gpus);
                },
            .chunks = [](const Settings& settings) { return settings["gpus"] * settings["chunks"]; },
            .write = write_multi_node_all_pairs};
}

}  // namespace tutti::lang::library
