#pragma once

#include "tensor/mesh.hpp"
#include "tensor/value.hpp"

#include <span>
#include <string>
#include <vector>

namespace tutti::tensor {

/// The type that the layout rules give a value whose operands have these types (docs/tensor-programs.md,
/// "Layout rules"). Ignores value.type. Throws Refusal.
[[nodiscard]] Type infer(const Mesh& mesh, const Value& value, std::span<const Value* const> args);

/// An einsum's operands and result as letters: "bk,kh->bh".
struct EinsumSpec {
    std::vector<std::string> operands{};
    std::string result{};
};
/// Throws Refusal (`spec`) for anything but letters, each once in an operand and in the result, and there
/// only such as operands have.
[[nodiscard]] EinsumSpec parse_einsum(const std::string& spec);

/// The dimension of a pointwise result to which dimension `dim` of an operand of `rank` dimensions is
/// aligned.
[[nodiscard]] constexpr std::size_t aligned_dim(std::size_t dim, std::size_t rank, std::size_t result_rank) {
    return dim + result_rank - rank;
}

/// Where each dimension of the operand is in the result of a reshape that only adds or drops dimensions of
/// size 1; those of size 1 are nowhere (npos). Empty where the reshape does more.
[[nodiscard]] std::vector<std::size_t> kept_dims(std::span<const std::int64_t> from,
                                                 std::span<const std::int64_t> to);
inline constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);
/// Where dimension d of a reduce's operand is in its result; kNowhere if it is reduced and not kept.
[[nodiscard]] std::vector<std::size_t> dims_after_reduce(const Value& reduce, std::size_t rank);
/// Where dimension d of a broadcast's operand is in its result.
[[nodiscard]] std::vector<std::size_t> dims_after_broadcast(const Value& broadcast, std::size_t rank);

}  // namespace tutti::tensor
