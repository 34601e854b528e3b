// Every rank sends its data to the next one. Between nodes the last rank of a node first spreads its data
// over its node, so that all network cards carry a part, and the ranks of the next node hand their parts to
// its first. Backward the ranks change places with those as far from the other end, so each sends to the one
// before; runtimes have no name for that, so it is a custom collective. Source: Cowan et al., MSCCLang,
// ASPLOS 2023, section 7.4 (AllToNext).

#include "lang/library/algorithms.hpp"

#include <fmt/format.h>

namespace tutti::lang::library {
namespace {

void write_chain_to_next(Program& p, const Settings& settings) {
    const std::uint32_t n = p.ranks(), g = settings["gpus"];
    const std::uint32_t k = p.shape().chunks;
    const std::uint32_t out = p.scratch("out"), in = p.scratch("in");
    const auto rank = [&](std::uint32_t r) { return settings["backward"] == 0 ? r : n - 1 - r; };
    for (std::uint32_t r = 0; r + 1 < n; ++r) {
        if ((r + 1) % g != 0) {
            (void)p.chunk(rank(r), kInput, 0, k).copy(rank(r + 1), kOutput, 0);
            continue;
        }
        const std::uint32_t here = r + 1 - g, there = r + 1;
        for (std::uint32_t i = 0; i < k; ++i) {
            Ref part = p.chunk(rank(r), kInput, i);
            const std::uint32_t from = here + i % g, to = there + i % g;
            if (from != r) part = part.copy(rank(from), out, i);
            if (to == there || to >= n) {
                (void)part.copy(rank(there), kOutput, i);
            } else {
                (void)part.copy(rank(to), in, i).copy(rank(there), kOutput, i);
            }
        }
    }
}

void make_custom(Shape& shape, const Settings& settings) {
    if (settings["backward"] == 0) return;
    shape.kind = CollectiveKind::Custom;
    shape.custom_inputs = shape.custom_outputs = shape.chunks;
    for (std::uint32_t r = 0; r < shape.ranks; ++r) {
        for (std::uint32_t i = 0; i < shape.chunks; ++i) {
            shape.initial.push_back({{r, kInput, i}, {Rank(r), std::int64_t{i}}});
        }
    }
}

}  // namespace

Algorithm chain_to_next() {
    return {.name = "chain-to-next",
            .about = "every rank sends to the next; between nodes over all network cards",
            .source = "Cowan et al. (MSCCLang), ASPLOS 2023",
            .kinds = {CollectiveKind::AllToNext},
            .parameters = {{"backward", "1: every rank sends to the one before", 0, 0, 1, Knob::None},
                           {"gpus", "ranks of a node, which are neighbours", 8, 1, 1024, Knob::Divisors}},
            .why_not = [](const Settings& settings) -> std::string {
                return *settings.request.in_place ? "in place, data would be overwritten before it is sent"
                                                  : "";
            },
            .chunks = [](const Settings& settings) { return settings["gpus"]; },
            .write = write_chain_to_next,
            .reshape = make_custom};
}

}  // namespace tutti::lang::library
