#include "verify/tensor/compute.hpp"

#include "core/error.hpp"
#include "tensor/infer.hpp"

#include <algorithm>

namespace tutti::verify {
namespace {

using tensor::Op;
using tensor::Reduction;
using tensor::Value;
using Index = std::span<const std::int64_t>;

/// For each dimension of the result, how far a step along it goes in an operand; 0 where that is broadcast.
std::vector<std::int64_t> steps_into(const tensor::Type& operand, std::span<const std::size_t> to,
                                     const tensor::Type& result) {
    const std::vector<std::int64_t> strides = strides_of(operand.shape);
    std::vector<std::int64_t> steps(result.rank(), 0);
    for (std::size_t d = 0; d < operand.rank(); ++d) {
        if (to[d] != tensor::kNowhere && (operand.shape[d] != 1 || result.shape[to[d]] == 1))
            steps[to[d]] = strides[d];
    }
    return steps;
}

void compute_source(const Value& value, const Box& box, const Numbers& numbers, Element* out) {
    const std::vector<std::int64_t> strides = strides_of(value.type.shape);
    for_each_index(box, [&](Index index) {
        const std::size_t at = offset_of(index, strides);
        if (value.op == Op::Constant) {
            out[at] = numbers.constant(value.number, value.type.dtype);
        } else if (value.op == Op::Uniform) {
            out[at] = numbers.uniform(value.seed, static_cast<std::int64_t>(at));
        } else {
            out[at] = numbers.count(index[static_cast<std::size_t>(value.dim)], value.type.dtype);
        }
    });
}

Element pointwise(const Value& value, std::span<const Operand> operands, std::span<const Element> x,
                  const Numbers& numbers) {
    if (std::ranges::find(x, kPoison) != x.end()) return kPoison;
    const tensor::DType dtype = operands[0].type->dtype;
    if (value.op == Op::Cast) return numbers.cast(dtype, value.type.dtype, x[0]);
    if (value.op == Op::Select) return numbers.is_true(x[0]) ? x[1] : x[2];
    return x.size() == 1 ? numbers.unary(value.op, dtype, x[0]) : numbers.binary(value.op, dtype, x[0], x[1]);
}

void compute_pointwise(const Value& value, std::span<const Operand> operands, const Box& box,
                       const Numbers& numbers, Element* out) {
    std::vector<std::vector<std::int64_t>> steps;
    for (const Operand& operand : operands) {
        std::vector<std::size_t> to;
        for (std::size_t d = 0; d < operand.type->rank(); ++d)
            to.push_back(tensor::aligned_dim(d, operand.type->rank(), value.type.rank()));
        steps.push_back(steps_into(*operand.type, to, value.type));
    }
    const std::vector<std::int64_t> strides = strides_of(value.type.shape);
    std::vector<Element> x(operands.size());
    for_each_index(box, [&](Index index) {
        for (std::size_t i = 0; i < operands.size(); ++i)
            x[i] = operands[i].elements[offset_of(index, steps[i])];
        out[offset_of(index, strides)] = pointwise(value, operands, x, numbers);
    });
}

Element added(const Numbers& numbers, Reduction reduction, tensor::DType dtype, Element sum, Element x) {
    return sum == kPoison || x == kPoison ? kPoison : numbers.combine(reduction, dtype, sum, x);
}

void compute_einsum(const Value& value, std::span<const Operand> operands, const Box& box,
                    const Numbers& numbers, Element* out) {
    const tensor::EinsumSpec spec = tensor::parse_einsum(value.spec);
    std::string letters = spec.result;
    std::vector<tensor::Interval> ranges(box.begin(), box.end());
    std::vector<std::vector<std::int64_t>> steps(operands.size());
    for (std::size_t i = 0; i < operands.size(); ++i) {
        for (std::size_t d = 0; d < spec.operands[i].size(); ++d) {
            const std::size_t known = letters.find(spec.operands[i][d]);
            const tensor::Interval held = operands[i].held[d];
            if (known == std::string::npos) {
                letters += spec.operands[i][d];
                ranges.push_back(held);
            } else if (known >= spec.result.size()) {
                ranges[known] = {std::max(ranges[known].begin, held.begin),
                                 std::min(ranges[known].end, held.end)};
            }
        }
    }
    for (std::size_t i = 0; i < operands.size(); ++i) {
        steps[i].assign(letters.size(), 0);
        const std::vector<std::int64_t> strides = strides_of(operands[i].type->shape);
        for (std::size_t d = 0; d < strides.size(); ++d)
            steps[i][letters.find(spec.operands[i][d])] = strides[d];
    }
    const Box contracted(ranges.begin() + static_cast<std::ptrdiff_t>(spec.result.size()), ranges.end());
    const std::vector<std::int64_t> strides = strides_of(value.type.shape);
    const tensor::DType dtype = value.type.dtype;
    for_each_index(box, [&](Index index) {
        Element sum = numbers.nothing(Reduction::Sum);
        for_each_index(contracted, [&](Index inner) {
            Element product = kPoison;
            for (std::size_t i = 0; i < operands.size(); ++i) {
                const std::span<const std::int64_t> own(steps[i]);
                const Element x = operands[i].elements[offset_of(index, own.first(index.size())) +
                                                       offset_of(inner, own.subspan(index.size()))];
                if (i == 0) {
                    product = x;
                } else {
                    product = product == kPoison || x == kPoison ? kPoison
                                                                 : numbers.binary(Op::Mul, dtype, product, x);
                }
            }
            sum = added(numbers, Reduction::Sum, dtype, sum, product);
        });
        out[offset_of(index, strides)] = sum;
    });
}

void compute_reduce(const Value& value, const Operand& operand, const Box& box, const Numbers& numbers,
                    Element* out) {
    const std::vector<std::size_t> to = tensor::dims_after_reduce(value, operand.type->rank());
    const std::vector<std::int64_t> strides = strides_of(operand.type->shape),
                                    result_strides = strides_of(value.type.shape);
    std::vector<std::int64_t> kept(value.type.rank(), 0), reduced;
    Box inside;
    for (std::size_t d = 0; d < to.size(); ++d) {
        if (to[d] != tensor::kNowhere) {
            kept[to[d]] = strides[d];
        } else {
            reduced.push_back(strides[d]);
            inside.push_back(operand.held[d]);
        }
    }
    for_each_index(box, [&](Index index) {
        const std::size_t begin = offset_of(index, kept);
        Element sum = numbers.nothing(value.reduction);
        for_each_index(inside, [&](Index inner) {
            sum = added(numbers, value.reduction, value.type.dtype, sum,
                        operand.elements[begin + offset_of(inner, reduced)]);
        });
        out[offset_of(index, result_strides)] = sum;
    });
}

/// Transpose, broadcast and reshape: every element of the result is one of the operand.
void move_elements(const Value& value, const Operand& operand, const Box& box, Element* out) {
    const std::vector<std::int64_t> strides = strides_of(value.type.shape);
    std::vector<std::int64_t> steps = strides;  // a reshape keeps the row-major order
    if (value.op == Op::Transpose) {
        const std::vector<std::int64_t> own = strides_of(operand.type->shape);
        for (std::size_t d = 0; d < steps.size(); ++d)
            steps[d] = own[static_cast<std::size_t>(value.perm[d])];
    } else if (value.op == Op::Broadcast) {
        steps =
            steps_into(*operand.type, tensor::dims_after_broadcast(value, operand.type->rank()), value.type);
    }
    for_each_index(box, [&](Index index) {
        out[offset_of(index, strides)] = operand.elements[offset_of(index, steps)];
    });
}

}  // namespace

void compute(const Value& value, std::span<const Operand> operands, const Box& box, const Numbers& numbers,
             Element* out) {
    switch (value.op) {
        case Op::Constant:
        case Op::Uniform:
        case Op::Iota:
            compute_source(value, box, numbers, out);
            break;
        case Op::Einsum:
            compute_einsum(value, operands, box, numbers, out);
            break;
        case Op::Reduce:
            compute_reduce(value, operands[0], box, numbers, out);
            break;
        case Op::Transpose:
        case Op::Broadcast:
        case Op::Reshape:
            move_elements(value, operands[0], box, out);
            break;
        default:
            if (!tensor::is_pointwise(value.op))
                throw InternalError("an operation that communicates was to be computed");
            compute_pointwise(value, operands, box, numbers, out);
    }
}

}  // namespace tutti::verify
