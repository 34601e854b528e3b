// One step: everybody sends everything to everybody, and adds up all it gets. One latency, n times the data:
// for the smallest sizes. Source: Cowan et al., MSCCLang, ASPLOS 2023; NCCL calls it one-shot.

#include "lang/library/algorithms.hpp"

namespace tutti::lang::library {
namespace {

void write_one_step(Program& p, const Settings& /*settings*/) {
    const std::uint32_t n = p.ranks(), k = p.shape().chunks;
    const std::uint32_t scratch = p.scratch("scratch");
    for (std::uint32_t r = 0; r < n; ++r) {
        for (std::uint32_t s = 1; s < n; ++s) {
            const std::uint32_t to = (r + s) % n;
            (void)p.chunk(r, kInput, 0, k).copy(to, scratch, (n - s - 1) * k);
        }
    }
    for (std::uint32_t r = 0; r < n; ++r) {
        Ref sum = writable(p, r, 0, k);
        for (std::uint32_t s = 1; s < n; ++s) sum = sum.reduce(p.chunk(r, scratch, (s - 1) * k, k));
    }
}

}  // namespace

Algorithm one_step() {
    return {.name = "one-step",
            .about = "everybody sends everything to everybody: one latency",
            .source = "Cowan et al. (MSCCLang), ASPLOS 2023",
            .kinds = {CollectiveKind::AllReduce},
            .parameters = {{"chunks", "chunks of the buffer, sent in one step", 1, 1, 64}},
            .why_not = [](const Settings&) { return std::string(); },
            .chunks = [](const Settings& settings) { return settings["chunks"]; },
            .write = write_one_step};
}

}  // namespace tutti::lang::library
