#include "run/rank_kernels.hpp"

#include "tensor/infer.hpp"
#include "tensor/philox.hpp"

#include <algorithm>
#include <string>

namespace tutti::run {

namespace element = emit::element;
using element::Fields, element::Reals;
using tensor::Op, tensor::Reduction, tensor::Value;

namespace {

/// The loops of an einsum: one for each letter, those of the result but its last, the contracted ones, and
/// the last one of the result inside, so that a row of the result is added to at a time.
struct Loops {
    std::string letters{};
    std::vector<std::int64_t> sizes{};
    std::vector<std::int64_t> out{};                    ///< strides
    std::vector<std::vector<std::int64_t>> operands{};  ///< strides, by operand
};

Loops loops_of(const tensor::EinsumSpec& spec, std::span<const View> views,
               std::span<const std::int64_t> out_shape) {
    Loops loops;
    std::string letters = spec.result;
    const std::string row = letters.empty() ? "" : letters.substr(letters.size() - 1);
    if (!letters.empty()) letters.pop_back();
    for (const std::string& operand : spec.operands) {
        for (const char letter : operand) {
            if (letters.find(letter) == std::string::npos && row.find(letter) == std::string::npos)
                letters += letter;
        }
    }
    loops.letters = letters + row;
    const std::vector<std::int64_t> out_strides = row_major_strides(out_shape);
    for (const char letter : loops.letters) {
        const std::size_t kept = spec.result.find(letter);
        loops.out.push_back(kept == std::string::npos ? 0 : out_strides[kept]);
        loops.sizes.push_back(0);
    }
    for (std::size_t k = 0; k < views.size(); ++k) {
        std::vector<std::int64_t>& strides = loops.operands.emplace_back(loops.letters.size(), 0);
        for (std::size_t d = 0; d < views[k].shape.size(); ++d) {
            const std::size_t at = loops.letters.find(spec.operands[k][d]);
            strides[at] = views[k].strides[d];
            loops.sizes[at] = views[k].shape[d];
        }
    }
    return loops;
}

/// Calls `body` with the kind of numbers and a zero of the type in which they are stored.
template <class Body>
void in_numbers_of(Storage storage, const Arithmetic& arithmetic, const Body& body) {
    switch (storage) {
        case Storage::Single:
            return body(Reals{}, float{});
        case Storage::Full:
            return body(Reals{}, double{});
        case Storage::Field:
            return body(Fields{arithmetic.salt}, Field{0});
    }
}

template <class N, class T>
T sum_of(const N& numbers, T x, T y) {
    return numbers.template combine<element::Sum>(x, y);
}
template <class N, class T>
T product_of(const N& numbers, T x, T y) {
    return numbers.template combine<element::Prod>(x, y);
}

template <class N, class T>
void contract_two(const N& numbers, const Loops& loops, std::span<const View> views, LocalTensor& result) {
    T* out = std::get<std::vector<T>>(result.data).data();
    const T* a = std::get<std::vector<T>>(views[0].tensor->data).data();
    const T* b = std::get<std::vector<T>>(views[1].tensor->data).data();
    const std::size_t last = loops.letters.size() - 1;
    const std::int64_t row = loops.sizes[last], out_step = loops.out[last], a_step = loops.operands[0][last],
                       b_step = loops.operands[1][last];
    for_each_offset<3>(
        std::span(loops.sizes).first(last),
        {std::span<const std::int64_t>(loops.out), std::span<const std::int64_t>(loops.operands[0]),
         std::span<const std::int64_t>(loops.operands[1])},
        {0, views[0].offset, views[1].offset}, [&](const std::array<std::int64_t, 3>& at) {
            T* to = out + at[0];
            const T *x = a + at[1], *y = b + at[2];
            if (a_step == 0 && b_step == 1 && out_step == 1) {
                const T factor = *x;
                for (std::int64_t i = 0; i < row; ++i)
                    to[i] = sum_of(numbers, to[i], product_of(numbers, factor, y[i]));
            } else {
                for (std::int64_t i = 0; i < row; ++i)
                    to[i * out_step] =
                        sum_of(numbers, to[i * out_step], product_of(numbers, x[i * a_step], y[i * b_step]));
            }
        });
}

/// Any number of operands, one element at a time.
template <class N, class T>
void contract(const N& numbers, const Loops& loops, std::span<const View> views, LocalTensor& result) {
    std::vector<T>& out = std::get<std::vector<T>>(result.data);
    std::vector<std::int64_t> index(loops.sizes.size(), 0);
    if (std::ranges::any_of(loops.sizes, [](std::int64_t size) { return size <= 0; })) return;
    while (true) {
        std::int64_t to = 0;
        T factor = numbers.template nothing<element::Prod, T>();
        for (std::size_t d = 0; d < index.size(); ++d) to += index[d] * loops.out[d];
        for (std::size_t k = 0; k < views.size(); ++k) {
            std::int64_t at = views[k].offset;
            for (std::size_t d = 0; d < index.size(); ++d) at += index[d] * loops.operands[k][d];
            factor =
                product_of(numbers, factor,
                           std::get<std::vector<T>>(views[k].tensor->data)[static_cast<std::size_t>(at)]);
        }
        T& sum = out[static_cast<std::size_t>(to)];
        sum = sum_of(numbers, sum, factor);
        std::size_t d = index.size();
        while (d > 0 && ++index[d - 1] == loops.sizes[d - 1]) index[--d] = 0;
        if (d == 0) return;
    }
}

template <class N, class T, element::Reduction R>
void reduce(const N& numbers, const View& operand, std::span<const std::int64_t> strides,
            std::vector<T>& out) {
    std::ranges::fill(out, numbers.template nothing<R, T>());
    const std::vector<T>& from = std::get<std::vector<T>>(operand.tensor->data);
    for_each_offset<2>(operand.shape, {strides, std::span<const std::int64_t>(operand.strides)},
                       {0, operand.offset}, [&](const std::array<std::int64_t, 2>& at) {
                           T& into = out[static_cast<std::size_t>(at[0])];
                           into = numbers.template combine<R>(into, from[static_cast<std::size_t>(at[1])]);
                       });
}

}  // namespace

LocalTensor einsum(const Value& value, std::span<const View> operands, std::vector<std::int64_t> shape,
                   const Arithmetic& arithmetic) {
    LocalTensor result(value.type.dtype, arithmetic.precision, std::move(shape));
    const Loops loops = loops_of(tensor::parse_einsum(value.spec), operands, result.shape);
    fill(result, 0, value.type.dtype, arithmetic);
    in_numbers_of(result.storage(), arithmetic, [&]<class N, class T>(const N& numbers, T) {
        if (operands.size() == 2 && !loops.letters.empty()) {
            contract_two<N, T>(numbers, loops, operands, result);
        } else {
            contract<N, T>(numbers, loops, operands, result);
        }
    });
    round_to(value.type.dtype, arithmetic.precision, result);
    return result;
}

LocalTensor reduced(const Value& value, const View& operand, std::vector<std::int64_t> shape,
                    const Arithmetic& arithmetic) {
    LocalTensor result(value.type.dtype, arithmetic.precision, std::move(shape));
    const std::vector<std::size_t> to = dims_after_reduce(value, operand.shape.size());
    const std::vector<std::int64_t> out_strides = row_major_strides(result.shape);
    std::vector<std::int64_t> strides(to.size(), 0);
    for (std::size_t d = 0; d < to.size(); ++d) {
        if (to[d] != tensor::kNowhere) strides[d] = out_strides[to[d]];
    }
    in_numbers_of(result.storage(), arithmetic, [&]<class N, class T>(const N& numbers, T) {
        auto& out = std::get<std::vector<T>>(result.data);
        switch (value.reduction) {
            case Reduction::Sum:
                return reduce<N, T, element::Sum>(numbers, operand, strides, out);
            case Reduction::Prod:
                return reduce<N, T, element::Prod>(numbers, operand, strides, out);
            case Reduction::Max:
                return reduce<N, T, element::Most>(numbers, operand, strides, out);
            case Reduction::Min:
                return reduce<N, T, element::Least>(numbers, operand, strides, out);
        }
    });
    round_to(value.type.dtype, arithmetic.precision, result);
    return result;
}

LocalTensor moved(const Value& value, const View& operand, std::vector<std::int64_t> shape) {
    View view{operand.tensor, std::move(shape), {}, operand.offset};
    view.strides.assign(view.shape.size(), 0);
    for (std::size_t d = 0; d < operand.shape.size(); ++d) {
        if (value.op == Op::Transpose) {
            const auto from = static_cast<std::size_t>(value.perm[d]);
            view.strides[d] = operand.strides[from];
        } else {
            const std::size_t to = dims_after_broadcast(value, operand.shape.size())[d];
            if (operand.shape[d] == view.shape[to]) view.strides[to] = operand.strides[d];
        }
    }
    return gathered(view);
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
