#pragma once

#include "run/local_tensor.hpp"
#include "tensor/parts.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti::run {

/// Elements in memory, a tensor's or a part of them, perhaps in another order.
struct MemoryView {
    std::byte* first = nullptr;  ///< the element with index 0, 0, …
    Storage storage{};
    std::vector<std::int64_t> shape{}, strides{};  ///< in elements

    [[nodiscard]] std::byte* at(std::int64_t element) const {
        return first + element * static_cast<std::int64_t>(bytes_of(storage));
    }
    /// Only these indices of a dimension.
    [[nodiscard]] MemoryView narrowed(std::size_t dim, tensor::Interval to) const {
        MemoryView view = *this;
        view.first = at(to.begin * strides[dim]);
        view.shape[dim] = to.size();
        return view;
    }
};

/// All of a tensor.
[[nodiscard]] inline MemoryView memory_of(LocalTensor& tensor) {
    return {static_cast<std::byte*>(tensor.first()), tensor.storage(), tensor.shape,
            row_major_strides(tensor.shape)};
}

}  // namespace tutti::run
