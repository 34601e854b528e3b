#pragma once

#include "bounds/traffic.hpp"
#include "core/bound.hpp"

namespace tutti::bounds {

/// One function per family of bounds, each in a file of that name. docs/bounds.md has their formulas. All are
/// bounded in their work and heed the stop; what was not looked at makes a bound smaller, never wrong.
/// Precondition of all: every receiver can be reached.

/// The slowest of the fastest paths. O(different holder sets * links log nodes).
[[nodiscard]] Bound latency(Traffic& traffic, const Stop& stop);

/// What must pass through the links of one NPU.
/// O(NPUs * their links * chunk classes that pass) after the distances.
[[nodiscard]] Bound ingress(Traffic& traffic, const Stop& stop);
[[nodiscard]] Bound egress(Traffic& traffic, const Stop& stop);

/// What must pass from any set of nodes to the others: every set where there are at most 16 nodes, else sets
/// found by maximum flows and by sweeps.
[[nodiscard]] Bound cut(Traffic& traffic, const Stop& stop);

/// The heaviest of the regular cuts, where every chunk goes from one NPU to one other and it promises to
/// prove clearly more than `above`; else 0. O(sets * links + chunk classes).
[[nodiscard]] Bound block_cuts(Traffic& traffic, Ticks above, const Stop& stop);

/// What must still happen behind the border of a part once the last chunks have crossed it; 0 where no parts
/// show. O(parts looked at * (links * paces log nodes + ticks * ports log T)).
[[nodiscard]] Bound wave(Traffic& traffic, const Stop& stop);

/// All transfers against all links. O(chunk classes * receivers + different holder sets * links).
[[nodiscard]] Bound volume(Traffic& traffic, const Stop& stop);

/// The dual of a multicommodity flow, by multiplicative weights. O(phases * different holder sets * links log
/// nodes).
[[nodiscard]] Bound lengths(Traffic& traffic, const Stop& stop);

/// As lengths, but every chunk pays for all messages that it needs; none where a round would take too long.
/// O(rounds * NPUs * (links * paces log nodes + NPUs)).
[[nodiscard]] std::optional<Bound> trees(Traffic& traffic, const Stop& stop);

/// How fast what one NPU alone has (or wants) can be in many places; none where that would take too long.
/// O(partitions * NPUs * links * paces log nodes).
[[nodiscard]] std::optional<Bound> growth(Traffic& traffic, const Stop& stop);

/// Start, way and time left of all chunks from one NPU to one other; none where that would take too long.
/// O(sending NPUs * links * paces log nodes + chunks log links).
[[nodiscard]] std::optional<Bound> sum_of_times(Traffic& traffic, const Stop& stop);

/// How many contributions messages can carry by when; none where that would take too long.
/// O(NPUs * links * paces log nodes).
[[nodiscard]] std::optional<Bound> contributions(Traffic& traffic, const Stop& stop);

/// Whom sends into a set can join by when: the given sets and the parts that show; none where that would take
/// too long. O(NPUs * links * paces log nodes).
[[nodiscard]] std::optional<Bound> pairs(Traffic& traffic, std::vector<std::vector<bool>> sets,
                                         const Stop& stop);

/// How often sums must leave parts of a network without switches; none where that would take too long.
/// O(ends of links between parts * links log nodes).
[[nodiscard]] std::optional<Bound> exits(const Traffic& traffic, const Stop& stop);

/// What must start at sources in time, against the last messages to sinks; none where that would take too
/// long. O(NPUs * links * paces log nodes + sums * NPUs * holders).
[[nodiscard]] std::optional<Bound> deadlines(const Traffic& traffic, const Stop& stop);

/// The room of every link for any chunk at all (docs/bounds.md, "The room of all links together").
[[nodiscard]] std::vector<struct LinkWindow> rooms_of_all_links(const Traffic& traffic);

}  // namespace tutti::bounds
