#include "run/kernel_code.hpp"

#include <algorithm>

namespace tutti::run {

LoopShape joined_dims(const LoopShape& shape) {
    LoopShape joined;
    joined.strides.resize(shape.strides.size());
    // From the last dimension on; the lists are turned round in the end.
    for (std::size_t d = shape.sizes.size(); d-- > 0;) {
        if (shape.sizes[d] == 1) continue;
        bool joins = !joined.sizes.empty();
        for (std::size_t k = 0; k < joined.strides.size() && joins; ++k)
            joins = shape.strides[k][d] == joined.strides[k].back() * joined.sizes.back();
        if (joins) {
            joined.sizes.back() *= shape.sizes[d];
            continue;
        }
        joined.sizes.push_back(shape.sizes[d]);
        for (std::size_t k = 0; k < joined.strides.size(); ++k)
            joined.strides[k].push_back(shape.strides[k][d]);
    }
    if (joined.sizes.empty()) {  // one element
        joined.sizes.push_back(1);
        for (std::vector<std::int64_t>& strides : joined.strides) strides.push_back(1);
    }
    std::ranges::reverse(joined.sizes);
    for (std::vector<std::int64_t>& strides : joined.strides) std::ranges::reverse(strides);
    return joined;
}

emit::KernelAccess access_of(const LoopShape& shape, std::size_t tensor) {
    using emit::KernelAccess;
    const std::vector<std::int64_t>& strides = shape.strides[tensor];
    if (strides == row_major_strides(shape.sizes)) return KernelAccess::Dense;
    if (std::ranges::all_of(strides, [](std::int64_t s) { return s == 0; })) return KernelAccess::Scalar;
    if (strides.back() == 1) return KernelAccess::Row;
    return strides.back() == 0 ? KernelAccess::RowOne : KernelAccess::Strided;
}

}  // namespace tutti::run
