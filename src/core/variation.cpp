#include "core/variation.hpp"

#include "core/call.hpp"
#include "core/error.hpp"

#include <fmt/format.h>

namespace tutti {
namespace {

void set_chunks(Collective& collective, std::uint64_t chunks) {
    using enum CollectiveKind;
    if (collective.kind == AllToAllV || collective.kind == Custom) {
        throw InputError(fmt::format("{} has no 'chunks', so that it cannot be set to {}",
                                     name_of(collective.kind), chunks));
    }
    collective.chunks = chunks;
}

void set_bytes(Collective& collective, std::size_t ranks, Bytes bytes) {
    const auto chunks = chunks_of_call(collective, ranks);
    if (!chunks) {
        throw InputError(
            fmt::format("custom demands are no call, so that it cannot be one of {} bytes", bytes.count));
    }
    // An empty group is Instance's to refuse.
    if (*chunks > 0) collective.chunk_bytes = chunk_bytes(bytes, *chunks);
}

}  // namespace

void vary(InstanceParts& parts, const Variation& variation) {
    if (variation.bytes && parts.topology.units() == Units::Abstract) {
        throw InputError(
            fmt::format("calls of {} bytes are asked for, but in abstract units (alpha, beta) sizes do not "
                        "matter; give the links latencies and bandwidths",
                        variation.bytes->count),
            "/topology");
    }
    for (std::size_t i = 0; i < parts.collectives.size(); ++i) {
        Collective& collective = parts.collectives[i];
        const std::size_t group = collective.group.index();
        const std::size_t ranks = group < parts.groups.size() ? parts.groups[group].members.size() : 0;
        try {
            if (variation.chunks) set_chunks(collective, *variation.chunks);
            if (variation.bytes) set_bytes(collective, ranks, *variation.bytes);
        } catch (const InputError& error) {
            throw error.at(fmt::format("/collectives/{}", i));
        }
    }
}

}  // namespace tutti
