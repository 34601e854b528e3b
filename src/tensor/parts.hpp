#pragma once

#include "tensor/mesh.hpp"
#include "tensor/type.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti::tensor {

/// Elements begin … end - 1 of a dimension; begin = end where there are none.
struct Interval {
    std::int64_t begin = 0, end = 0;
    [[nodiscard]] std::int64_t size() const { return end - begin; }
    friend bool operator==(const Interval&, const Interval&) = default;
};

/// What the rank at these coordinates has of a dimension. Cuts nest: the axis that the mesh lists first is
/// the coarsest, and each cut is ceil(nominal part / n); the last parts are shorter or empty.
[[nodiscard]] Interval part(const Mesh& mesh, const Type& type, std::size_t dim,
                            std::span<const std::int64_t> coordinates);

/// The nominal size of every part of a dimension: of the first rank's, which is the largest.
[[nodiscard]] std::int64_t part_size(const Mesh& mesh, const Type& type, std::size_t dim);
/// The nominal shape that a rank holds.
[[nodiscard]] std::vector<std::int64_t> part_shape(const Mesh& mesh, const Type& type);
/// Its elements and bytes.
[[nodiscard]] std::int64_t part_elements(const Mesh& mesh, const Type& type);
[[nodiscard]] std::int64_t part_bytes(const Mesh& mesh, const Type& type);

/// Whether the rank holds the value at all: not where another is its root.
[[nodiscard]] bool holds(const Type& type, std::span<const std::int64_t> coordinates);

}  // namespace tutti::tensor
