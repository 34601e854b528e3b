// Chains through both sockets of a machine: each half of the ranks sums up along a chain towards the border
// between the sockets, the two ranks there exchange their sums, and the result goes back along the chains. So
// each chunk crosses the slow link between the sockets once in each direction. Chunks follow each other. With
// several chains, the ranks at the border differ, which spreads the work.
// Source: Cowan et al., MSCCLang, ASPLOS 2023, whose examples have chains for machines of two sockets; the
// pipeline is that of Patarasuk and Yuan, JPDC 2009, cut open.

#include "lang/library/algorithms.hpp"

namespace tutti::lang::library {
namespace {

/// The ranks of a socket as a chain whose last one is at the border.
std::vector<std::uint32_t> chain_of(std::uint32_t first, std::uint32_t size, std::uint32_t turn) {
    std::vector<std::uint32_t> chain;
    for (std::uint32_t i = 0; i < size; ++i) chain.push_back(first + (i + turn) % size);
    return chain;
}

void write_two_socket_chains(Program& p, const Settings& settings) {
    const std::uint32_t n = p.ranks(), half = n / 2, chains = settings["chains"];
    const std::uint32_t park = p.scratch("scratch");
    for (std::uint32_t i = 0; i < p.shape().chunks; ++i) {
        const std::uint32_t number = i % chains;
        const Directive inside{.channel = static_cast<std::int32_t>(3 * number)};
        const Directive across{.channel = static_cast<std::int32_t>(3 * number + 1)};
        const Directive back{.channel = static_cast<std::int32_t>(3 * number + 2)};
        const std::vector<std::uint32_t> chain[2] = {chain_of(0, half, number),
                                                     chain_of(half, n - half, number)};
        for (const auto& ranks : chain) {
            Ref sum = writable(p, ranks.front(), i);
            for (std::size_t s = 1; s < ranks.size(); ++s) sum = writable(p, ranks[s], i).reduce(sum, inside);
        }
        const std::uint32_t a = chain[0].back(), b = chain[1].back();
        // Both sums are sent before either changes.
        (void)p.chunk(a, kOutput, i).copy(b, park, i, across);
        (void)p.chunk(b, kOutput, i).copy(a, park, i, across);
        for (const std::uint32_t end : {a, b}) (void)p.chunk(end, kOutput, i).reduce(p.chunk(end, park, i));
        for (const auto& ranks : chain) {
            Ref sum = p.chunk(ranks.back(), kOutput, i);
            for (std::size_t s = ranks.size() - 1; s-- > 0;) sum = sum.copy(ranks[s], kOutput, i, back);
        }
    }
}

}  // namespace

Algorithm two_socket_chains() {
    return {.name = "two-socket-chains",
            .about = "a chain in each half of the ranks; their ends exchange the sums of the halves",
            .source = "Cowan et al. (MSCCLang), ASPLOS 2023",
            .kinds = {CollectiveKind::AllReduce},
            .parameters = {{"chunks", "chunks that follow each other in each chain", 1, 1, 64},
                           {"chains", "chains at the same time, with other ranks at the border", 1, 1, 10}},
            .why_not = [](const Settings& settings) -> std::string {
                return settings["chains"] > settings.request.ranks / 2 ? "more chains than ranks of a socket"
                                                                       : "";
            },
            .chunks = [](const Settings& settings) { return settings["chunks"] * settings["chains"]; },
            .write = write_two_socket_chains};
}

}  // namespace tutti::lang::library
