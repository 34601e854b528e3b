#pragma once

#include "batch/batch.hpp"
#include "batch/results_folder.hpp"

#include <cstddef>
#include <vector>

namespace tutti::batch {

/// What earlier runs left in a folder for the one that goes on with it.
struct Earlier {
    struct Kept {
        std::size_t task;  ///< its number
        std::size_t line;  ///< the place of its line
        bool is_new;       ///< the line is not in results.jsonl yet: a single task has left it
    };
    /// Of results.jsonl, the last of each key, as seen from here; then those that single tasks have left.
    std::vector<io::ResultLine> lines{};
    std::size_t journaled = 0;             ///< how many of them are in results.jsonl
    std::vector<Kept> kept{};              ///< the tasks that need not be done again, in order
    bool moved = false;                    ///< results.jsonl names the files by other paths
    std::size_t damaged = 0;               ///< lines that cannot be read
    std::size_t changed = 0;               ///< tasks whose instances have changed
    std::size_t others = 0;                ///< lines that answer no task of this run
    std::vector<io::ResultLine> strays{};  ///< of those, the ones that are not in results.jsonl yet
};

/// Reads what is there, the rows of single tasks too. A results.jsonl with lines that cannot be read is
/// written anew without them. When the run is interrupted meanwhile, tasks that were not looked at are not
/// kept.
[[nodiscard]] Earlier earlier_in(const ResultsFolder& folder, const Plan& plan, const Settings& settings);

}  // namespace tutti::batch
