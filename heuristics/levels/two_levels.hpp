#pragma once

#include "core/instance.hpp"
#include "core/schedule.hpp"
#include "core/stop.hpp"
#include "heuristics/levels/message_placer.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tutti::heuristics {

/// All collectives of an instance at once, between the parts of a cluster and then within them; the best over
/// all levels of the cluster. None: it does not apply, or `stop` came first.
[[nodiscard]] std::optional<Schedule> two_levels(const Instance& instance, const Stop& stop);
/// Why there is none; empty if there may be one.
[[nodiscard]] std::string why_no_two_levels(const Instance& instance);

/// The same where every NPU is a part: each chunk goes straight to every receiver, in rounds in which every
/// NPU sends and receives once.
[[nodiscard]] std::optional<Schedule> crossbar_rounds(const Instance& instance, const Stop& stop);
[[nodiscard]] std::string why_no_crossbar_rounds(const Instance& instance);

/// The messages of all these plans, where all chunks spread one way: plain chunks forwards, or sums with one
/// receiver each backwards. Empty where both are needed.
[[nodiscard]] std::vector<MessagePlacer> spread_plans(const Instance& instance, const Stop& stop);

}  // namespace tutti::heuristics
