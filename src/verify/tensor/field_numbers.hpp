#pragma once

#include "verify/tensor/numbers.hpp"

namespace tutti::verify {

/// Numbers modulo the prime 2^61 - 1. Sums, differences and products are exact, in whatever order. Every
/// other function is a random function of its operands and the salt; max, min and comparisons go by a random
/// order, since by the usual one 0 and 1 are special; a maximum or minimum of nothing is a mark of its own.
/// Two programs that give different functions agree on random elements by a chance of about 2^-61 for each
/// operation, but for choices by comparison.
class FieldNumbers final : public Numbers {
  public:
    static constexpr Element kPrime = (Element{1} << 61) - 1;

    explicit FieldNumbers(std::uint64_t salt) : salt_(salt) {}

    [[nodiscard]] Element constant(double number, tensor::DType dtype) const override;
    [[nodiscard]] Element count(std::int64_t number, tensor::DType dtype) const override;
    [[nodiscard]] Element uniform(std::int64_t seed, std::int64_t element) const override;
    [[nodiscard]] Element unary(tensor::Op op, tensor::DType dtype, Element x) const override;
    [[nodiscard]] Element binary(tensor::Op op, tensor::DType dtype, Element x, Element y) const override;
    [[nodiscard]] bool is_true(Element x) const override { return x != 0; }
    [[nodiscard]] Element cast(tensor::DType from, tensor::DType to, Element x) const override;
    [[nodiscard]] Element combine(tensor::Reduction reduction, tensor::DType dtype, Element x,
                                  Element y) const override;
    [[nodiscard]] Element nothing(tensor::Reduction reduction) const override;
    [[nodiscard]] Element drawn(std::string_view input, std::int64_t element, tensor::DType dtype,
                                bool positive) const override;

  private:
    [[nodiscard]] Element random(std::uint64_t function, Element x, Element y = 0) const;
    /// For comparisons: an order with ties, so that < and <= differ.
    [[nodiscard]] bool less(Element x, Element y) const;
    /// For max and min: one without.
    [[nodiscard]] bool before(Element x, Element y) const;

    std::uint64_t salt_;
};

}  // namespace tutti::verify
