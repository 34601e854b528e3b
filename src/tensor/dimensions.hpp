#pragma once

#include "tensor/program.hpp"

#include <cstddef>
#include <vector>

namespace tutti::tensor {

/// Where each dimension of operand `arg` is in the result, with the same elements at the same indices;
/// kNowhere (infer.hpp) for those that are contracted, reduced, broadcast or cut anew.
[[nodiscard]] std::vector<std::size_t> dims_in_result(const Program& program, const Value& value,
                                                      std::size_t arg);

/// The type in which a value reads its operand: the operand's own, cut where the other operands' layouts
/// cut the result and the operand is whole. Every rank can make it of what it has.
[[nodiscard]] Type read_type(const Program& program, const Value& value, std::size_t arg);

}  // namespace tutti::tensor
