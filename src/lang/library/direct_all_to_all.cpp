// Everybody sends every other its block, in n - 1 shifts so that nobody is sent two at once: rank r sends to
// r + 1, then to r + 2, and so on. Source: Thakur, Rabenseifner and Gropp, IJHPCA 2005, section 3.4.

#include "lang/library/algorithms.hpp"

namespace tutti::lang::library {
namespace {

void write_direct_all_to_all(Program& p, const Settings& /*settings*/) {
    const std::uint32_t n = p.ranks(), k = p.shape().chunks;
    for (std::uint32_t s = 0; s < n; ++s) {
        for (std::uint32_t r = 0; r < n; ++r) {
            const std::uint32_t to = (r + s) % n;
            (void)p.chunk(r, kInput, to * k, k).copy(to, kOutput, r * k);
        }
    }
}

}  // namespace

Algorithm direct_all_to_all() {
    return {.name = "direct-all-to-all",
            .about = "everybody sends every other its block, shift by shift",
            .source = "Thakur, Rabenseifner, Gropp, IJHPCA 2005",
            .kinds = {CollectiveKind::AllToAll},
            .parameters = {{"chunks", "chunks of a block, sent in one step", 1, 1, 64}},
            .why_not = [](const Settings& settings) -> std::string {
                return *settings.request.in_place
                           ? "in place, blocks would be overwritten before they are sent"
                           : "";
            },
            .chunks = [](const Settings& settings) { return settings["chunks"]; },
            .write = write_direct_all_to_all};
}

}  // namespace tutti::lang::library
