#pragma once

#include "models/encode/question.hpp"

#include "core/schedule.hpp"

#include <optional>

namespace tutti::models {

/// "Can one of the equal chunks of an all-reduce be reduced alone, with its share of the links?": a
/// relaxation of "is there a schedule of makespan <= horizon?", A1… of models/README.md.
struct AloneQuestion {
    Program program;
    std::int64_t share = 0;  ///< so many transfers at most
    bool stopped = false;    ///< the stop came while it was written
    bool too_large = false;  ///< the program grew beyond Asked::most_size
};

/// Between which holders and receivers paths are asked for: with fewer pairs it is asked sooner, and proves
/// less. Farthest: with the links that every such chunk needs, which says much of what nearer pairs say.
enum class AlonePairs { Farthest, Few, Many };

/// None where the question does not arise: no two chunks are equal reductions with several receivers, or a
/// link has room for any number of transfers. Size O(pairs of holder and receiver * links * times).
[[nodiscard]] std::optional<AloneQuestion> alone(const Routing& routing, const Asked& asked,
                                                 AlonePairs pairs);

/// Whether some chunk of the schedule answers the question with yes: alone, started as early as possible, it
/// is done by the horizon with no more transfers than its share. O(chunks * sends of a chunk squared).
[[nodiscard]] bool fits_alone(const Routing& routing, const Schedule& schedule, Units64 horizon);

}  // namespace tutti::models
