#pragma once

#include "core/collective.hpp"
#include "plan/condition.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti::lang {

/// The number of a buffer of every rank: input, output, then scratch buffers as they are named.
inline constexpr std::uint32_t kInput = 0, kOutput = 1, kFirstScratch = 2;

/// Chunks of all buffers of all ranks together.
inline constexpr std::uint64_t kMostPlaces = std::uint64_t{1} << 25;

/// A chunk's place.
struct Slot {
    std::uint32_t rank = 0, buffer = kInput, index = 0;
    friend auto operator<=>(const Slot&, const Slot&) = default;
};

/// What lies in a place at first; only custom collectives say so one by one.
struct Initial {
    Slot slot{};
    plan::Contribution value{};
    friend bool operator==(const Initial&, const Initial&) = default;
};

/// The buffers of a collective over ranks 0 … ranks - 1, k = `chunks`:
///
/// | kind                      | input | output | in place                           |
/// | all_reduce                | k     | k      | output i is input i                |
/// | broadcast, reduce         | k     | k      | output i is input i                |
/// | all_to_next               | k     | k      | output i is input i                |
/// | all_gather, gather        | k     | n k    | input i of rank r is output r k + i |
/// | reduce_scatter, scatter   | n k   | k      | output i of rank r is input r k + i |
/// | all_to_all                | n k   | n k    | output i is input i                |
/// | custom                    | as `initial` and the verbs say | | output i is input i |
///
/// Of gather only the root has an output, of scatter only the root an input; they are in place at the root.
struct Shape {
    CollectiveKind kind = CollectiveKind::AllReduce;
    std::uint32_t ranks = 0;
    std::uint32_t chunks = 1;
    bool in_place = false;
    std::optional<Rank> root{};      ///< broadcast, reduce, gather, scatter
    std::vector<Initial> initial{};  ///< custom
    /// Custom: the sizes of the input and output of every rank.
    std::uint32_t custom_inputs = 0, custom_outputs = 0;
    friend bool operator==(const Shape&, const Shape&) = default;
};

[[nodiscard]] std::uint32_t input_chunks(const Shape& shape);
[[nodiscard]] std::uint32_t output_chunks(const Shape& shape);
/// Chunks of the user's buffer, input or output, of that rank.
[[nodiscard]] std::uint32_t chunks_of(const Shape& shape, std::uint32_t rank, std::uint32_t buffer);
/// The one name of a place that has two in place; other places as they are.
[[nodiscard]] Slot resolved(const Shape& shape, Slot slot);
/// What is in the buffers at first, by resolved places: calls visit(initial) for each, which the shape need
/// not name.
template <class Visit>
void for_each_initial(const Shape& shape, Visit visit) {
    if (shape.kind == CollectiveKind::Custom) {
        for (const Initial& initial : shape.initial)
            visit(Initial{resolved(shape, initial.slot), initial.value});
        return;
    }
    const bool root_only = shape.kind == CollectiveKind::Broadcast || shape.kind == CollectiveKind::Scatter;
    for (std::uint32_t r = 0; r < shape.ranks; ++r) {
        if (root_only && Rank(r) != shape.root) continue;
        for (std::uint32_t c = 0; c < input_chunks(shape); ++c)
            visit(Initial{resolved(shape, {r, kInput, c}), {Rank(r), c}});
    }
}
/// The same as a list.
[[nodiscard]] std::vector<Initial> initial_values(const Shape& shape);

/// A place that must hold something at the end: one contribution, or the sum of one chunk of all ranks.
struct Wanted {
    Slot slot{};  ///< resolved
    bool sum = false;
    plan::Contribution value{};  ///< of a sum only its chunk counts
};
/// What that rank must have at the end; nothing for a custom collective, which says nothing.
[[nodiscard]] std::vector<Wanted> wanted_values(const Shape& shape, std::uint32_t rank);
/// The same written out.
[[nodiscard]] std::vector<plan::Contribution> contributions(const Shape& shape, const Wanted& wanted);

/// Throws InputError where the shape makes no sense: no ranks, a root that is none.
void check(const Shape& shape);

}  // namespace tutti::lang
