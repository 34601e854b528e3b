#pragma once

#include "app/json.hpp"
#include "app/watch.hpp"
#include "core/bound.hpp"
#include "core/instance.hpp"
#include "core/search_options.hpp"
#include "core/variation.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tutti::app {

struct BoundOptions {
    std::string instance{};              ///< a path, or "-"
    Variation variation{};               ///< in place of what the instance says
    std::optional<double> time_limit{};  ///< seconds
    SearchOptions options{};
    friend bool operator==(const BoundOptions&, const BoundOptions&) = default;
};

struct Bounded {
    Instance instance;
    std::string file{};
    std::vector<Bound> bounds{};          ///< the largest first, each with its certificate; never empty
    std::vector<SkippedBound> skipped{};  ///< what was not computed, or not to its end
    bool stopped = false;                 ///< a longer search may prove more

    [[nodiscard]] const Bound& best() const { return bounds.front(); }
};

/// The lower bounds of the instance that are worth their time (synth/bounding). Throws InputError,
/// InfeasibleError where a receiver
/// cannot be reached, BugError.
[[nodiscard]] Bounded bound(const BoundOptions& options, const Watch& watch = {});

/// `instance`, `lower_bound`, `bound_kind`, `bounds`, `skipped`, `file`, `stopped`.
[[nodiscard]] io::Json json_of(const Bounded& bounded);

}  // namespace tutti::app
