#pragma once

#include "core/instance.hpp"
#include "core/rng.hpp"

#include <functional>
#include <string>

namespace tutti::test {

/// What random instances may contain.
struct InstanceOptions {
    std::uint32_t max_npus = 7;
    std::uint32_t max_switches = 3;
    std::size_t max_collectives = 3;
    std::uint64_t max_chunks = 2;       ///< the field `chunks` of a collective
    std::int64_t max_ticks = 6;         ///< of alpha and beta in abstract units
    bool releases = true;               ///< chunks may be there later than at 0
    bool strongly_connected = true;     ///< else links are drawn at random, and somebody may be out of reach
    bool group_forwarding = true;       ///< may leave members out of reach of each other
    std::optional<bool> physical = {};  ///< units: given, or either
    bool crossbars_only = false;        ///< every switch cuts through, and latency 0 leads anywhere
};

/// A valid instance drawn from the generator: heterogeneous and parallel links, both busy rules, switches of
/// every kind, scattered and overlapping groups, all collective kinds, releases, chunks of different sizes.
/// Latency 0 leads from one cut-through switch only to a higher numbered one: what goes round in a circle of
/// them is refused by every checker, but for reasons of its own. Unless `crossbars_only` asks for such.
[[nodiscard]] InstanceParts random_instance(Rng& rng, const InstanceOptions& options = {});

/// Whether some schedule can meet all demands: every receiver can be reached, over nodes that may carry the
/// chunk, from some holder of a plain chunk, or from every holder of a reduction.
[[nodiscard]] bool is_feasible(const Instance& instance);

/// The smallest instance that can be reached from `parts` by leaving things out and on which `fails` still
/// holds. `fails` is only asked about valid instances; what it throws counts as not failing.
[[nodiscard]] InstanceParts shrunk(InstanceParts parts, const std::function<bool(const Instance&)>& fails);

/// The instance as JSON that can be pasted into a file under instances/.
[[nodiscard]] std::string json_of(const Instance& instance);

}  // namespace tutti::test
