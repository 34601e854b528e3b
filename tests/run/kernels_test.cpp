// The loops over elements, against the definition of the operation one element at a time, and one kind of
// processor against the other.

#include "run/kernels.hpp"

#include "core/rng.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace {

using namespace tutti;
using namespace tutti::run;

constexpr std::array kFloats{ElementType::F16, ElementType::BF16, ElementType::F32, ElementType::F64};

std::vector<const KernelTable*> tables() {
    std::vector<const KernelTable*> all{&kPortableKernels};
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c")) all.push_back(&kAvx2Kernels);
#endif
    return all;
}

std::vector<std::byte> random_bytes(std::size_t count, Rng& rng) {
    std::vector<std::byte> bytes(count);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(rng.below(256));
    return bytes;
}

/// A half as its definition has it.
double number_of_half(std::uint16_t bits, int fraction_bits, int bias) {
    const int exponent_bits = 15 - fraction_bits, exponent = (bits & 0x7fff) >> fraction_bits;
    const int fraction = bits & ((1 << fraction_bits) - 1);
    double size = 0;
    if (exponent == (1 << exponent_bits) - 1) {
        size = fraction == 0 ? std::numeric_limits<double>::infinity()
                             : std::numeric_limits<double>::quiet_NaN();
    } else if (exponent == 0) {
        size = std::ldexp(fraction, 1 - bias - fraction_bits);
    } else {
        size = std::ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
    }
    return (bits & 0x8000) != 0 ? -size : size;
}

}  // namespace

TEST_CASE("all kinds of processors give the same bits") {
    Rng rng(11);
    constexpr std::size_t kElements = 333;
    for (int type = 0; type < kElementTypes; ++type) {
        const std::size_t bytes = kElements * size_of(static_cast<ElementType>(type));
        for (int op = 0; op < kOperators; ++op) {
            const auto a = random_bytes(bytes, rng), b = random_bytes(bytes, rng),
                       c = random_bytes(bytes, rng);
            std::vector<std::vector<std::byte>> twos, threes, quotients;
            for (const KernelTable* table : tables()) {
                const Kernels& kernels = table->rows[type][op];
                auto& two = twos.emplace_back(bytes);
                kernels.reduce_two(two.data(), a.data(), b.data(), kElements);
                auto& three = threes.emplace_back(bytes);
                std::vector<std::byte> other(bytes);
                std::byte* const targets[]{three.data(), other.data()};
                const std::byte* const sources[]{a.data(), b.data(), c.data()};
                kernels.reduce(targets, 2, sources, 3, kElements);
                CHECK(three == other);
                auto& quotient = quotients.emplace_back(a);
                kernels.divide(quotient.data(), kElements, 3);
            }
            CAPTURE(name_of(static_cast<ElementType>(type)));
            CAPTURE(name_of(static_cast<Operator>(op)));
            // What is not a number may have any bits, so floating-point results are compared as numbers.
            const bool floating = std::ranges::find(kFloats, static_cast<ElementType>(type)) != kFloats.end();
            if (floating) continue;
            for (const auto* results : {&twos, &threes, &quotients}) {
                for (const auto& result : *results) CHECK(result == results->front());
            }
        }
    }
}

TEST_CASE("a sum of halves is the nearest half, ties to even, for all halves") {
    for (const bool brain : {false, true}) {
        const int fraction_bits = brain ? 7 : 10, bias = brain ? 127 : 15;
        const auto type = brain ? ElementType::BF16 : ElementType::F16;
        constexpr std::size_t kAll = 65536;
        std::vector<std::uint16_t> all(kAll), others(kAll), sums(kAll);
        Rng rng(5);
        for (std::size_t at = 0; at < all.size(); ++at) {
            all[at] = static_cast<std::uint16_t>(at);
            others[at] = static_cast<std::uint16_t>(rng.below(65536));
            if (at % 3 == 0) others[at] = 0;
        }
        for (const KernelTable* table : tables()) {
            const Kernels& kernels = table->rows[static_cast<int>(type)][static_cast<int>(Operator::Sum)];
            kernels.reduce_two(reinterpret_cast<std::byte*>(sums.data()),
                               reinterpret_cast<const std::byte*>(all.data()),
                               reinterpret_cast<const std::byte*>(others.data()), all.size());
            std::size_t wrong = 0;
            for (std::size_t at = 0; at < all.size(); ++at) {
                // In f32 first, as the type's arithmetic is defined.
                const double exact =
                    static_cast<double>(static_cast<float>(number_of_half(all[at], fraction_bits, bias)) +
                                        static_cast<float>(number_of_half(others[at], fraction_bits, bias)));
                const double found = number_of_half(sums[at], fraction_bits, bias);
                if (std::isnan(exact)) {
                    wrong += std::isnan(found) ? 0U : 1U;
                    continue;
                }
                const double above =
                    number_of_half(static_cast<std::uint16_t>(sums[at] + 1), fraction_bits, bias);
                const double below =
                    number_of_half(static_cast<std::uint16_t>(sums[at] - 1), fraction_bits, bias);
                if (std::isinf(found)) {
                    // Beyond the largest number and half of its last place.
                    const double largest = std::fabs(below),
                                 step = largest -
                                        std::fabs(number_of_half(static_cast<std::uint16_t>(sums[at] - 2),
                                                                 fraction_bits, bias));
                    wrong += std::fabs(exact) >= largest + step / 2 ? 0U : 1U;
                    continue;
                }
                const double distance = std::fabs(exact - found);
                const bool zero = (sums[at] & 0x7fff) == 0;
                const double next =
                    std::isinf(above) ? std::numeric_limits<double>::infinity() : std::fabs(exact - above);
                const double last = zero ? std::numeric_limits<double>::infinity() : std::fabs(exact - below);
                const bool tie = distance == next || distance == last;
                wrong += distance > next || distance > last || (tie && sums[at] % 2 != 0) ? 1U : 0U;
            }
            CAPTURE(brain);
            CHECK(wrong == 0);
        }
    }
}

TEST_CASE("operators do what their names say") {
    const auto apply = [](ElementType type, Operator op, auto a, auto b) {
        auto result = a;
        kernels_of(type, op).reduce_two(reinterpret_cast<std::byte*>(&result),
                                        reinterpret_cast<const std::byte*>(&a),
                                        reinterpret_cast<const std::byte*>(&b), 1);
        return result;
    };
    using enum ElementType;
    CHECK(apply(F32, Operator::Sum, 1.5F, 2.0F) == 3.5F);
    CHECK(apply(F32, Operator::Prod, 1.5F, 2.0F) == 3.0F);
    CHECK(apply(F64, Operator::Min, 1.5, -2.0) == -2.0);
    CHECK(apply(F64, Operator::Max, 1.5, -2.0) == 1.5);
    CHECK(apply(I8, Operator::Sum, std::int8_t{100}, std::int8_t{100}) == std::int8_t{-56});
    CHECK(apply(U8, Operator::Prod, std::uint8_t{16}, std::uint8_t{17}) == std::uint8_t{16});
    CHECK(apply(I32, Operator::Min, std::int32_t{-5}, std::int32_t{3}) == -5);
    CHECK(apply(U64, Operator::Max, ~std::uint64_t{0}, std::uint64_t{3}) == ~std::uint64_t{0});
    std::int32_t value = -7;
    kernels_of(I32, Operator::Avg).divide(reinterpret_cast<std::byte*>(&value), 1, 2);
    CHECK(value == -3);
    std::int8_t small = 100;
    kernels_of(I8, Operator::Avg).divide(reinterpret_cast<std::byte*>(&small), 1, 200);
    CHECK(small == 0);
}

TEST_CASE("names of types and operators are read as NCCL writes them") {
    for (const std::string_view name : element_type_names()) CHECK(name_of(*element_type(name)) == name);
    CHECK(element_type("half") == ElementType::F16);
    CHECK(element_type("bfloat16") == ElementType::BF16);
    CHECK(element_type("float") == ElementType::F32);
    CHECK(!element_type("f8"));
    for (const std::string_view name : operator_names()) CHECK(name_of(*reduction(name)) == name);
    CHECK(!reduction("xor"));
}
