#pragma once

#include "app/json.hpp"
#include "app/watch.hpp"
#include "core/bound.hpp"
#include "core/variation.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tutti::app {

struct BoundOptions {
    std::string instance{};              ///< a path, or "-"
    Variation variation{};               ///< in place of what the instance says
    std::optional<double> time_limit{};  ///< seconds
    friend bool operator==(const BoundOptions&, const BoundOptions&) = default;
};

struct Bounded {
    Instance instance;
    std::string file{};
    std::vector<Bound> bounds{};  ///< the largest first, each with its certificate; never empty
    bool stopped = false;         ///< a longer search may prove more

    [[nodiscard]] const Bound& best() const { return bounds.front(); }
};

/// Every lower bound of the instance. Throws InputError, InfeasibleError where a receiver
/// cannot be reached, BugError.
[[nodiscard]] Bounded bound(const BoundOptions& options, const Watch& watch = {});

/// `instance`, `lower_bound`, `bound_kind`, `bounds`, `file`, `stopped`.
[[nodiscard]] io::Json json_of(const Bounded& bounded);

}  // namespace tutti::app
