#pragma once

#include "tensor/dtype.hpp"
#include "tensor/op.hpp"

#include <cstdint>
#include <string_view>

namespace tutti::verify {

/// An element of a tensor in some kind of numbers: only that kind knows what the bits mean.
using Element = std::uint64_t;
/// What a rank does not have. No kind of numbers uses it; whatever is computed from it is poison.
inline constexpr Element kPoison = ~Element{0};

/// The arithmetic that programs are evaluated in. Operands are never poison.
class Numbers {
  public:
    Numbers() = default;
    Numbers(const Numbers&) = delete;
    Numbers& operator=(const Numbers&) = delete;
    virtual ~Numbers() = default;

    [[nodiscard]] virtual Element constant(double number, tensor::DType dtype) const = 0;
    /// Element `number` of iota.
    [[nodiscard]] virtual Element count(std::int64_t number, tensor::DType dtype) const = 0;
    [[nodiscard]] virtual Element uniform(std::int64_t seed, std::int64_t element) const = 0;
    [[nodiscard]] virtual Element unary(tensor::Op op, tensor::DType dtype, Element x) const = 0;
    /// `dtype` is that of the operands.
    [[nodiscard]] virtual Element binary(tensor::Op op, tensor::DType dtype, Element x, Element y) const = 0;
    [[nodiscard]] virtual bool is_true(Element x) const = 0;
    [[nodiscard]] virtual Element cast(tensor::DType from, tensor::DType to, Element x) const = 0;
    [[nodiscard]] virtual Element combine(tensor::Reduction reduction, tensor::DType dtype, Element x,
                                          Element y) const = 0;
    /// What a reduction of nothing gives; combined with x it is x.
    [[nodiscard]] virtual Element nothing(tensor::Reduction reduction) const = 0;
    /// An arbitrary element of an input, the same for the same name, number and seed.
    [[nodiscard]] virtual Element drawn(std::string_view input, std::int64_t element, tensor::DType dtype,
                                        bool positive) const = 0;
};

/// A number that looks random, made of others.
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
    std::uint64_t z = a * 0x9E3779B97F4A7C15ULL + b + 0xD1B54A32D192ED03ULL;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}
[[nodiscard]] constexpr std::uint64_t mixed(std::string_view text) {
    std::uint64_t hash = 0xCBF29CE484222325ULL;
    for (const char c : text) hash = mixed(hash, static_cast<unsigned char>(c));
    return hash;
}

}  // namespace tutti::verify
