#pragma once

#include "batch/read_run.hpp"
#include "batch/results_request.hpp"

#include <string>
#include <vector>

namespace tutti::batch {

/// What a merge did.
struct Merged {
    std::size_t results = 0, schedules = 0, twice = 0;
    std::vector<std::size_t> missing_shards{};
    std::vector<std::string> notes{};  ///< what a person should know
};

/// One results folder from several: each key once, with its schedule at the same place below the folder. It
/// appears when it is complete. Throws InputError where two runs solved different files under one key, and
/// where the folder is taken.
[[nodiscard]] Merged merge(const std::vector<Run>& runs, const Merging& how);

}  // namespace tutti::batch
