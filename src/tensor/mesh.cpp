#include "tensor/mesh.hpp"

#include "tensor/refusal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace tutti::tensor {
namespace {

constexpr std::size_t kMostAxes = 32;

}  // namespace

Mesh::Mesh(std::vector<Axis> axes, std::vector<std::uint32_t> devices)
    : axes_(std::move(axes)), devices_(std::move(devices)) {
    if (axes_.empty()) throw Refusal("axis", "expected a mesh with at least one axis");
    if (axes_.size() > kMostAxes) throw Refusal("axis", fmt::format("expected at most {} axes", kMostAxes));
    for (std::size_t i = 0; i < axes_.size(); ++i) {
        const Axis& axis = axes_[i];
        if (find(axis.name)->index() != i)
            throw Refusal("axis", fmt::format("two axes are called '{}'", axis.name));
        if (axis.size < 1) throw Refusal("axis", fmt::format("axis '{}' has no ranks", axis.name));
        if (axis.size > kMaxRanks / ranks_)
            throw Refusal("axis", fmt::format("expected at most {} ranks in all", kMaxRanks));
        ranks_ *= axis.size;
    }
    if (devices_.empty()) return;
    if (devices_.size() != static_cast<std::size_t>(ranks_)) {
        throw Refusal("devices", fmt::format("expected a device for each of the {} ranks, found {}", ranks_,
                                             devices_.size()));
    }
    std::vector<std::uint32_t> sorted = devices_;
    std::ranges::sort(sorted);
    const auto twice = std::ranges::adjacent_find(sorted);
    if (twice != sorted.end()) throw Refusal("devices", fmt::format("two ranks have device {}", *twice));
}

std::optional<AxisId> Mesh::find(std::string_view name) const {
    for (std::size_t i = 0; i < axes_.size(); ++i) {
        if (axes_[i].name == name) return AxisId(i);
    }
    return std::nullopt;
}

std::int64_t Mesh::group_size(std::span<const AxisId> axes) const {
    std::int64_t product = 1;
    for (const AxisId axis : axes) product *= size(axis);
    return product;
}

std::vector<std::int64_t> Mesh::coordinates(std::int64_t rank) const {
    std::vector<std::int64_t> result(axes_.size());
    for (std::size_t i = axes_.size(); i-- > 0;) {
        result[i] = rank % axes_[i].size;
        rank /= axes_[i].size;
    }
    return result;
}

std::int64_t Mesh::rank_at(std::span<const std::int64_t> coordinates) const {
    std::int64_t rank = 0;
    for (std::size_t i = 0; i < axes_.size(); ++i) rank = rank * axes_[i].size + coordinates[i];
    return rank;
}

Mesh Mesh::resized(std::span<const std::int64_t> sizes) const {
    std::vector<Axis> axes = axes_;
    for (std::size_t i = 0; i < axes.size(); ++i) axes[i].size = sizes[i];
    return Mesh(std::move(axes));
}

}  // namespace tutti::tensor
