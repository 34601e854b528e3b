#include "lang/shape.hpp"

#include "core/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::lang {
namespace {

using Kind = CollectiveKind;

/// Buffers that hold a share of every rank.
bool gathers(Kind kind) { return kind == Kind::AllGather || kind == Kind::Gather; }
bool scatters(Kind kind) { return kind == Kind::ReduceScatter || kind == Kind::Scatter; }

plan::Contribution of(std::uint32_t rank, std::uint32_t chunk) { return {Rank(rank), chunk}; }

}  // namespace

void check(const Shape& shape) {
    constexpr std::uint32_t kMostRanks = 1 << 20;
    if (shape.ranks == 0 || shape.ranks > kMostRanks) {
        throw InputError(fmt::format("expected 1 to {} ranks, found {}", kMostRanks, shape.ranks));
    }
    if (shape.kind != Kind::Custom && shape.chunks == 0) {
        throw InputError("expected at least one chunk per rank");
    }
    const auto places = [&](std::uint64_t chunks) { return std::uint64_t{shape.ranks} * chunks; };
    const std::uint64_t largest = shape.kind == Kind::Custom
                                      ? std::uint64_t{shape.custom_inputs} + shape.custom_outputs
                                      : 2 * places(shape.chunks);
    if (places(largest) > kMostPlaces) {
        throw InputError(fmt::format("the buffers of all ranks have {} chunks; programs have at most {}",
                                     places(largest), kMostPlaces));
    }
    if (shape.kind == Kind::Custom && shape.in_place && shape.custom_inputs != shape.custom_outputs) {
        throw InputError(
            fmt::format("in place the buffers of a custom collective are one; found {} inputs, {} outputs",
                        shape.custom_inputs, shape.custom_outputs));
    }
    if (has_root(shape.kind) != shape.root.has_value()) {
        throw InputError(
            fmt::format("{} {} a root", name_of(shape.kind), has_root(shape.kind) ? "needs" : "has not"));
    }
    if (shape.root && shape.root->value() >= shape.ranks) {
        throw InputError(fmt::format("the root {} is none of {} ranks", shape.root->value(), shape.ranks));
    }
    switch (shape.kind) {
        case Kind::AllToAllV:
        case Kind::Permute:
        case Kind::SendRecv:
            throw InputError(
                fmt::format("programs know no {}; expected a custom collective", name_of(shape.kind)));
        default:
            break;
    }
}

std::uint32_t input_chunks(const Shape& shape) {
    if (shape.kind == Kind::Custom) return shape.custom_inputs;
    const bool all = scatters(shape.kind) || shape.kind == Kind::AllToAll;
    return all ? shape.ranks * shape.chunks : shape.chunks;
}

std::uint32_t output_chunks(const Shape& shape) {
    if (shape.kind == Kind::Custom) return shape.custom_outputs;
    const bool all = gathers(shape.kind) || shape.kind == Kind::AllToAll;
    return all ? shape.ranks * shape.chunks : shape.chunks;
}

std::uint32_t chunks_of(const Shape& shape, std::uint32_t rank, std::uint32_t buffer) {
    const Kind of_root = buffer == kInput ? Kind::Scatter : Kind::Gather;
    if (shape.kind == of_root && Rank(rank) != shape.root) return 0;
    return buffer == kInput ? input_chunks(shape) : output_chunks(shape);
}

Slot resolved(const Shape& shape, Slot slot) {
    if (!shape.in_place || slot.buffer >= kFirstScratch) return slot;
    const bool rooted = shape.kind == Kind::Gather || shape.kind == Kind::Scatter;
    if (rooted && Rank(slot.rank) != shape.root) return slot;
    const std::uint32_t share = slot.rank * shape.chunks;
    if (gathers(shape.kind)) {
        if (slot.buffer == kInput) return {slot.rank, kOutput, slot.index + share};
    } else if (slot.buffer == kOutput) {
        return {slot.rank, kInput, slot.index + (scatters(shape.kind) ? share : 0)};
    }
    return slot;
}

std::vector<Initial> initial_values(const Shape& shape) {
    std::vector<Initial> values;
    for_each_initial(shape, [&](const Initial& initial) { values.push_back(initial); });
    return values;
}

std::vector<Wanted> wanted_values(const Shape& shape, std::uint32_t rank) {
    std::vector<Wanted> all;
    const std::uint32_t k = shape.chunks;
    const std::uint32_t root = shape.root ? shape.root->value() : 0;
    for (std::uint32_t i = 0; i < output_chunks(shape); ++i) {
        const Slot slot = resolved(shape, {rank, kOutput, i});
        switch (shape.kind) {
            case Kind::AllReduce:
                all.push_back({slot, true, of(0, i)});
                break;
            case Kind::ReduceScatter:
                all.push_back({slot, true, of(0, rank * k + i)});
                break;
            case Kind::Reduce:
                if (rank == root) all.push_back({slot, true, of(0, i)});
                break;
            case Kind::Broadcast:
                all.push_back({slot, false, of(root, i)});
                break;
            case Kind::Scatter:
                all.push_back({slot, false, of(root, rank * k + i)});
                break;
            case Kind::Gather:
                if (rank == root) all.push_back({slot, false, of(i / k, i % k)});
                break;
            case Kind::AllGather:
                all.push_back({slot, false, of(i / k, i % k)});
                break;
            case Kind::AllToAll:
                all.push_back({slot, false, of(i / k, rank * k + i % k)});
                break;
            case Kind::AllToNext:
                if (rank > 0) all.push_back({slot, false, of(rank - 1, i)});
                break;
            default:
                break;
        }
    }
    return all;
}

std::vector<plan::Contribution> contributions(const Shape& shape, const Wanted& wanted) {
    if (!wanted.sum) return {wanted.value};
    std::vector<plan::Contribution> all;
    for (std::uint32_t r = 0; r < shape.ranks; ++r) all.push_back({Rank(r), wanted.value.chunk});
    return all;
}

}  // namespace tutti::lang
