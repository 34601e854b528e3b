#pragma once

#include "tensor/program.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace tutti::tensor {

/// 128 bits, of which two that differ are taken for two structures that differ.
struct StructureHash {
    std::uint64_t low = 0, high = 0;
    friend auto operator<=>(const StructureHash&, const StructureHash&) = default;
};

/// Of each value, by id: its operation, attributes and operands, and for an input its name and type. Names of
/// other values do not count.
[[nodiscard]] std::vector<StructureHash> value_hashes(const Program& program);

/// Of the program: its outputs in order, its updates, and how often it has each value. Two programs that
/// differ only in names, or in the order of independent values, have the same. Fused kernels and overlaps do
/// not count.
[[nodiscard]] StructureHash structure_hash(const Program& program);

}  // namespace tutti::tensor

template <>
struct std::hash<tutti::tensor::StructureHash> {
    std::size_t operator()(const tutti::tensor::StructureHash& of) const noexcept { return of.low; }
};
