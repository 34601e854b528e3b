#pragma once

#include "tensor/dtype.hpp"
#include "tensor/parts.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

namespace tutti::run {

/// In which numbers a program is executed.
enum class Precision : std::uint8_t {
    Declared,  ///< each value in its own type; half types in f32, rounded after every operation
    F64        ///< every floating value in f64, to compare with
};

/// What one rank has of a value, row-major. Half types are floats that are rounded; whole numbers and truth
/// values are doubles, exact up to 2^53.
struct LocalTensor {
    std::vector<std::int64_t> shape{};
    std::variant<std::vector<float>, std::vector<double>> data{};

    LocalTensor() = default;
    /// Zeros.
    LocalTensor(tensor::DType dtype, Precision precision, std::vector<std::int64_t> sizes);

    [[nodiscard]] bool is_single() const { return data.index() == 0; }
    [[nodiscard]] std::int64_t elements() const;
    [[nodiscard]] double at(std::size_t element) const;
    void set(std::size_t element, double number);
};

[[nodiscard]] std::int64_t product(std::span<const std::int64_t> sizes);
[[nodiscard]] std::vector<std::int64_t> row_major_strides(std::span<const std::int64_t> shape);

/// Makes numbers such as the type has: halves rounded, whole numbers wrapped. No-op for f32, and f64.
void round_to(tensor::DType dtype, Precision precision, LocalTensor& values);
void round_to(tensor::DType dtype, Precision precision, std::span<float> numbers);
void round_to(tensor::DType dtype, std::span<double> numbers);

/// A part of a tensor, or the same elements in another order: where element (i, j, …) of `shape` is.
struct View {
    const LocalTensor* tensor = nullptr;
    std::vector<std::int64_t> shape{}, strides{};
    std::int64_t offset = 0;
};

/// All of it.
[[nodiscard]] View whole_view(const LocalTensor& tensor);
/// The elements of a view in row-major order.
[[nodiscard]] LocalTensor gathered(const View& view);

/// Calls `body(offsets)` for every index of a shape in row-major order, with one offset for each list of
/// strides.
template <std::size_t Count, class Body>
void for_each_offset(std::span<const std::int64_t> shape,
                     const std::array<std::span<const std::int64_t>, Count>& strides,
                     std::array<std::int64_t, Count> offsets, const Body& body) {
    for (const std::int64_t size : shape) {
        if (size <= 0) return;
    }
    std::vector<std::int64_t> index(shape.size(), 0);
    while (true) {
        body(offsets);
        std::size_t d = shape.size();
        while (d > 0) {
            --d;
            const bool again = ++index[d] < shape[d];
            for (std::size_t k = 0; k < Count; ++k)
                offsets[k] += again ? strides[k][d] : -strides[k][d] * (shape[d] - 1);
            if (again) break;
            index[d] = 0;
            if (d == 0) return;
        }
        if (shape.empty()) return;
    }
}

}  // namespace tutti::run
