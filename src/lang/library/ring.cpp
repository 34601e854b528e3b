// A ring: chunk c starts at rank c, is summed up around the ring, and then travels around it once more.
// Bandwidth-optimal on any network that has the ring, with 2 (n - 1) messages one after the other.
// Source: Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, JPDC
// 2009.
//
// With several channels the chunks take turns on them; with two directions every second one goes the other
// way round, so that both directions of a link work.

#include "lang/library/algorithms.hpp"

namespace tutti::lang::library {
namespace {

using Kind = CollectiveKind;

/// The ring as chunk number c sees it: position 0 is where it starts.
struct Way {
    std::uint32_t ranks, start;
    bool backwards;
    [[nodiscard]] std::uint32_t rank(std::uint32_t position) const {
        const std::uint32_t step = position % ranks;
        return (start + (backwards ? ranks - step : step)) % ranks;
    }
};

std::uint32_t rings(const Settings& settings) { return settings["channels"] * settings["directions"]; }

std::uint32_t ring_chunks(const Settings& settings) {
    return rings(settings) * (settings.request.kind == Kind::AllReduce ? settings.request.ranks : 1);
}

void ring_all_reduce(Program& p, const Settings& settings) {
    const std::uint32_t n = p.ranks(), all = p.shape().chunks;
    for (std::uint32_t c = 0; c < all; ++c) {
        const std::uint32_t lane = c / n;
        const Way way{n, c % n, settings["directions"] == 2 && lane % 2 == 1};
        const Directive on{.channel = static_cast<std::int32_t>(lane)};
        Ref x = p.chunk(way.rank(0), kInput, c);
        for (std::uint32_t s = 1; s < n; ++s) x = writable(p, way.rank(s), c).reduce(x, on);
        for (std::uint32_t s = n; s < 2 * n - 1; ++s) x = x.copy(way.rank(s), kOutput, c, on);
    }
}

void ring_all_gather(Program& p, const Settings& settings) {
    const std::uint32_t n = p.ranks(), k = p.shape().chunks;
    keep_own_share(p);
    for (std::uint32_t r = 0; r < n; ++r) {
        for (std::uint32_t i = 0; i < k; ++i) {
            const Way way{n, r, settings["directions"] == 2 && i % 2 == 1};
            Ref x = p.chunk(r, kOutput, r * k + i);
            for (std::uint32_t s = 1; s < n; ++s) {
                x = x.copy(way.rank(s), kOutput, r * k + i, {.channel = static_cast<std::int32_t>(i)});
            }
        }
    }
}

void ring_reduce_scatter(Program& p, const Settings& settings) {
    const std::uint32_t n = p.ranks(), k = p.shape().chunks;
    for (std::uint32_t r = 0; r < n; ++r) {
        for (std::uint32_t i = 0; i < k; ++i) {
            // It ends at rank r, so it starts behind it.
            const bool backwards = settings["directions"] == 2 && i % 2 == 1;
            const Way way{n, (r + (backwards ? n - 1 : 1)) % n, backwards};
            Ref x = p.chunk(way.rank(0), kInput, r * k + i);
            for (std::uint32_t s = 1; s < n; ++s) {
                x = writable(p, way.rank(s), r * k + i).reduce(x, {.channel = static_cast<std::int32_t>(i)});
            }
            (void)x.copy(r, kOutput, i);
        }
    }
}

void ring_broadcast(Program& p, const Settings& settings) {
    const std::uint32_t n = p.ranks(), root = settings.request.root;
    for (std::uint32_t i = 0; i < p.shape().chunks; ++i) {
        const Way way{n, root, settings["directions"] == 2 && i % 2 == 1};
        Ref x = p.chunk(root, kInput, i).copy(root, kOutput, i);
        for (std::uint32_t s = 1; s < n; ++s) {
            x = x.copy(way.rank(s), kOutput, i, {.channel = static_cast<std::int32_t>(i)});
        }
    }
}

void ring_reduce(Program& p, const Settings& settings) {
    const std::uint32_t n = p.ranks(), root = settings.request.root;
    for (std::uint32_t i = 0; i < p.shape().chunks; ++i) {
        const bool backwards = settings["directions"] == 2 && i % 2 == 1;
        const Way way{n, (root + (backwards ? n - 1 : 1)) % n, backwards};
        Ref x = p.chunk(way.rank(0), kInput, i);
        for (std::uint32_t s = 1; s < n; ++s) {
            x = writable(p, way.rank(s), i).reduce(x, {.channel = static_cast<std::int32_t>(i)});
        }
        (void)x.copy(root, kOutput, i);
    }
}

void write_ring(Program& p, const Settings& settings) {
    switch (settings.request.kind) {
        case Kind::AllReduce:
            return ring_all_reduce(p, settings);
        case Kind::AllGather:
            return ring_all_gather(p, settings);
        case Kind::ReduceScatter:
            return ring_reduce_scatter(p, settings);
        case Kind::Broadcast:
            return ring_broadcast(p, settings);
        default:
            return ring_reduce(p, settings);
    }
}

}  // namespace

Algorithm ring() {
    return {
        .name = "ring",
        .about = "around a ring of all ranks, each chunk from another one on",
        .source = "Patarasuk, Yuan, JPDC 2009",
        .kinds = {Kind::AllReduce, Kind::AllGather, Kind::ReduceScatter, Kind::Broadcast, Kind::Reduce},
        .parameters = {{"channels", "how many rings work at the same time", 1, 1, 32},
                       {"directions", "2: every second ring goes the other way round", 1, 1, 2, Knob::Any}},
        .why_not = [](const Settings& settings) -> std::string {
            return rings(settings) > 32 ? "more than 32 channels" : "";
        },
        .chunks = ring_chunks,
        .write = write_ring};
}

}  // namespace tutti::lang::library
