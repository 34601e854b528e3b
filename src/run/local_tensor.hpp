#pragma once

#include "emit/element_functions.hpp"
#include "tensor/dtype.hpp"
#include "tensor/parts.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

namespace tutti::run {

using emit::element::Field;

/// In which numbers a program is executed.
enum class Precision : std::uint8_t {
    Declared,  ///< each value in its own type; half types in f32, rounded after every operation
    F64,       ///< every floating value in f64, to compare with
    Field      ///< every value in the prime field of the verifier, exactly
};

/// Numbers with what their operations need to know.
struct Arithmetic {
    Arithmetic(Precision numbers = Precision::Declared, std::uint64_t of_field = 0)  // NOLINT: mostly that
        : precision(numbers), salt(of_field) {}
    Precision precision;
    std::uint64_t salt;  ///< of the field: which functions stand for those that are not sums or products
    friend bool operator==(const Arithmetic&, const Arithmetic&) = default;
};

/// How an element is stored: half types as rounded floats; whole numbers and truth values as doubles, exact
/// up to 2^53.
enum class Storage : std::uint8_t { Single, Full, Field };

[[nodiscard]] constexpr Storage storage_of(tensor::DType dtype, Precision precision) {
    if (precision == Precision::Field) return Storage::Field;
    const bool is_single =
        precision == Precision::Declared && tensor::is_floating(dtype) && dtype != tensor::DType::F64;
    return is_single ? Storage::Single : Storage::Full;
}
[[nodiscard]] constexpr std::size_t bytes_of(Storage storage) { return storage == Storage::Single ? 4 : 8; }

/// What one rank has of a value, row-major.
struct LocalTensor {
    std::vector<std::int64_t> shape{};
    std::variant<std::vector<float>, std::vector<double>, std::vector<Field>> data{};

    LocalTensor() = default;
    /// Zeros; in the field, poison.
    LocalTensor(tensor::DType dtype, Precision precision, std::vector<std::int64_t> sizes);

    [[nodiscard]] Storage storage() const { return static_cast<Storage>(data.index()); }
    [[nodiscard]] std::int64_t elements() const;
    /// Where element 0 is.
    [[nodiscard]] const void* first() const;
    [[nodiscard]] void* first();
    /// Real numbers. Precondition: not in the field.
    [[nodiscard]] double at(std::size_t element) const;
    void set(std::size_t element, double number);
};

/// Makes every element this number, as the type has it.
void fill(LocalTensor& tensor, double number, tensor::DType dtype, const Arithmetic& arithmetic);

/// into[i] = into[i] combined with from[i], which are stored in this way and do not overlap.
void combine(tensor::Reduction reduction, Storage storage, const Arithmetic& arithmetic, void* into,
             const void* from, std::int64_t count);

[[nodiscard]] std::int64_t product(std::span<const std::int64_t> sizes);
[[nodiscard]] std::vector<std::int64_t> row_major_strides(std::span<const std::int64_t> shape);

/// Makes numbers such as the type has: halves rounded, whole numbers wrapped. No-op for f32, f64 and in the
/// field.
void round_to(tensor::DType dtype, Precision precision, LocalTensor& values);
void round_to(tensor::DType dtype, Precision precision, std::span<float> numbers);
void round_to(tensor::DType dtype, std::span<double> numbers);

/// A part of a tensor, or the same elements in another order: where element (i, j, …) of `shape` is.
struct View {
    const LocalTensor* tensor = nullptr;
    std::vector<std::int64_t> shape{}, strides{};
    std::int64_t offset = 0;

    /// Where its first element is.
    [[nodiscard]] const void* first() const {
        return static_cast<const std::byte*>(tensor->first()) +
               static_cast<std::size_t>(offset) * bytes_of(tensor->storage());
    }
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
