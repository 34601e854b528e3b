#pragma once

#include "core/bound.hpp"
#include "core/schedule.hpp"

#include <optional>
#include <string_view>

namespace tutti {

enum class Status { Optimal, Feasible, Infeasible, Unknown };

[[nodiscard]] constexpr std::string_view name_of(Status status) {
    switch (status) {
        case Status::Optimal:
            return "optimal";
        case Status::Feasible:
            return "feasible";
        case Status::Infeasible:
            return "infeasible";
        case Status::Unknown:
            return "unknown";
    }
    return "unknown";
}

/// (makespan - bound) / bound; 0 when both are 0, none when only the bound is.
[[nodiscard]] constexpr std::optional<double> gap(Ticks makespan, Ticks bound) {
    if (makespan == bound) return 0.0;
    if (bound <= Ticks(0)) return std::nullopt;
    return static_cast<double>((makespan - bound).count()) / static_cast<double>(bound.count());
}

}  // namespace tutti
