#pragma once

#include "core/instance.hpp"
#include "core/schedule.hpp"

#include <optional>

namespace tutti::synth {

/// An all-reduce as its two halves: reduce-scatter, then all-gather, with the same chunk numbers.
struct Halves {
    Instance reduce_scatter, all_gather;
};

/// None unless every collective is an all-reduce.
[[nodiscard]] std::optional<Halves> halves_of(const Instance& instance);

/// One after the other.
[[nodiscard]] Schedule joined(const Instance& instance, const Schedule& reduce_scatter,
                              const Schedule& all_gather);

}  // namespace tutti::synth
