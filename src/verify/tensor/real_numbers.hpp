#pragma once

#include "verify/tensor/numbers.hpp"

#include <bit>

namespace tutti::verify {

/// Floating numbers: every operation in f64, or rounded to f32. Casts between floating types change nothing,
/// so that two orders of a sum differ by rounding only; whole numbers wrap as their type does.
class RealNumbers final : public Numbers {
  public:
    enum class Precision : std::uint8_t { F64, F32 };

    explicit RealNumbers(Precision precision, std::uint64_t seed = 1)
        : single_(precision == Precision::F32), seed_(seed) {}

    /// Precondition of the second: not poison.
    [[nodiscard]] static Element of(double number) { return std::bit_cast<Element>(number); }
    [[nodiscard]] static double number(Element x) { return std::bit_cast<double>(x); }

    [[nodiscard]] Element constant(double number, tensor::DType dtype) const override;
    [[nodiscard]] Element count(std::int64_t number, tensor::DType dtype) const override;
    [[nodiscard]] Element uniform(std::int64_t seed, std::int64_t element) const override;
    [[nodiscard]] Element unary(tensor::Op op, tensor::DType dtype, Element x) const override;
    [[nodiscard]] Element binary(tensor::Op op, tensor::DType dtype, Element x, Element y) const override;
    [[nodiscard]] bool is_true(Element x) const override { return number(x) != 0; }
    [[nodiscard]] Element cast(tensor::DType from, tensor::DType to, Element x) const override;
    [[nodiscard]] Element combine(tensor::Reduction reduction, tensor::DType dtype, Element x,
                                  Element y) const override;
    [[nodiscard]] Element nothing(tensor::Reduction reduction) const override;
    [[nodiscard]] Element drawn(std::string_view input, std::int64_t element, tensor::DType dtype,
                                bool positive) const override;

  private:
    [[nodiscard]] Element rounded(tensor::DType dtype, double x) const;

    bool single_;
    std::uint64_t seed_;
};

}  // namespace tutti::verify
