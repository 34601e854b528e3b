#pragma once

#include "tensor/mesh.hpp"
#include "tensor/parts.hpp"
#include "tensor/type.hpp"
#include "verify/tensor/numbers.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace tutti::verify {

/// Which elements of a tensor, by dimension.
using Box = std::vector<tensor::Interval>;

[[nodiscard]] Box whole_box(std::span<const std::int64_t> shape);
/// What the rank at these coordinates has of a value.
[[nodiscard]] Box held_box(const tensor::Mesh& mesh, const tensor::Type& type,
                           std::span<const std::int64_t> coordinates);
[[nodiscard]] bool contains(const Box& box, std::span<const std::int64_t> index);

/// How far apart neighbours of each dimension are in row-major order.
[[nodiscard]] std::vector<std::int64_t> strides_of(std::span<const std::int64_t> shape);
[[nodiscard]] inline std::size_t offset_of(std::span<const std::int64_t> index,
                                           std::span<const std::int64_t> strides) {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < strides.size(); ++d) offset += index[d] * strides[d];
    return static_cast<std::size_t>(offset);
}

/// Calls `body` with the index of every element of the box, in row-major order.
template <class Body>
void for_each_index(const Box& box, const Body& body) {
    std::vector<std::int64_t> index;
    for (const tensor::Interval& range : box) {
        if (range.size() <= 0) return;
        index.push_back(range.begin);
    }
    while (true) {
        body(std::span<const std::int64_t>(index));
        std::size_t d = box.size();
        while (d > 0 && ++index[d - 1] == box[d - 1].end) {
            index[d - 1] = box[d - 1].begin;
            --d;
        }
        if (d == 0) return;
    }
}

/// A value's meaning: an array of its whole shape for every coordinate on its local axes. The dimensions are
/// one for each axis of the mesh (its size where the value is local there, else 1), then those of the shape.
struct Array {
    std::vector<std::int64_t> shape{};
    std::vector<Element> elements{};
};
/// By name.
using Arrays = std::map<std::string, Array>;

[[nodiscard]] std::vector<std::int64_t> array_shape(const tensor::Mesh& mesh, const tensor::Type& type);
/// Where the array of these coordinates begins.
[[nodiscard]] std::size_t block_offset(const tensor::Mesh& mesh, const tensor::Type& type,
                                       std::span<const std::int64_t> coordinates);

}  // namespace tutti::verify
