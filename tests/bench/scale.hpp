#pragma once

#include <string>

namespace tutti::bench {

struct ScaleOptions {
    double seconds = 60;  ///< of processor time for each command, unless the row says more
    std::string only;     ///< rows whose table or name contains it; empty: all but the slow ones
    std::string tacos;    ///< a program that runs the peer (README.md); empty: recorded figures only
    std::string method = "greedy";
};

/// What the command `tutti` makes of large instances, as Markdown tables on stdout; how it goes, on stderr.
/// Returns false if a schedule was found invalid.
[[nodiscard]] bool scale(const ScaleOptions& options);

}  // namespace tutti::bench
