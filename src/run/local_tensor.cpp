#include "run/local_tensor.hpp"

#include "run/tile_table.hpp"

#include <algorithm>
#include <array>

namespace tutti::run {

using tensor::DType;

LocalTensor::LocalTensor(DType dtype, Precision precision, std::vector<std::int64_t> sizes)
    : shape(std::move(sizes)) {
    const auto count = static_cast<std::size_t>(elements());
    switch (storage_of(dtype, precision)) {
        case Storage::Single:
            data = std::vector<float>(count);
            break;
        case Storage::Full:
            data = std::vector<double>(count);
            break;
        case Storage::Field:
            data = std::vector<Field>(count);
    }
}

const void* LocalTensor::first() const {
    return std::visit([](const auto& numbers) -> const void* { return numbers.data(); }, data);
}

void* LocalTensor::first() {
    return std::visit([](auto& numbers) -> void* { return numbers.data(); }, data);
}

std::int64_t LocalTensor::elements() const { return product(shape); }

double LocalTensor::at(std::size_t element) const {
    if (const auto* single = std::get_if<0>(&data)) return static_cast<double>((*single)[element]);
    return std::get<1>(data)[element];
}

void LocalTensor::set(std::size_t element, double number) {
    if (auto* single = std::get_if<0>(&data)) {
        (*single)[element] = static_cast<float>(number);
    } else {
        std::get<1>(data)[element] = number;
    }
}

void fill(LocalTensor& tensor, double number, DType dtype, const Arithmetic& arithmetic) {
    if (auto* field = std::get_if<2>(&tensor.data)) {
        std::ranges::fill(*field, emit::element::Fields{arithmetic.salt}.constant(number));
        return;
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.elements()); ++i) tensor.set(i, number);
    round_to(dtype, arithmetic.precision, tensor);
}

void combine(tensor::Reduction reduction, Storage storage, const Arithmetic& arithmetic, void* into,
             const void* from, std::int64_t count) {
    const CombineFunction function =
        storage == Storage::Field
            ? field_combine(reduction)
            : tile_table().combine[static_cast<std::size_t>(storage)][static_cast<std::size_t>(reduction)];
    function(into, from, count, arithmetic.salt);
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
    if (const RoundFunction round = tile_table().round_single[static_cast<std::size_t>(dtype)])
        round(numbers.data(), std::ssize(numbers));
}

void round_to(DType dtype, std::span<double> numbers) {
    if (const RoundFunction round = tile_table().round_full[static_cast<std::size_t>(dtype)])
        round(numbers.data(), std::ssize(numbers));
}

void round_to(DType dtype, Precision precision, LocalTensor& values) {
    if (auto* single = std::get_if<0>(&values.data)) {
        round_to(dtype, precision, std::span(*single));
    } else if (auto* full = std::get_if<1>(&values.data)) {
        round_to(dtype, std::span(*full));
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
