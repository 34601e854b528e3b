#include "synth/bounding.hpp"

#include "bounds/bounds.hpp"
#include "models/relaxation.hpp"
#include "models/remote/remote_backend.hpp"
#include "synth/judge.hpp"

#include <algorithm>

namespace tutti::synth {
namespace {

/// Time limit of the simplex method, which is slow on time-expanded programs.
constexpr Stop::Seconds kForLinearPrograms{20};
/// Larger programs would not finish in that time.
constexpr std::size_t kMostForPrograms = 300'000;

}  // namespace

std::vector<Bound> every_bound(const Instance& instance, const Stop& stop) {
    std::vector<Bound> all = bounds::all_bounds(instance, stop);
    const bool is_small = instance.chunks() * instance.topology().links().size() <= kMostForPrograms;
    models::OpenedBackend opened;
    if (is_small && !stop.requested()) opened = models::remote::open_stoppable("highs");
    if (opened) {
        models::SolveLimits limits;
        limits.must_end = stop;
        limits.stop = stop.within(kForLinearPrograms);
        if (auto flow = models::flow_bound(instance, *opened.backend, limits)) {
            // One flow bound is enough: the better of the two.
            const auto other = std::ranges::find(all, "flow", &Bound::kind);
            if (other == all.end()) {
                all.push_back(std::move(*flow));
            } else if (flow->value >= other->value) {
                *other = std::move(*flow);
            }
        }
        const Ticks best = std::ranges::max(all, {}, &Bound::value).value;
        limits.stop = stop.within(kForLinearPrograms);
        if (auto timed = models::time_expanded_bound(instance, *opened.backend, best, limits)) {
            all.push_back(std::move(*timed));
        }
    }
    std::ranges::stable_sort(all, std::ranges::greater{}, &Bound::value);
    for (const Bound& bound : all) {
        if (!stop.requested()) judge(instance, bound);
    }
    return all;
}

std::optional<Bound> checkable_proof(const Instance& instance, Ticks value, const Stop& stop,
                                     Stop::Seconds time) {
    const auto opened = models::remote::open_stoppable("highs");
    if (!opened) return std::nullopt;
    models::SolveLimits limits;
    limits.must_end = stop;
    limits.stop = stop.within(time);
    auto bound = models::time_expanded_bound(instance, *opened.backend, value - Ticks(1), limits);
    if (!bound || bound->value < value) return std::nullopt;
    return bound;
}

}  // namespace tutti::synth
