#pragma once

#include "core/instance.hpp"
#include "timing/plan_timing.hpp"

#include <optional>
#include <span>

namespace tutti::app {

/// A timed plan and what is known of its meaning.
struct BoundJob {
    const timing::JobTiming& timing;
    CollectiveKind goal = CollectiveKind::Custom;
    std::optional<Rank> root{};
};

/// The instance that demands what the plans achieve, all together, in chunks of the same sizes as theirs:
/// each transfer of a plan that helps is a send of one chunk of the instance, so a lower bound of the
/// instance is one of the plans (docs/plan-costs.md, "The bound"). None if a plan's meaning is not known, or
/// there are too many chunks to ask about.
[[nodiscard]] std::optional<Instance> instance_of(std::span<const BoundJob> jobs, const Topology& topology);

/// The same demands in smaller chunks: what algorithms can reach that cut the data finer than the plans do.
struct FinerInstance {
    Instance instance;
    std::uint64_t times = 1;  ///< chunks of the instance per chunk of a plan
};
/// A lower bound of it holds for every cut of the plans' chunks into as many equal parts as divide `times`, a
/// power of two: links are as fast as the parts together, never slower by rounding, and carry the next chunk
/// while one is on its way even where the topology does not let them. None in abstract units, where a chunk
/// has no size, and where the parts would be too many or too small.
[[nodiscard]] std::optional<FinerInstance> finer_instance_of(std::span<const BoundJob> jobs,
                                                             const Topology& topology);

}  // namespace tutti::app
