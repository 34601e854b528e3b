#include "run/test_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <unordered_map>

namespace tutti::run {
namespace {

/// A floating-point type by its bits, which are moved but not computed with.
template <class Bits, int kPrecision>
struct Small {
    Bits bits{};
};
using HalfBits = Small<std::uint16_t, 11>;
using BfloatBits = Small<std::uint16_t, 8>;

template <class Visit>
auto with_type(ElementType type, const Visit& visit) {
    switch (type) {
        case ElementType::F16:
            return visit(HalfBits{});
        case ElementType::BF16:
            return visit(BfloatBits{});
        case ElementType::F32:
            return visit(float{});
        case ElementType::F64:
            return visit(double{});
        case ElementType::I8:
            return visit(std::int8_t{});
        case ElementType::U8:
            return visit(std::uint8_t{});
        case ElementType::I32:
            return visit(std::int32_t{});
        case ElementType::I64:
            return visit(std::int64_t{});
        case ElementType::U64:
            break;
    }
    return visit(std::uint64_t{});
}

template <class T>
struct Facts {
    static constexpr bool kFloating = std::is_floating_point_v<T>;
    static constexpr int kPrecision = std::numeric_limits<T>::digits;
    using Computed = std::conditional_t<kFloating, double, T>;
};
template <class Bits, int kBits>
struct Facts<Small<Bits, kBits>> {
    static constexpr bool kFloating = true;
    static constexpr int kPrecision = kBits;
    using Computed = double;
};

/// The nearest of a type's numbers, ties to even. Precondition: it is neither large nor tiny for the type.
template <class T>
[[nodiscard]] T rounded(typename Facts<T>::Computed value) {
    if constexpr (std::is_arithmetic_v<T>) {
        return static_cast<T>(value);
    } else {
        constexpr int kFraction = Facts<T>::kPrecision - 1, kBias = kFraction == 10 ? 15 : 127;
        if (value == 0) return {};
        int exponent = 0;
        const double mantissa =
            std::nearbyint(std::ldexp(std::frexp(std::fabs(value), &exponent), kFraction + 1));
        // The leading bit of the mantissa adds one to the exponent, as does one that was rounded up.
        const int bits = ((exponent - 2 + kBias) << kFraction) + static_cast<int>(mantissa);
        return {static_cast<std::uint16_t>(bits | (value < 0 ? 0x8000 : 0))};
    }
}

template <class T>
[[nodiscard]] std::string text_of_element(T value) {
    if constexpr (std::is_floating_point_v<T>) return fmt::format("{}", value);
    if constexpr (std::is_integral_v<T>) return fmt::format("{}", static_cast<std::int64_t>(value));
    if constexpr (std::is_same_v<T, BfloatBits>) {
        const std::uint32_t bits = std::uint32_t{value.bits} << 16U;
        float number = 0;
        std::memcpy(&number, &bits, sizeof number);
        return fmt::format("{}", number);
    }
    if constexpr (std::is_same_v<T, HalfBits>) {
        const int exponent = (value.bits >> 10) & 31, fraction = value.bits & 1023;
        if (exponent == 31) return fraction == 0 ? "inf" : "nan";
        const double size =
            exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
        return fmt::format("{}", (value.bits & 0x8000) != 0 ? -size : size);
    }
}

[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t value) {
    value ^= value >> 30U;
    value *= 0xbf58476d1ce4e5b9U;
    value ^= value >> 27U;
    value *= 0x94d049bb133111ebU;
    return value ^ (value >> 31U);
}

/// The inputs of one rank's chunk.
template <class T>
class Inputs {
  public:
    using Computed = typename Facts<T>::Computed;

    Inputs(Operator op, bool reduces, std::int32_t ranks) : op_(op), any_(!reduces) {
        if constexpr (Facts<T>::kFloating) {
            constexpr std::int64_t kLargest = 511;
            const std::int64_t exact = std::int64_t{1} << std::min(Facts<T>::kPrecision, 24);
            // Of more ranks than can be added exactly only some give a number other than 0; of factors only
            // eight are not 1.
            const std::int64_t most_numbers = op == Operator::Prod ? 8 : exact;
            apart_ = static_cast<std::uint64_t>((ranks + most_numbers - 1) / most_numbers);
            const std::int64_t numbers =
                op == Operator::Sum || op == Operator::Avg ? std::min<std::int64_t>(ranks, exact) : 1;
            size_ = static_cast<std::uint64_t>(std::min(kLargest, exact / numbers));
        }
    }

    /// The bits of element x of a chunk whose seed is given.
    [[nodiscard]] Computed value(std::uint64_t seed, std::uint64_t rank, std::uint64_t x) const {
        const std::uint64_t random = mixed(seed + x * 0x9e3779b97f4a7c15U);
        if constexpr (!Facts<T>::kFloating) {
            return static_cast<T>(random);
        } else if (any_) {
            return static_cast<double>(static_cast<std::int64_t>(random % 255) - 127);
        } else {
            if ((rank + x) % apart_ != 0) return op_ == Operator::Prod ? 1.0 : 0.0;
            if (op_ == Operator::Prod) return (random & 1U) != 0 ? 2.0 : 0.5;
            return static_cast<double>(random % (2 * size_ + 1)) - static_cast<double>(size_);
        }
    }

    [[nodiscard]] Computed combined(Computed a, Computed b) const {
        switch (op_) {
            case Operator::Min:
                return std::min(a, b);
            case Operator::Max:
                return std::max(a, b);
            case Operator::Prod:
                return product(a, b);
            default:
                return sum(a, b);
        }
    }
    /// What is stored of a result: of an average the quotient.
    [[nodiscard]] T stored(Computed value, std::int32_t ranks) const {
        if (op_ != Operator::Avg) return rounded<T>(value);
        if constexpr (std::is_same_v<T, double>) return value / ranks;
        if constexpr (Facts<T>::kFloating) {
            return rounded<T>(static_cast<float>(value) / static_cast<float>(ranks));
        } else {
            // No element reaches a number of ranks that the type does not have.
            if (static_cast<std::uint64_t>(ranks) > static_cast<std::uint64_t>(std::numeric_limits<T>::max()))
                return T{};
            return static_cast<T>(value / static_cast<T>(ranks));
        }
    }

  private:
    static Computed sum(Computed a, Computed b) {
        if constexpr (Facts<T>::kFloating) return a + b;
        return static_cast<Computed>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    }
    static Computed product(Computed a, Computed b) {
        if constexpr (Facts<T>::kFloating) return a * b;
        return static_cast<Computed>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    }

    Operator op_;
    bool any_;
    std::uint64_t apart_ = 1, size_ = 1;
};

[[nodiscard]] std::uint64_t seed_of(std::uint64_t salt, std::uint64_t rank, std::int64_t chunk) {
    return mixed(mixed(salt + 1) + (rank << 40U) + static_cast<std::uint64_t>(chunk));
}

}  // namespace

TestData::TestData(const Executable& executable, const Layout& layout, ElementType type, Operator op,
                   std::uint64_t salt)
    : executable_(&executable),
      layout_(&layout),
      type_(type),
      op_(op),
      salt_(salt),
      sums_(std::numeric_limits<std::uint32_t>::max()) {
    std::unordered_map<verify::SumId, std::size_t> known;
    for (const Rank rank : plan::ranks_below(executable.ranks())) {
        for (std::int64_t place = 0; place < executable.output_places[rank.index()]; ++place) {
            const auto sum = executable.postcondition.expected(rank, place, sums_);
            if (!sum) continue;
            const auto [found, is_new] = known.emplace(*sum, results_.size());
            if (is_new) results_.push_back({*sum, {}});
            results_[found->second].places.emplace_back(rank, place);
        }
    }
    reduces_ = std::ranges::any_of(results_, [&](const Result& result) {
        const auto runs = sums_.runs(result.sum);
        return runs.size() != 1 || runs[0].first != runs[0].last || runs[0].times != 1;
    });
}

void TestData::fill(std::uint32_t memory, std::byte* to) const {
    const ExecutableMemory& here = executable_->memories[memory];
    std::fill_n(to, static_cast<std::size_t>(layout_->elements(memory)) * size_of(type_), std::byte{0xff});
    if (!here.origin) return;
    const std::uint64_t origin = (*here.origin).value();
    with_type(type_, [&](auto zero) {
        using T = decltype(zero);
        const Inputs<T> inputs(op_, reduces_, executable_->ranks());
        for (std::int64_t place = here.known_first; place < here.known_last; ++place) {
            const std::uint64_t seed = seed_of(salt_, origin, place + here.origin_shift);
            auto* const first = reinterpret_cast<T*>(to) + layout_->first(memory, place);
            const auto length = static_cast<std::uint64_t>(layout_->length(memory, place));
            for (std::uint64_t x = 0; x < length; ++x) first[x] = rounded<T>(inputs.value(seed, origin, x));
        }
    });
}

TestData::Check TestData::check(std::span<const std::byte* const> memories) const {
    return check(memories, OptionalId<Rank>{});
}
TestData::Check TestData::check(std::span<const std::byte* const> memories, Rank rank) const {
    return check(memories, OptionalId<Rank>{rank});
}

TestData::Check TestData::check(std::span<const std::byte* const> memories, OptionalId<Rank> only) const {
    constexpr std::int64_t kPart = 4096;
    Check check;
    with_type(type_, [&](auto zero) {
        using T = decltype(zero);
        using Computed = typename Inputs<T>::Computed;
        const Inputs<T> inputs(op_, reduces_, executable_->ranks());
        std::vector<Computed> sum(kPart);
        std::vector<T> expected(kPart);
        const auto compute = [&](const Result& result, std::int64_t from, std::int64_t count) {
            bool any = false;
            for (const verify::SumRun& run : sums_.runs(result.sum)) {
                for (std::int64_t rank = run.first; rank <= run.last; ++rank) {
                    const auto origin = static_cast<std::uint64_t>(rank);
                    const std::uint64_t seed = seed_of(salt_, origin, run.chunk);
                    for (std::uint32_t time = 0; time < run.times; ++time) {
                        for (std::int64_t x = 0; x < count; ++x) {
                            const Computed value =
                                inputs.value(seed, origin, static_cast<std::uint64_t>(from + x));
                            Computed& at = sum[static_cast<std::size_t>(x)];
                            at = any ? inputs.combined(at, value) : value;
                        }
                        any = true;
                    }
                }
            }
            for (std::int64_t x = 0; x < count; ++x) {
                const auto at = static_cast<std::size_t>(x);
                expected[at] = any ? inputs.stored(sum[at], executable_->ranks()) : T{};
            }
        };
        const auto compare = [&](Rank rank, std::int64_t place, std::int64_t from, std::int64_t count) {
            const plan::Range& output = executable_->outputs[rank.index()];
            const std::int64_t first = layout_->first(output.memory, output.first + place) + from;
            const auto* const found = reinterpret_cast<const T*>(memories[output.memory]) + first;
            check.compared += static_cast<std::uint64_t>(count);
            if (std::memcmp(found, expected.data(), static_cast<std::size_t>(count) * sizeof(T)) == 0) return;
            for (std::int64_t x = 0; x < count; ++x) {
                const T& wanted = expected[static_cast<std::size_t>(x)];
                if (std::memcmp(found + x, &wanted, sizeof(T)) == 0) continue;
                if (check.wrong++ > 0) continue;
                const std::int64_t start = layout_->first(output.memory, output.first);
                check.first =
                    Difference{rank, first + x - start, text_of_element(wanted), text_of_element(found[x])};
            }
        };
        for (const Result& result : results_) {
            std::int64_t longest = 0;
            const auto length = [&](const std::pair<Rank, std::int64_t>& at) {
                const plan::Range& output = executable_->outputs[at.first.index()];
                return layout_->length(output.memory, output.first + at.second);
            };
            for (const auto& at : result.places) {
                if (!only || *only == at.first) longest = std::max(longest, length(at));
            }
            for (std::int64_t from = 0; from < longest; from += kPart) {
                compute(result, from, std::min(kPart, longest - from));
                for (const auto& at : result.places) {
                    const std::int64_t count = std::min(kPart, length(at) - from);
                    if (count > 0 && (!only || *only == at.first)) compare(at.first, at.second, from, count);
                }
            }
        }
    });
    return check;
}

}  // namespace tutti::run
