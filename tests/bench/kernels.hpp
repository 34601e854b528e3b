#pragma once

#include <cstddef>

namespace tutti::bench {

struct KernelsOptions {
    std::size_t rounds = 21;
};

/// One kernel of Adam on one core: compiled, interpreted in tiles, and one loop for each operation, beside a
/// triad on arrays of the same size. Medians of rounds in which all are measured one after the other, ratios
/// with their quartiles. Markdown on stdout.
[[nodiscard]] bool kernels(const KernelsOptions& options);

}  // namespace tutti::bench
