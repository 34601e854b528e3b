#pragma once

#include "tensor/op.hpp"
#include "tensor/type.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::tensor {

/// A size of a shape, as it was written: a number, or a name for one.
struct Size {
    std::int64_t size = 0;
    std::string name{};  ///< empty: a number
    friend bool operator==(const Size&, const Size&) = default;
};

/// A value: an operation, its operands and attributes, and the type that the rules give it. Attributes that
/// the operation does not have (op.hpp) keep their defaults.
struct Value {
    std::string name{};
    Op op = Op::Input;
    std::vector<ValueId> args{};

    DType dtype = DType::F32;            ///< of sources and cast
    std::vector<Size> shape{};           ///< of sources, broadcast, reshape
    Layouts layout{};                    ///< of an input: one for each axis
    bool state = false;                  ///< of an input: lives across calls, may be updated
    bool fixed = false;                  ///< of an input: its layout is the caller's
    bool positive = false;               ///< of an input: what tests draw for it is at least 0.1
    double number = 0;                   ///< of a constant
    std::int64_t seed = 0;               ///< of uniform
    std::string spec{};                  ///< of einsum
    std::vector<std::int64_t> dims{};    ///< of reduce, broadcast
    bool keepdims = false;               ///< of reduce
    std::vector<std::int64_t> perm{};    ///< of transpose
    std::vector<AxisId> axes{};          ///< of collectives and placements; `axis` is a list of one
    std::int64_t dim = 0;                ///< of iota, slice, stack, unstack, reduce_scatter
    Reduction reduction{};               ///< of reduce, all_reduce, reduce_scatter, reduce_to
    std::int64_t root = 0;               ///< of reduce_to, broadcast_from: the position on each of its axes
    std::int64_t split = 0, concat = 0;  ///< of all_to_all
    std::int64_t by = 0;                 ///< of shift

    Type type{};  ///< as infer() says

    friend bool operator==(const Value&, const Value&) = default;
};

}  // namespace tutti::tensor
