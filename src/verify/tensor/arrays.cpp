#include "verify/tensor/arrays.hpp"

namespace tutti::verify {

Box whole_box(std::span<const std::int64_t> shape) {
    Box box;
    for (const std::int64_t size : shape) box.push_back({0, size});
    return box;
}

Box held_box(const tensor::Mesh& mesh, const tensor::Type& type, std::span<const std::int64_t> coordinates) {
    Box box;
    for (std::size_t d = 0; d < type.rank(); ++d) box.push_back(tensor::part(mesh, type, d, coordinates));
    return box;
}

bool contains(const Box& box, std::span<const std::int64_t> index) {
    for (std::size_t d = 0; d < box.size(); ++d) {
        if (index[d] < box[d].begin || index[d] >= box[d].end) return false;
    }
    return true;
}

std::vector<std::int64_t> strides_of(std::span<const std::int64_t> shape) {
    std::vector<std::int64_t> strides(shape.size(), 1);
    for (std::size_t d = shape.size(); d > 1; --d) strides[d - 2] = strides[d - 1] * shape[d - 1];
    return strides;
}

std::vector<std::int64_t> array_shape(const tensor::Mesh& mesh, const tensor::Type& type) {
    std::vector<std::int64_t> shape;
    for (std::size_t a = 0; a < type.layout.size(); ++a)
        shape.push_back(type.layout[a].is_local() ? mesh.axes()[a].size : 1);
    shape.insert(shape.end(), type.shape.begin(), type.shape.end());
    return shape;
}

std::size_t block_offset(const tensor::Mesh& mesh, const tensor::Type& type,
                         std::span<const std::int64_t> coordinates) {
    std::int64_t block = 0;
    for (std::size_t a = 0; a < type.layout.size(); ++a) {
        if (type.layout[a].is_local()) block = block * mesh.axes()[a].size + coordinates[a];
    }
    return static_cast<std::size_t>(block * type.elements());
}

}  // namespace tutti::verify
