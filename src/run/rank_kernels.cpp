#include "run/rank_kernels.hpp"

#include "run/view_loops.hpp"
#include "tensor/infer.hpp"
#include "tensor/philox.hpp"

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>
#include <vector>

namespace tutti::run {

namespace element = emit::element;
using element::Fields;
using tensor::Op, tensor::Reduction, tensor::Value;

namespace {

/// A row as one element.
template <element::Reduction R, class N, class T>
T total(const N& numbers, const T* x, std::int64_t step, std::int64_t count) {
    constexpr bool kIsWider = std::is_same_v<T, float> && (R == element::Sum || R == element::Prod);
    using Wide = std::conditional_t<kIsWider, double, T>;
    constexpr std::int64_t kLanes = 8;
    std::array<Wide, kLanes> lanes;
    lanes.fill(numbers.template nothing<R, Wide>());
    const auto add = [&](std::int64_t i, std::size_t lane) {
        lanes[lane] = numbers.template combine<R>(lanes[lane], static_cast<Wide>(x[i * step]));
    };
    std::int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
        for (std::size_t lane = 0; lane < kLanes; ++lane) add(i + static_cast<std::int64_t>(lane), lane);
    }
    for (std::size_t lane = 0; i < count; ++i, ++lane) add(i, lane);
    for (std::size_t lane = 1; lane < kLanes; ++lane)
        lanes[0] = numbers.template combine<R>(lanes[0], lanes[lane]);
    return static_cast<T>(lanes[0]);
}

template <element::Reduction R, class N, class T>
void reduce_into(const N& numbers, const MemoryView& from, const MemoryView& to, const MemoryView& result) {
    for_each_row<T>(result,
                    [&](std::span<T> row) { std::ranges::fill(row, numbers.template nothing<R, T>()); });
    for_each_row_pair<T>(
        from.shape, from, to,
        [&](const T* x, std::int64_t x_step, T* out, std::int64_t out_step, std::int64_t count) {
            if (out_step == 0) {
                *out = numbers.template combine<R>(*out, total<R>(numbers, x, x_step, count));
            } else {
                for (std::int64_t i = 0; i < count; ++i)
                    out[i * out_step] = numbers.template combine<R>(out[i * out_step], x[i * x_step]);
            }
        });
}

template <class T>
void copy_rows(const MemoryView& from, const MemoryView& to) {
    for_each_row_pair<T>(
        to.shape, from, to,
        [](const T* x, std::int64_t x_step, T* out, std::int64_t out_step, std::int64_t count) {
            if (x_step == 1 && out_step == 1) {
                std::copy_n(x, count, out);
            } else {
                for (std::int64_t i = 0; i < count; ++i) out[i * out_step] = x[i * x_step];
            }
        });
}

/// Of the same shape.
void copy(const MemoryView& from, const MemoryView& to) {
    if (to.storage == Storage::Single) return copy_rows<float>(from, to);
    if (to.storage == Storage::Full) return copy_rows<double>(from, to);
    copy_rows<Field>(from, to);
}

/// Without dimensions of size 1.
MemoryView squeezed(const MemoryView& view) {
    MemoryView result{view.first, view.storage, {}, {}};
    for (std::size_t d = 0; d < view.shape.size(); ++d) {
        if (view.shape[d] == 1) continue;
        result.shape.push_back(view.shape[d]);
        result.strides.push_back(view.strides[d]);
    }
    return result;
}

/// The same elements in row-major order, whatever the shapes.
void copy_in_order(const MemoryView& from, const MemoryView& to) {
    const MemoryView source = squeezed(from), target = squeezed(to);
    if (source.shape == target.shape) return copy(source, target);
    std::vector<std::int64_t> places;  // of the target's elements, in order
    places.reserve(static_cast<std::size_t>(product(target.shape)));
    for_each_offset<1>(target.shape, {std::span<const std::int64_t>(target.strides)}, {0},
                       [&](const std::array<std::int64_t, 1>& at) { places.push_back(at[0]); });
    std::size_t next = 0;
    const std::size_t size = bytes_of(to.storage);
    for_each_offset<1>(source.shape, {std::span<const std::int64_t>(source.strides)}, {0},
                       [&](const std::array<std::int64_t, 1>& at) {
                           std::copy_n(source.at(at[0]), size, target.at(places[next++]));
                       });
}

}  // namespace

void reduce(const Value& value, const MemoryView& operand, const MemoryView& result,
            const Arithmetic& arithmetic) {
    const std::vector<std::size_t> to = dims_after_reduce(value, operand.shape.size());
    MemoryView target{result.first, result.storage, operand.shape, std::vector<std::int64_t>(to.size(), 0)};
    for (std::size_t d = 0; d < to.size(); ++d) {
        if (to[d] != tensor::kNowhere) target.strides[d] = result.strides[to[d]];
    }
    in_numbers_of(result.storage, arithmetic, [&]<class N, class T>(const N& numbers, T) {
        switch (value.reduction) {
            case Reduction::Sum:
                return reduce_into<element::Sum, N, T>(numbers, operand, target, result);
            case Reduction::Prod:
                return reduce_into<element::Prod, N, T>(numbers, operand, target, result);
            case Reduction::Max:
                return reduce_into<element::Most, N, T>(numbers, operand, target, result);
            case Reduction::Min:
                return reduce_into<element::Least, N, T>(numbers, operand, target, result);
        }
    });
    round_elements(value.type.dtype, arithmetic.precision, result);
}

void move(const Value& value, const MemoryView& operand, const MemoryView& result) {
    if (value.op != Op::Transpose && value.op != Op::Broadcast) return copy_in_order(operand, result);
    MemoryView source{operand.first, operand.storage, result.shape,
                      std::vector<std::int64_t>(result.shape.size(), 0)};
    for (std::size_t d = 0; d < operand.shape.size(); ++d) {
        if (value.op == Op::Transpose) {
            source.strides[d] = operand.strides[static_cast<std::size_t>(value.perm[d])];
        } else {
            const std::size_t to = dims_after_broadcast(value, operand.shape.size())[d];
            if (operand.shape[d] == result.shape[to]) source.strides[to] = operand.strides[d];
        }
    }
    copy(source, result);
}

LocalTensor generated(const Value& value, std::span<const tensor::Interval> box,
                      const Arithmetic& arithmetic) {
    std::vector<std::int64_t> shape, strides = row_major_strides(value.type.shape);
    std::int64_t first = 0;
    for (std::size_t d = 0; d < box.size(); ++d) {
        shape.push_back(box[d].size());
        first += box[d].begin * strides[d];
    }
    LocalTensor result(value.type.dtype, arithmetic.precision, shape);
    if (value.op == Op::Constant) {
        fill(result, value.number, value.type.dtype, arithmetic);
        return result;
    }
    const Fields field{arithmetic.salt};
    constexpr element::Word kUniform = 1000;  // the number of that function in verify::FieldNumbers
    std::size_t next = 0;
    for_each_offset<1>(
        shape, {std::span<const std::int64_t>(strides)}, {first}, [&](const std::array<std::int64_t, 1>& at) {
            const auto seed = static_cast<std::uint64_t>(value.seed),
                       number = static_cast<std::uint64_t>(at[0]);
            const auto dim = static_cast<std::size_t>(value.dim);
            const std::int64_t index =
                value.op == Op::Iota ? at[0] / strides[dim] % value.type.shape[dim] : 0;
            if (auto* elements = std::get_if<std::vector<Field>>(&result.data)) {
                (*elements)[next++] = {value.op == Op::Iota ? field.whole_number(index)
                                                            : field.random(kUniform, seed, number)};
            } else {
                result.set(next++, value.op == Op::Iota ? static_cast<double>(index)
                                                        : tensor::uniform_number(seed, number));
            }
        });
    round_to(value.type.dtype, arithmetic.precision, result);
    return result;
}

}  // namespace tutti::run
