#pragma once

#include "tensor/dtype.hpp"
#include "tensor/ids.hpp"
#include "tensor/layout.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti::tensor {

/// What is known of a value before it is computed: elements, whole shape, and who holds what.
struct Type {
    DType dtype = DType::F32;
    std::vector<std::int64_t> shape{};
    Layouts layout{};  ///< one for each axis of the mesh

    [[nodiscard]] std::size_t rank() const { return shape.size(); }
    [[nodiscard]] Layout on(AxisId axis) const { return layout[axis.index()]; }
    [[nodiscard]] std::int64_t elements() const {
        std::int64_t product = 1;
        for (const std::int64_t size : shape) product *= size;
        return product;
    }
    [[nodiscard]] std::int64_t bytes() const { return elements() * bytes_of(dtype); }
    friend bool operator==(const Type&, const Type&) = default;
};

/// The axes that slice a dimension, in the order of the mesh: the first is the coarsest.
[[nodiscard]] inline std::vector<AxisId> slicing_axes(const Type& type, std::size_t dim) {
    std::vector<AxisId> axes;
    for (std::size_t a = 0; a < type.layout.size(); ++a) {
        if (type.layout[a].is_sliced(dim)) axes.emplace_back(a);
    }
    return axes;
}

}  // namespace tutti::tensor
