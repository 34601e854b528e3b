#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tutti::tensor {

/// The operations of programs.
enum class Op : std::uint8_t {
    Input,
    Constant,
    Uniform,
    Iota,
    Neg,
    Abs,
    Sqrt,
    Rsqrt,
    Exp,
    Log,
    Tanh,
    Erf,
    Sigmoid,
    Not,
    Add,
    Sub,
    Mul,
    Div,
    Max,
    Min,
    Pow,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    And,
    Or,
    Select,
    Cast,
    Update,
    Einsum,
    Reduce,
    Transpose,
    Broadcast,
    Reshape,
    Slice,
    Stack,
    Unstack,
    AllReduce,
    ReduceScatter,
    AllGather,
    ReduceTo,
    BroadcastFrom,
    AllToAll,
    Shift
};
inline constexpr std::size_t kOps = static_cast<std::size_t>(Op::Shift) + 1;

/// What operations have in common.
enum class OpKind : std::uint8_t {
    Source,      ///< input, constant, uniform, iota
    Pointwise,   ///< an element of the result needs one element of each operand
    Update,      ///< the next value of a state
    Compute,     ///< einsum, reduce, transpose, broadcast, reshape
    Placement,   ///< slice, stack, unstack: no element moves
    Collective,  ///< ranks exchange elements
};

/// The attributes of values, as bits: which an operation has.
namespace attribute {
inline constexpr std::uint32_t kDType = 1U << 0U, kShape = 1U << 1U, kLayout = 1U << 2U, kState = 1U << 3U,
                               kValue = 1U << 4U, kSeed = 1U << 5U, kSpec = 1U << 6U, kDims = 1U << 7U,
                               kKeepdims = 1U << 8U, kPerm = 1U << 9U, kAxes = 1U << 10U, kAxis = 1U << 11U,
                               kDim = 1U << 12U, kReduce = 1U << 13U, kRoot = 1U << 14U, kSplit = 1U << 15U,
                               kBy = 1U << 16U;
}  // namespace attribute

/// One row of the table of operations.
struct OpInfo {
    Op op;
    std::string_view name;
    OpKind kind;
    std::uint8_t least_args, most_args;
    std::uint32_t required, optional;  ///< attributes
};

inline constexpr std::uint8_t kMostArgs = 255;

[[nodiscard]] const OpInfo& info_of(Op op);
[[nodiscard]] std::optional<Op> op_named(std::string_view name);

[[nodiscard]] inline std::string_view name_of(Op op) { return info_of(op).name; }
[[nodiscard]] inline OpKind kind_of(Op op) { return info_of(op).kind; }
[[nodiscard]] inline bool is_pointwise(Op op) { return kind_of(op) == OpKind::Pointwise; }
[[nodiscard]] inline bool is_collective(Op op) { return kind_of(op) == OpKind::Collective; }
/// Whether the operands may be exchanged.
[[nodiscard]] bool is_commutative(Op op);

}  // namespace tutti::tensor
