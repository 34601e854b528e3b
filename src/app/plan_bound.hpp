#pragma once

#include "core/instance.hpp"
#include "plan/condition.hpp"
#include "timing/plan_timing.hpp"

#include <optional>
#include <span>

namespace tutti::app {

/// A timed plan and its collective, if known.
struct BoundJob {
    const timing::JobTiming& timing;
    CollectiveKind goal = CollectiveKind::Custom;
    std::optional<Rank> root{};
    const plan::Condition* condition = nullptr;  ///< of a custom one: what it must end with
};

/// The instance that demands what the plans achieve together, in chunks of the same sizes. Each useful
/// transfer of a plan is a send of one chunk of the instance, so a lower bound of the instance is one of the
/// plans (docs/plan-costs.md, "The bound"). None if a plan's collective is not known, if its
/// condition has outputs whose sums share a contribution (a transfer could then serve two), or if there are
/// too many chunks.
[[nodiscard]] std::optional<Instance> instance_of(std::span<const BoundJob> jobs, const Topology& topology);

/// The same demands in smaller chunks, to bound algorithms that divide the data finer than the plans do.
struct FinerInstance {
    Instance instance;
    std::uint64_t times = 1;  ///< chunks of the instance per chunk of a plan
};
/// A lower bound of it holds for every division of the plans' chunks into k equal parts, where k divides
/// `times`, a power of two. To ensure this, rounding never makes a link slower than for the whole chunk, and
/// links pipeline even where the topology does not let them. None in abstract units, where a chunk has no
/// size, and where the parts would be too many or too small.
[[nodiscard]] std::optional<FinerInstance> finer_instance_of(std::span<const BoundJob> jobs,
                                                             const Topology& topology);

}  // namespace tutti::app
