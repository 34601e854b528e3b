#pragma once

#include <string>

namespace tutti::bench {

struct PlansOptions {
    std::string only{};  ///< rows whose name contains it; empty: all
};

/// How fast plans are read and judged, from 10^3 to 10^6 steps, as Markdown tables on stdout. Returns false
/// if a plan was found wrong: all of them are right.
[[nodiscard]] bool plans(const PlansOptions& options);

}  // namespace tutti::bench
