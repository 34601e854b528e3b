#pragma once

#include "app/json.hpp"
#include "app/watch.hpp"
#include "core/bound.hpp"
#include "core/topology.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tutti::app {

struct TogetherOptions {
    std::string instance{};              ///< of at least two collectives
    std::optional<double> time_limit{};  ///< seconds, of all searches together
    friend bool operator==(const TogetherOptions&, const TogetherOptions&) = default;
};

/// Whether collectives that share links had better run at the same time, or one after the other.
struct Together {
    struct Run {
        std::string name{};
        Ticks makespan{};
        Bound bound{};
    };
    std::string instance{};
    Units units = Units::Abstract;
    std::vector<Run> alone{};  ///< each with the network to itself
    Run both{};                ///< all of them under one schedule
    double seconds = 0;
    bool stopped = false;

    [[nodiscard]] Ticks apart() const;           ///< one after the other
    [[nodiscard]] Ticks apart_at_least() const;  ///< whatever the schedules
    [[nodiscard]] bool pays() const { return both.makespan < apart(); }
    /// Whether bounds say so, and not only what was found.
    [[nodiscard]] bool is_proven() const;
};

/// Synthesizes each collective of the instance alone, and all together. Releases count in both. Throws
/// InputError, InfeasibleError, LimitError, BugError.
[[nodiscard]] Together together(const TogetherOptions& options, const Watch& watch = {});

[[nodiscard]] io::Json json_of(const Together& together);

}  // namespace tutti::app
