#include "tests/support/tensor_runs.hpp"

#include "verify/tensor/rank_machine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace tutti::test {
namespace {

using tensor::Op;
using tensor::Value;
using tensor::ValueId;
using verify::Element;

bool has_attribute(const Value& value, std::uint32_t bit) {
    const tensor::OpInfo& info = tensor::info_of(value.op);
    return ((info.required | info.optional) & bit) != 0;
}

/// Another operation with the same operands and attributes.
void change_operation(Value& value, Rng& rng) {
    static constexpr std::array kUnary{Op::Neg, Op::Abs, Op::Sqrt, Op::Exp, Op::Tanh, Op::Sigmoid};
    static constexpr std::array kBinary{Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Max, Op::Min, Op::Pow};
    static constexpr std::array kComparison{Op::Lt, Op::Le, Op::Gt, Op::Ge, Op::Eq, Op::Ne};
    const auto from = [&](const auto& ops) {
        if (std::ranges::find(ops, value.op) != ops.end()) value.op = ops[rng.below(ops.size())];
    };
    from(kUnary);
    from(kBinary);
    from(kComparison);
}

/// Another size, another name of one, or one dimension more or less.
void change_shape(Value& value, Rng& rng) {
    static const std::array<tensor::Size, 4> kSizes{{{6, "N"}, {5, "M"}, {1, ""}, {4, ""}}};
    const tensor::Size& size = kSizes[rng.below(kSizes.size())];
    if (value.shape.empty() || rng.below(4) == 0) {
        value.shape.push_back(size);
    } else if (rng.below(4) == 0) {
        value.shape.pop_back();
    } else {
        value.shape[rng.below(value.shape.size())] = size;
    }
}

void change_attribute(Value& value, Rng& rng) {
    const auto small = [&] { return static_cast<std::int64_t>(rng.below(3)); };
    using namespace tensor;
    if (has_attribute(value, attribute::kReduce) && rng.below(2) == 0)
        value.reduction = static_cast<Reduction>(rng.below(4));
    if (has_attribute(value, attribute::kDim)) value.dim = small();
    if (has_attribute(value, attribute::kDims) && !value.dims.empty()) value.dims[0] = small();
    if (has_attribute(value, attribute::kRoot)) value.root = small();
    if (has_attribute(value, attribute::kSplit)) (rng.below(2) == 0 ? value.split : value.concat) = small();
    if (has_attribute(value, attribute::kBy)) value.by = small() - 1;
    if (has_attribute(value, attribute::kSeed)) value.seed += small();
    if (has_attribute(value, attribute::kValue)) value.number += static_cast<double>(small());
    if (has_attribute(value, attribute::kPerm)) rng.shuffle(value.perm);
    if (has_attribute(value, attribute::kAxes) && value.axes.size() > 1) value.axes.pop_back();
    if (has_attribute(value, attribute::kKeepdims) && rng.below(4) == 0) value.keepdims = !value.keepdims;
    if (has_attribute(value, attribute::kDType) && rng.below(4) == 0)
        value.dtype = static_cast<DType>(rng.below(kDTypeNames.size()));
    // A constant is broadcast whatever its shape: most other shapes of it change nothing.
    if (has_attribute(value, attribute::kShape) && rng.below(value.op == Op::Constant ? 8 : 2) == 0)
        change_shape(value, rng);
    if (has_attribute(value, attribute::kSpec) && rng.below(2) == 0)
        value.spec[rng.below(value.spec.size())] = value.spec[rng.below(value.spec.size())];
}

void change_layout(Value& value, Rng& rng) {
    if (value.op != Op::Input || value.layout.empty()) return;
    const std::array kinds{tensor::Layout(), tensor::Layout::local(), tensor::Layout::sliced(0),
                           tensor::Layout::sliced(1), tensor::Layout::root(0)};
    value.layout[rng.below(value.layout.size())] = kinds[rng.below(kinds.size())];
}

}  // namespace

oracle::TensorArithmetic arithmetic_of(const verify::Numbers& numbers, const tensor::Program& program,
                                       const verify::Arrays& inputs) {
    oracle::TensorArithmetic arithmetic;
    arithmetic.pointwise = [&numbers](const Value& value, tensor::DType dtype,
                                      const std::vector<Element>& x) -> Element {
        if (value.op == Op::Cast) return numbers.cast(dtype, value.type.dtype, x[0]);
        if (value.op == Op::Select) return numbers.is_true(x[0]) ? x[1] : x[2];
        return x.size() == 1 ? numbers.unary(value.op, dtype, x[0])
                             : numbers.binary(value.op, dtype, x[0], x[1]);
    };
    arithmetic.combine = [&numbers](tensor::Reduction reduction, tensor::DType dtype, Element x, Element y) {
        return numbers.combine(reduction, dtype, x, y);
    };
    arithmetic.nothing = [&numbers](tensor::Reduction reduction) { return numbers.nothing(reduction); };
    arithmetic.multiply = [&numbers](tensor::DType dtype, Element x, Element y) {
        return numbers.binary(Op::Mul, dtype, x, y);
    };
    arithmetic.source = [&numbers](const Value& value, const std::vector<std::int64_t>& index,
                                   std::int64_t number) {
        if (value.op == Op::Constant) return numbers.constant(value.number, value.dtype);
        if (value.op == Op::Uniform) return numbers.uniform(value.seed, number);
        return numbers.count(index[static_cast<std::size_t>(value.dim)], value.dtype);
    };
    arithmetic.zero = [&numbers](tensor::DType dtype) { return numbers.constant(0, dtype); };
    arithmetic.input = [&program, &inputs](const Value& value, const std::vector<std::int64_t>& rank,
                                           const std::vector<std::int64_t>& index) {
        std::vector<std::int64_t> at;
        for (std::size_t a = 0; a < rank.size(); ++a) at.push_back(rank[a]);
        at.insert(at.end(), index.begin(), index.end());
        const verify::Array& array = inputs.at(value.name);
        std::int64_t number = 0;
        for (std::size_t d = 0; d < at.size(); ++d) number = number * array.shape[d] + at[d];
        (void)program;
        return array.elements[static_cast<std::size_t>(number)];
    };
    return arithmetic;
}

std::string oracle_difference(const tensor::Program& original, const tensor::Program& changed,
                              const verify::Numbers& numbers) {
    const verify::Arrays inputs = verify::drawn_inputs(original, numbers);
    oracle::TensorMachine first(original, arithmetic_of(numbers, original, inputs)),
        second(changed, arithmetic_of(numbers, changed, inputs));
    const tensor::Mesh& mesh = changed.mesh();
    for (std::size_t i = 0; i < changed.outputs().size(); ++i) {
        const Value& output = changed[changed.outputs()[i]];
        for (std::int64_t rank = 0; rank < mesh.ranks(); ++rank) {
            const auto coordinates = mesh.coordinates(rank);
            std::vector<std::int64_t> index(output.type.rank(), 0);
            for (std::int64_t n = 0; n < output.type.elements(); ++n) {
                std::int64_t rest = n;
                for (std::size_t d = index.size(); d > 0; --d) {
                    index[d - 1] = rest % output.type.shape[d - 1];
                    rest /= output.type.shape[d - 1];
                }
                if (!second.owns(output.type, coordinates, index)) continue;
                const auto found = second.on_rank(changed.outputs()[i], coordinates, index);
                if (found && *found == first.meaning(original.outputs()[i], coordinates, index)) continue;
                return fmt::format("{} on rank {} at [{}]: {}", output.name, rank, fmt::join(index, ", "),
                                   found ? "wrong" : "not there");
            }
        }
    }
    return "";
}

std::string machine_difference(const tensor::Program& original, const tensor::Program& changed,
                               const verify::Numbers& numbers) {
    const verify::Arrays inputs = verify::drawn_inputs(original, numbers);
    const auto found = verify::difference(changed.mesh(), verify::run_ranks(changed, inputs, numbers),
                                          verify::meaning_of(original, inputs, numbers));
    if (!found) return "";
    return fmt::format("{} on rank {} at [{}]: {}", found->value, found->rank, fmt::join(found->index, ", "),
                       found->poison ? "not there" : "wrong");
}

std::optional<tensor::Program> random_mutant(const tensor::Program& program, Rng& rng) {
    tensor::ProgramParts parts = program.parts();
    const tensor::ProgramParts before = parts;
    const std::size_t at = rng.below(parts.values.size());
    Value& value = parts.values[at];
    switch (rng.below(5)) {
        case 0:
            if (value.args.empty()) return std::nullopt;
            value.args[rng.below(value.args.size())] = ValueId(rng.below(at));
            break;
        case 1:
            change_attribute(value, rng);
            break;
        case 2:
            change_operation(value, rng);
            break;
        case 3:
            change_layout(value, rng);
            break;
        default: {  // whoever reads it reads one of its operands
            if (value.args.empty()) return std::nullopt;
            const ValueId instead = value.args[rng.below(value.args.size())];
            for (Value& user : parts.values) {
                for (ValueId& arg : user.args) {
                    if (arg.index() == at) arg = instead;
                }
            }
        }
    }
    for (std::size_t i = 0; i < parts.values.size(); ++i) {
        if (parts.values[i] == before.values[i]) continue;
        try {
            return tensor::Program(parts);
        } catch (const tensor::Refusal&) {
            return std::nullopt;
        }
    }
    return std::nullopt;
}

}  // namespace tutti::test
