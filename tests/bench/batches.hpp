#pragma once

#include <cstddef>

namespace tutti::bench {

struct BatchesOptions {
    std::size_t instances = 1000;
};

/// What the batch layer costs per instance: `tutti batch` over many small ones on one core, its time minus
/// the seconds that the instances took themselves. A Markdown table on stdout. Returns false if a row failed.
[[nodiscard]] bool batches(const BatchesOptions& options);

}  // namespace tutti::bench
