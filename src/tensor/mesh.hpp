#pragma once

#include "tensor/ids.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::tensor {

inline constexpr std::int64_t kMaxRanks = std::int64_t{1} << 24;

/// The ranks of a program, arranged along named axes. A rank is its position, row-major: the last axis runs
/// fastest. The groups of an axis, or of several, are all ranks that differ only there.
class Mesh {
  public:
    struct Axis {
        std::string name;
        std::int64_t size;
        friend bool operator==(const Axis&, const Axis&) = default;
    };

    Mesh() = default;
    /// `devices`: the NPU of each rank; empty for 0, 1, …. Throws Refusal (`axis`, `devices`) for no axis,
    /// two of one name, a size below 1, more than kMaxRanks ranks, or devices that are not one for each rank.
    explicit Mesh(std::vector<Axis> axes, std::vector<std::uint32_t> devices = {});

    [[nodiscard]] const std::vector<Axis>& axes() const { return axes_; }
    [[nodiscard]] const std::vector<std::uint32_t>& devices() const { return devices_; }
    [[nodiscard]] const std::string& name(AxisId axis) const { return axes_[axis.index()].name; }
    [[nodiscard]] std::int64_t size(AxisId axis) const { return axes_[axis.index()].size; }
    [[nodiscard]] std::optional<AxisId> find(std::string_view name) const;
    [[nodiscard]] std::int64_t ranks() const { return ranks_; }
    /// The number of ranks in a group of these axes.
    [[nodiscard]] std::int64_t group_size(std::span<const AxisId> axes) const;
    [[nodiscard]] std::uint32_t device(std::int64_t rank) const {
        return devices_.empty() ? static_cast<std::uint32_t>(rank) : devices_[static_cast<std::size_t>(rank)];
    }
    /// A position on each axis.
    [[nodiscard]] std::vector<std::int64_t> coordinates(std::int64_t rank) const;
    [[nodiscard]] std::int64_t rank_at(std::span<const std::int64_t> coordinates) const;

    /// The same axes with other sizes, in order; devices are 0, 1, ….
    [[nodiscard]] Mesh resized(std::span<const std::int64_t> sizes) const;

    friend bool operator==(const Mesh&, const Mesh&) = default;

  private:
    std::vector<Axis> axes_;
    std::vector<std::uint32_t> devices_;
    std::int64_t ranks_ = 1;
};

}  // namespace tutti::tensor
