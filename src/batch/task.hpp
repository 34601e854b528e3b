#pragma once

#include "batch/expand.hpp"
#include "core/ticks.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace tutti::batch {

/// What a run file varies over the same instances.
struct Variant {
    std::string method = "auto";
    std::uint64_t seed = 1;
    unsigned threads = 1;
    std::optional<std::uint64_t> chunks{};  ///< in place of the field `chunks` of every collective
    std::optional<Bytes> bytes{};           ///< the size of a call, in place of `chunk_bytes`

    friend bool operator==(const Variant&, const Variant&) = default;
};

/// One line of the results to be: an instance, and how it is to be solved.
struct Task {
    Job job;
    Variant variant;
    std::string key{};  ///< names it within its run, by which a later one finds it again

    friend bool operator==(const Task&, const Task&) = default;
};

}  // namespace tutti::batch
