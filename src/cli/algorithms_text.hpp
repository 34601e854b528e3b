#pragma once

#include "app/compare_algorithms.hpp"
#include "text/safe_text.hpp"

namespace tutti::cli {

/// Which algorithm should be used from which size on and how far it is from the bound, then the time of each
/// at each size, fastest first, and those that cannot be used.
[[nodiscard]] text::SafeText algorithms_page(const app::ComparedAlgorithms& compared);

}  // namespace tutti::cli
