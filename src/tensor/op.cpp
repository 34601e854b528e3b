#include "tensor/op.hpp"

#include <array>

namespace tutti::tensor {
namespace {

constexpr OpInfo unary(Op op, std::string_view name) { return {op, name, OpKind::Pointwise, 1, 1, 0, 0}; }
constexpr OpInfo binary(Op op, std::string_view name) { return {op, name, OpKind::Pointwise, 2, 2, 0, 0}; }

constexpr std::array<OpInfo, kOps> rows() {
    using namespace attribute;
    using enum OpKind;
    return {{
        {Op::Input, "input", Source, 0, 0, kDType | kShape, kLayout | kState},
        {Op::Constant, "constant", Source, 0, 0, kDType | kValue, kShape},
        {Op::Uniform, "uniform", Source, 0, 0, kDType | kShape | kSeed, 0},
        {Op::Iota, "iota", Source, 0, 0, kDType | kShape | kDim, 0},
        unary(Op::Neg, "neg"),
        unary(Op::Abs, "abs"),
        unary(Op::Sqrt, "sqrt"),
        unary(Op::Rsqrt, "rsqrt"),
        unary(Op::Exp, "exp"),
        unary(Op::Log, "log"),
        unary(Op::Tanh, "tanh"),
        unary(Op::Erf, "erf"),
        unary(Op::Sigmoid, "sigmoid"),
        unary(Op::Not, "not"),
        binary(Op::Add, "add"),
        binary(Op::Sub, "sub"),
        binary(Op::Mul, "mul"),
        binary(Op::Div, "div"),
        binary(Op::Max, "max"),
        binary(Op::Min, "min"),
        binary(Op::Pow, "pow"),
        binary(Op::Lt, "lt"),
        binary(Op::Le, "le"),
        binary(Op::Gt, "gt"),
        binary(Op::Ge, "ge"),
        binary(Op::Eq, "eq"),
        binary(Op::Ne, "ne"),
        binary(Op::And, "and"),
        binary(Op::Or, "or"),
        {Op::Select, "select", Pointwise, 3, 3, 0, 0},
        {Op::Cast, "cast", Pointwise, 1, 1, kDType, 0},
        {Op::Update, "update", Update, 2, 2, 0, 0},
        {Op::Einsum, "einsum", Compute, 1, kMostArgs, kSpec, 0},
        {Op::Reduce, "reduce", Compute, 1, 1, kDims | kReduce, kKeepdims},
        {Op::Transpose, "transpose", Compute, 1, 1, kPerm, 0},
        {Op::Broadcast, "broadcast", Compute, 1, 1, kShape, kDims},
        {Op::Reshape, "reshape", Compute, 1, 1, kShape, 0},
        {Op::Slice, "slice", Placement, 1, 1, kAxes | kDim, 0},
        {Op::Stack, "stack", Placement, 1, 1, kAxis | kDim, 0},
        {Op::Unstack, "unstack", Placement, 1, 1, kAxis | kDim, 0},
        {Op::AllReduce, "all_reduce", Collective, 1, 1, kAxes | kReduce, 0},
        {Op::ReduceScatter, "reduce_scatter", Collective, 1, 1, kAxes | kReduce | kDim, 0},
        {Op::AllGather, "all_gather", Collective, 1, 1, kAxes, 0},
        {Op::ReduceTo, "reduce_to", Collective, 1, 1, kAxes | kReduce | kRoot, 0},
        {Op::BroadcastFrom, "broadcast_from", Collective, 1, 1, kAxes | kRoot, 0},
        {Op::AllToAll, "all_to_all", Collective, 1, 1, kAxis | kSplit, 0},
        {Op::Shift, "shift", Collective, 1, 1, kAxis | kBy, 0},
    }};
}

/// In the order of the enumeration.
constexpr std::array<OpInfo, kOps> kTable = rows();

constexpr bool in_order() {
    for (std::size_t i = 0; i < kOps; ++i) {
        if (kTable[i].op != static_cast<Op>(i)) return false;
    }
    return true;
}
static_assert(in_order());

}  // namespace

const OpInfo& info_of(Op op) { return kTable[static_cast<std::size_t>(op)]; }

std::optional<Op> op_named(std::string_view name) {
    for (const OpInfo& row : kTable) {
        if (row.name == name) return row.op;
    }
    return std::nullopt;
}

bool is_commutative(Op op) {
    switch (op) {
        case Op::Add:
        case Op::Mul:
        case Op::Max:
        case Op::Min:
        case Op::Eq:
        case Op::Ne:
        case Op::And:
        case Op::Or:
            return true;
        default:
            return false;
    }
}

}  // namespace tutti::tensor
