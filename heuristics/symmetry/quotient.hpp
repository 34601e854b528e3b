#pragma once

#include "core/instance.hpp"
#include "core/rng.hpp"
#include "core/search_options.hpp"
#include "core/stop.hpp"
#include "symmetry/symmetric_schedule.hpp"

#include <optional>
#include <string>

namespace tutti::heuristics {

/// A schedule in generator form for an instance on a network of NPUs with symmetries
/// (symmetry/symmetry_search), synthesised for one chunk of each orbit. For all-gather, reduce-scatter and
/// all-reduce of all NPUs, and for chunks with one holder and one receiver each whose demands are as
/// symmetric as the network (all-to-all); chunks of one size, one release, any NPU as relay. Ends early at a
/// makespan of `target`, which no schedule can beat. `effort` is about the number of transfers that may be
/// tried in total; the default takes about 5 ms at 128 NPUs, each 10^6 cost a third of a second. None: there
/// is no symmetry, a part of the instance is not of that form, or stopped before there was a schedule. The
/// same rng gives the same schedule, unless stopped.
[[nodiscard]] std::optional<symmetry::SymmetricSchedule> quotient_synthesis(
    const Instance& instance, Ticks target, Rng& rng, const Stop& stop,
    std::uint64_t effort = SearchOptions{}.symmetry_effort);

/// Why quotient_synthesis has no schedule for the instance, as a message, as far as known without a search;
/// empty if it may.
[[nodiscard]] std::string why_no_symmetry(const Instance& instance);

/// The same for all-reduces along trees of sums, one of each orbit, so without a reduce-scatter before an
/// all-gather. `effort` is about the number of messages that may be tried in total.
[[nodiscard]] std::optional<symmetry::SymmetricSchedule> symmetric_trees(const Instance& instance,
                                                                         Ticks target, Rng& rng,
                                                                         const Stop& stop,
                                                                         std::uint64_t effort);

/// Why symmetric_trees has none; empty if it may.
[[nodiscard]] std::string why_no_symmetric_trees(const Instance& instance);

}  // namespace tutti::heuristics
