// One kernel is one pass over elements. It may begin with one collective, or be one product and what is
// behind it, and end with gathers; nothing in it may need what only the whole pass, or another rank's, has
// made. The conditions are checked in the order of docs/tensor-programs.md; the last, that kernels have an
// order, by contracting them.

#include "rewrite/lookup.hpp"
#include "rewrite/transformations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_map>

namespace tutti::rewrite {
namespace {

using tensor::Op;
using tensor::Program;
using tensor::Refusal;
using tensor::Type;
using tensor::Value;
using tensor::ValueId;

/// Where an operation may stand in a kernel.
enum class Role { Pointwise, Product, Reduction, FirstCollective, LastCollective, None };

Role role_of(Op op) {
    switch (op) {
        case Op::Update:
        case Op::Uniform:
        case Op::Iota:
        case Op::Slice:
            return Role::Pointwise;
        case Op::Einsum:
            return Role::Product;
        case Op::Reduce:
            return Role::Reduction;
        case Op::AllReduce:
        case Op::ReduceScatter:
        case Op::ReduceTo:
        case Op::AllToAll:
            return Role::FirstCollective;
        case Op::AllGather:
        case Op::BroadcastFrom:
        case Op::Shift:
            return Role::LastCollective;
        default:
            return is_pointwise(op) ? Role::Pointwise : Role::None;
    }
}

class Fusion {
  public:
    Fusion(const Program& program, std::vector<ValueId> values)
        : program_(program), values_(std::move(values)), inside_(program.slots()) {
        for (const ValueId id : values_) inside_[id.index()] = true;
    }

    void check() const {
        if (values_.size() < 2) throw Refusal("nothing", "expected at least two values in a kernel");
        const Grouping grouping(program_);
        for (const ValueId id : values_) check_operation(id);
        for (const ValueId id : values_) grouping.check_free(id);
        check_numbers();
        for (const ValueId id : values_) check_operands(id);
        check_elements();
        check_connected();
    }

  private:
    [[noreturn]] void refuse(ValueId id, const char* code, const std::string& words) const {
        throw Refusal(code, words, program_[id].name);
    }
    [[nodiscard]] Role role(ValueId id) const { return role_of(program_[id].op); }

    void check_operation(ValueId id) const {
        if (role(id) == Role::None) {
            refuse(id, "wrong-op",
                   fmt::format("{} is no operation of a kernel with others", name_of(program_[id].op)));
        }
    }

    void check_numbers() const {
        std::optional<ValueId> product, first, collective;
        for (const ValueId id : values_) {
            if (role(id) == Role::FirstCollective || role(id) == Role::LastCollective) collective = id;
        }
        for (const ValueId id : values_) {
            if (role(id) == Role::Product) {
                if (product)
                    refuse(id, "two-matmuls",
                           fmt::format("'{}' is a product already", program_[*product].name));
                product = id;
            }
            if (role(id) == Role::FirstCollective) {
                if (first)
                    refuse(id, "two-collectives",
                           fmt::format("the kernel begins with '{}' already", program_[*first].name));
                first = id;
            }
        }
        if (product && collective) {
            refuse(*product, "matmul-with-collective",
                   fmt::format("a product and the collective '{}' overlap, they do not fuse",
                               program_[*collective].name));
        }
    }

    void check_operands(ValueId id) const {
        for (const ValueId arg : program_[id].args) {
            if (!inside_[arg.index()]) continue;
            const std::string& name = program_[arg].name;
            if (role(arg) == Role::LastCollective)
                refuse(id, "after-gather", fmt::format("it needs what '{}' has sent", name));
            if (role(arg) == Role::Reduction)
                refuse(id, "reduction-inside", fmt::format("it needs all of '{}': two kernels", name));
            if (role(id) == Role::FirstCollective)
                refuse(id, "feeds-collective", fmt::format("'{}' would feed it from within", name));
            if (role(id) == Role::Product)
                refuse(id, "feeds-matmul", fmt::format("'{}' would feed it from within", name));
        }
    }

    /// Over which elements a value goes; none where it has only one, or makes numbers of its own.
    [[nodiscard]] const Type* elements_of(ValueId id) const {
        const Value& value = program_[id];
        if (value.op == Op::Uniform || value.op == Op::Iota) return nullptr;
        const bool by_operand = role(id) == Role::Reduction || role(id) == Role::LastCollective;
        const Type& type = by_operand ? program_[value.args[0]].type : value.type;
        return type.rank() == 0 ? nullptr : &type;
    }

    void check_elements() const {
        const Type* common = nullptr;
        ValueId of;
        for (const ValueId id : values_) {
            const Type* type = elements_of(id);
            if (type == nullptr) continue;
            if (common == nullptr) {
                common = type;
                of = id;
            }
            if (type->shape != common->shape || type->layout != common->layout) {
                refuse(id, "iteration-space",
                       fmt::format("it goes over other elements than '{}', by shape or layout",
                                   program_[of].name));
            }
        }
    }

    /// Every two values are joined by values that read each other or read the same.
    void check_connected() const {
        std::vector<std::size_t> leader(values_.size());
        std::iota(leader.begin(), leader.end(), std::size_t{0});
        const auto find = [&](std::size_t i) {
            while (leader[i] != i) i = leader[i] = leader[leader[i]];
            return i;
        };
        std::unordered_map<ValueId, std::size_t> member;  // of a value: one of F that is or reads it
        for (std::size_t i = 0; i < values_.size(); ++i) member.emplace(values_[i], i);
        for (std::size_t i = 0; i < values_.size(); ++i) {
            for (const ValueId arg : program_[values_[i]].args) {
                if (program_[arg].op == Op::Constant) continue;
                const auto [other, is_new] = member.emplace(arg, i);
                if (!is_new) leader[find(i)] = find(other->second);
            }
        }
        for (std::size_t i = 1; i < values_.size(); ++i) {
            if (find(i) != find(0)) {
                refuse(values_[i], "not-connected",
                       fmt::format("it shares no data with '{}'", program_[values_[0]].name));
            }
        }
    }

    const Program& program_;
    std::vector<ValueId> values_;
    std::vector<bool> inside_;
};

}  // namespace

Program fuse(const Program& original, const tensor::Fuse& step) {
    const Program program = tidied(original);
    const std::vector<ValueId> values = values_named(program, step.ops);
    Fusion(program, values).check();
    return with_kernel(program, step.name.empty() ? "fused." + step.ops.front() : step.name, values);
}

}  // namespace tutti::rewrite
