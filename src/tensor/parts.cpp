#include "tensor/parts.hpp"

#include <algorithm>

namespace tutti::tensor {
namespace {

std::int64_t ceil_of(std::int64_t size, std::int64_t parts) { return (size + parts - 1) / parts; }

}  // namespace

Interval part(const Mesh& mesh, const Type& type, std::size_t dim,
              std::span<const std::int64_t> coordinates) {
    std::int64_t nominal = type.shape[dim];
    Interval result{0, nominal};
    for (std::size_t a = 0; a < type.layout.size(); ++a) {
        if (!type.layout[a].is_sliced(dim)) continue;
        nominal = ceil_of(nominal, mesh.size(AxisId(a)));
        result.begin = std::min(result.begin + nominal * coordinates[a], result.end);
        result.end = std::min(result.begin + nominal, result.end);
    }
    return result;
}

std::int64_t part_size(const Mesh& mesh, const Type& type, std::size_t dim) {
    std::int64_t nominal = type.shape[dim];
    for (std::size_t a = 0; a < type.layout.size(); ++a) {
        if (type.layout[a].is_sliced(dim)) nominal = ceil_of(nominal, mesh.size(AxisId(a)));
    }
    return nominal;
}

std::vector<std::int64_t> part_shape(const Mesh& mesh, const Type& type) {
    std::vector<std::int64_t> shape(type.rank());
    for (std::size_t d = 0; d < shape.size(); ++d) shape[d] = part_size(mesh, type, d);
    return shape;
}

std::int64_t part_elements(const Mesh& mesh, const Type& type) {
    std::int64_t product = 1;
    for (std::size_t d = 0; d < type.rank(); ++d) product *= part_size(mesh, type, d);
    return product;
}

std::int64_t part_bytes(const Mesh& mesh, const Type& type) {
    return part_elements(mesh, type) * bytes_of(type.dtype);
}

bool holds(const Type& type, std::span<const std::int64_t> coordinates) {
    for (std::size_t a = 0; a < type.layout.size(); ++a) {
        if (type.layout[a].is_root() && type.layout[a].root() != coordinates[a]) return false;
    }
    return true;
}

}  // namespace tutti::tensor
