#pragma once

// The layout rules, one function for each row of the table in docs/tensor-programs.md; infer() calls them.

#include "tensor/infer.hpp"
#include "tensor/refusal.hpp"

#include <fmt/format.h>

namespace tutti::tensor::rules {

/// What a rule sees.
struct Context {
    const Mesh& mesh;
    const Value& value;
    std::span<const Value* const> args;

    [[nodiscard]] const Type& type(std::size_t arg) const { return args[arg]->type; }
    [[nodiscard]] std::string name(std::size_t arg) const { return "'" + args[arg]->name + "'"; }
    template <class... Args>
    [[noreturn]] void refuse(const char* code, fmt::format_string<Args...> format, Args&&... words) const {
        throw Refusal(code, fmt::format(format, std::forward<Args>(words)...), value.name);
    }
    /// "rows of axis 'data'": for messages.
    [[nodiscard]] std::string axis(AxisId axis) const { return "axis '" + mesh.name(axis) + "'"; }
};

/// The dimensions of an operand: where each is in the result, or kNowhere.
struct Operand {
    const Type* type;
    std::vector<std::size_t> to;
    std::string name;
};

/// Joins what operands say of one axis: replicated joins with anything, equal ones stay. Refuses
/// `local-with-sliced`, `sliced-differently`, `root-mixed`.
[[nodiscard]] Layout joined(const Context& context, AxisId axis, Layout a, Layout b);
/// The rule of nesting: the axes that slice a dimension in an operand come first among those that slice it
/// in the result. Refuses `slicing-order`.
void check_nesting(const Context& context, std::span<const AxisId> operand, std::span<const AxisId> result,
                   const std::string& operand_name);
/// The same for all dimensions of an operand.
void check_nesting(const Context& context, const Operand& operand, const Type& result);
/// The dimension as an index; refuses `no-dimension`.
[[nodiscard]] std::size_t checked_dim(const Context& context, std::int64_t dim, std::size_t rank,
                                      const std::string& of);
/// Refuses `axis` where an axis is named twice or none is.
void check_axes(const Context& context);
/// The sizes of the attribute `shape`.
[[nodiscard]] std::vector<std::int64_t> sizes_of(const Context& context);

[[nodiscard]] Type source(const Context& context);
[[nodiscard]] Type pointwise(const Context& context);
[[nodiscard]] Type update(const Context& context);
[[nodiscard]] Type einsum(const Context& context);
[[nodiscard]] Type reduce(const Context& context);
[[nodiscard]] Type transpose(const Context& context);
[[nodiscard]] Type broadcast(const Context& context);
[[nodiscard]] Type reshape(const Context& context);
[[nodiscard]] Type slice(const Context& context);
[[nodiscard]] Type stack(const Context& context);
[[nodiscard]] Type unstack(const Context& context);
[[nodiscard]] Type all_reduce(const Context& context);
[[nodiscard]] Type reduce_scatter(const Context& context);
[[nodiscard]] Type all_gather(const Context& context);
[[nodiscard]] Type reduce_to(const Context& context);
[[nodiscard]] Type broadcast_from(const Context& context);
[[nodiscard]] Type all_to_all(const Context& context);
[[nodiscard]] Type shift(const Context& context);

}  // namespace tutti::tensor::rules
