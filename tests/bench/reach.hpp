#pragma once

#include "tests/bench/measure.hpp"

#include <string>

namespace tutti::bench {

struct ReachOptions {
    Limits limits;              ///< of `auto`
    double seconds_alone = 60;  ///< of each encoding alone
    std::string only;           ///< rows whose name or table contains it; empty: all
};

/// What can be proven within the limits, as Markdown tables on stdout; how it goes, on stderr. Returns false
/// if something contradicts an optimum that is known.
[[nodiscard]] bool reach(const ReachOptions& options);

}  // namespace tutti::bench
