#include "run/local_tensor.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace tutti::run {

using tensor::DType;

namespace {

bool is_single(DType dtype, Precision precision) {
    return precision == Precision::Declared && tensor::is_floating(dtype) && dtype != DType::F64;
}

/// The upper half of a float, to nearest even.
float rounded_to_bf16(float number) {
    if (std::isnan(number)) return number;
    std::uint32_t bits = std::bit_cast<std::uint32_t>(number);
    bits += 0x7FFFU + ((bits >> 16U) & 1U);
    return std::bit_cast<float>(bits & 0xFFFF0000U);
}

/// To nearest even: 11 bits from 2^-14 on, below in steps of 2^-24, and nothing above 65504.
float rounded_to_f16(float number) {
    if (!std::isfinite(number) || number == 0) return number;
    const int exponent = std::max(std::ilogb(number), -14);
    const float step = std::ldexp(1.0F, exponent - 10);
    const float rounded = std::nearbyint(number / step) * step;
    if (std::abs(rounded) <= 65504) return rounded;
    return std::copysign(std::numeric_limits<float>::infinity(), number);
}

template <class Whole>
double wrapped(double number) {
    // What does not fit in 64 bits has no meaning in such a type.
    if (!(std::abs(number) < 9.2e18)) return 0;
    return static_cast<double>(static_cast<Whole>(static_cast<std::int64_t>(number)));
}

}  // namespace

LocalTensor::LocalTensor(DType dtype, Precision precision, std::vector<std::int64_t> sizes)
    : shape(std::move(sizes)) {
    const auto count = static_cast<std::size_t>(elements());
    if (run::is_single(dtype, precision)) {
        data = std::vector<float>(count);
    } else {
        data = std::vector<double>(count);
    }
}

std::int64_t LocalTensor::elements() const { return product(shape); }

double LocalTensor::at(std::size_t element) const {
    return std::visit([&](const auto& numbers) { return static_cast<double>(numbers[element]); }, data);
}

void LocalTensor::set(std::size_t element, double number) {
    std::visit(
        [&](auto& numbers) {
            numbers[element] = static_cast<typename std::decay_t<decltype(numbers)>::value_type>(number);
        },
        data);
}

std::int64_t product(std::span<const std::int64_t> sizes) {
    std::int64_t result = 1;
    for (const std::int64_t size : sizes) result *= size;
    return result;
}

std::vector<std::int64_t> row_major_strides(std::span<const std::int64_t> shape) {
    std::vector<std::int64_t> strides(shape.size(), 1);
    for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
    return strides;
}

void round_to(DType dtype, Precision precision, std::span<float> numbers) {
    if (precision != Precision::Declared) return;
    if (dtype == DType::F16) std::ranges::transform(numbers, numbers.begin(), rounded_to_f16);
    if (dtype == DType::BF16) std::ranges::transform(numbers, numbers.begin(), rounded_to_bf16);
}

void round_to(DType dtype, std::span<double> numbers) {
    const auto apply = [&](auto function) { std::ranges::transform(numbers, numbers.begin(), function); };
    switch (dtype) {
        case DType::I64:
            return apply(wrapped<std::int64_t>);
        case DType::I32:
            return apply(wrapped<std::int32_t>);
        case DType::U32:
            return apply(wrapped<std::uint32_t>);
        case DType::I8:
            return apply(wrapped<std::int8_t>);
        case DType::U8:
            return apply(wrapped<std::uint8_t>);
        case DType::Bool:
            return apply([](double number) { return number != 0 ? 1.0 : 0.0; });
        default:
            return;
    }
}

void round_to(DType dtype, Precision precision, LocalTensor& values) {
    if (auto* single = std::get_if<0>(&values.data)) {
        round_to(dtype, precision, std::span(*single));
    } else {
        round_to(dtype, std::span(std::get<1>(values.data)));
    }
}

View whole_view(const LocalTensor& tensor) {
    return {&tensor, tensor.shape, row_major_strides(tensor.shape)};
}

LocalTensor gathered(const View& view) {
    LocalTensor result;
    result.shape = view.shape;
    std::visit(
        [&](const auto& from) {
            std::decay_t<decltype(from)> to;
            if (view.strides == row_major_strides(view.shape)) {
                const auto first = from.begin() + view.offset;
                to.assign(first, first + product(view.shape));
                result.data = std::move(to);
                return;
            }
            to.reserve(static_cast<std::size_t>(product(view.shape)));
            for_each_offset<1>(view.shape, {std::span<const std::int64_t>(view.strides)}, {view.offset},
                               [&](const std::array<std::int64_t, 1>& at) {
                                   to.push_back(from[static_cast<std::size_t>(at[0])]);
                               });
            result.data = std::move(to);
        },
        view.tensor->data);
    return result;
}

}  // namespace tutti::run
