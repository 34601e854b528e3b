#pragma once

#include "core/schedule.hpp"
#include "report/bound_view.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tutti::report {

/// A schedule, with all that a picture of it is made from.
struct Subject {
    const Instance& instance;
    Ticks makespan;                                       ///< as verified
    std::function<std::unique_ptr<SendSource>()> replay;  ///< its sends from the beginning, as often as asked
    const std::vector<Bound>& bounds;                     ///< the largest first; not empty
    std::optional<BoundClaim> claim{};
    std::string key{};  ///< of the task, or empty
};

/// The object `view` of docs/report.md with at most so many sends; all sums are over all sends. Precondition:
/// the schedule is valid, most_sends > 0. O(sends), read twice, and the layout.
[[nodiscard]] io::Json schedule_view(const Subject& subject, std::uint64_t most_sends);

}  // namespace tutti::report
