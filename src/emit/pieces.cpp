// Which dimension goes through a chain: it is followed from the chain's last value, through operands and
// users alike, until every value that it reaches has its own. Values that it does not reach (scalars of a
// kernel) must not depend on those that it does. Of several dimensions the one that reaches most values is
// taken, and of those the first with pieces: a dimension of size 1 that a reshape adds reaches nothing. A
// value that has its dimension from no operand (what an all_to_all exchanges) has no pieces along it.

#include "emit/pieces.hpp"

#include "tensor/dimensions.hpp"
#include "tensor/infer.hpp"
#include "tensor/parts.hpp"

#include <algorithm>
#include <ranges>
#include <set>
#include <utility>

namespace tutti::emit {
namespace {

using tensor::AxisId, tensor::Kernel, tensor::Kernels, tensor::Program, tensor::Type, tensor::Value,
    tensor::ValueId;

/// An operand of a value, both in the chain.
struct Edge {
    ValueId from, to;
    std::vector<std::size_t> dims;  ///< where each dimension of `from` is in `to`
};

class Chain {
  public:
    Chain(const Program& program, const Kernels& kernels, const tensor::Overlap& overlap) {
        for (const std::string& name : overlap.chain) {
            const Kernel& kernel = kernels[*kernels.find(name)];
            calls_.emplace_back();
            for (const ValueId id : kernel.values) {
                if (kind_of(program[id].op) == tensor::OpKind::Source) continue;
                values_.push_back(id);
                calls_.back().push_back(id);
            }
            if (!is_coalesced(program, kernel)) {
                const std::vector<ValueId> single = std::move(calls_.back());
                calls_.pop_back();
                for (const ValueId id : single) calls_.push_back({id});
            }
        }
        const std::set<ValueId> members(values_.begin(), values_.end());
        for (const ValueId id : values_) {
            const Value& value = program[id];
            for (std::size_t k = 0; k < value.args.size(); ++k) {
                if (members.contains(value.args[k]))
                    edges_.push_back({value.args[k], id, dims_in_result(program, value, k)});
            }
        }
    }

    [[nodiscard]] const std::vector<ValueId>& values() const { return values_; }
    /// Values in the order of the chain; those of one call together.
    [[nodiscard]] const std::vector<std::vector<ValueId>>& calls() const { return calls_; }

    /// The dimension of each value that `dim` of the last one reaches; empty if there is a value that needs
    /// all of another.
    [[nodiscard]] std::map<ValueId, std::size_t> followed(std::size_t dim) const {
        std::map<ValueId, std::size_t> found{{values_.back(), dim}};
        for (bool changed = true; changed;) {
            changed = false;
            bool fits = true;
            const auto visit = [&](const Edge& edge) { fits = fits && follow(edge, found, changed); };
            std::ranges::for_each(edges_, visit);
            std::ranges::for_each(edges_ | std::views::reverse, visit);
            if (!fits) return {};
        }
        return found;
    }

  private:
    /// False where the user needs more of the operand than the same elements.
    static bool follow(const Edge& edge, std::map<ValueId, std::size_t>& found, bool& changed) {
        const auto from = found.find(edge.from), to = found.find(edge.to);
        if (from != found.end()) {
            const std::size_t there = edge.dims[from->second];
            if (there == tensor::kNowhere || (to != found.end() && to->second != there)) return false;
            changed = found.emplace(edge.to, there).second || changed;
        } else if (to != found.end()) {
            const auto here = std::ranges::find(edge.dims, to->second);
            if (here == edge.dims.end()) return true;
            found.emplace(edge.from, static_cast<std::size_t>(here - edge.dims.begin()));
            changed = true;
        }
        return true;
    }

    std::vector<ValueId> values_;
    std::vector<std::vector<ValueId>> calls_;
    std::vector<Edge> edges_;
};

/// Takes the longer of two slicings, of which one must begin with the other.
bool join(std::vector<AxisId>& finest, const std::vector<AxisId>& axes) {
    const std::size_t common = std::min(finest.size(), axes.size());
    if (!std::equal(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(common), finest.begin()))
        return false;
    if (axes.size() > finest.size()) finest = axes;
    return true;
}

/// The finest slicing of what the values are and read; false where there is none.
bool find_axes(const Program& program, PiecePlan& plan) {
    for (const auto& [id, dim] : plan.dim) {
        const Value& value = program[id];
        if (!join(plan.axes, slicing_axes(value.type, dim))) return false;
        for (std::size_t k = 0; k < value.args.size(); ++k) {
            const Type read = read_type(program, value, k);
            const std::vector<std::size_t> dims = dims_in_result(program, value, k);
            for (std::size_t d = 0; d < dims.size(); ++d) {
                if (dims[d] == dim && !join(plan.axes, slicing_axes(read, d))) return false;
            }
        }
    }
    return true;
}

/// Whether a piece of each value is made of pieces of its operands, or of all of them: not of an all_to_all
/// along the dimensions that it exchanges, nor of a stack along that of the ranks. A broadcast makes any.
bool can_be_cut(const Program& program, const PiecePlan& plan) {
    return std::ranges::all_of(plan.dim, [&](const auto& cut) {
        const auto& [id, dim] = cut;
        const Value& value = program[id];
        if (is_pointwise(value.op) || value.op == tensor::Op::Broadcast) return true;
        for (std::size_t k = 0; k < value.args.size(); ++k) {
            const std::vector<std::size_t> dims = dims_in_result(program, value, k);
            if (std::ranges::find(dims, dim) != dims.end()) return true;
        }
        return false;
    });
}

void find_levels(const Program& program, const Chain& chain, PiecePlan& plan) {
    for (const std::vector<ValueId>& call : chain.calls()) {
        std::size_t level = 0;
        for (const ValueId id : call) {
            for (const ValueId arg : program[id].args) {
                if (!plan.has(arg)) continue;
                const std::size_t behind = is_collective(program[arg].op) ? 1 : 0;
                level = std::max(level, plan.level.at(arg) + behind);
            }
        }
        for (const ValueId id : call) {
            if (!plan.has(id)) {
                plan.before.push_back(id);
                continue;
            }
            plan.level[id] = level;
            if (plan.levels.size() <= level) plan.levels.resize(level + 1);
            plan.levels[level].push_back(id);
        }
    }
}

}  // namespace

bool is_coalesced(const Program& program, const Kernel& kernel) {
    if (!kernel.fused || kernel.values.size() < 2) return false;
    const Value& first = program[kernel.values.front()];
    return std::ranges::all_of(kernel.values, [&](ValueId id) {
        const Value& value = program[id];
        const bool needs_another = std::ranges::any_of(value.args, [&](ValueId arg) {
            return std::ranges::find(kernel.values, arg) != kernel.values.end();
        });
        return is_collective(value.op) && value.op == first.op && value.axes == first.axes &&
               value.reduction == first.reduction && value.root == first.root && value.by == first.by &&
               value.type.dtype == first.type.dtype && !needs_another;
    });
}

std::optional<PiecePlan> piece_plan(const Program& program, const Kernels& kernels,
                                    const tensor::Overlap& overlap) {
    const Chain chain(program, kernels, overlap);
    if (chain.values().empty()) return std::nullopt;
    const Type& last = program[chain.values().back()].type;
    std::optional<PiecePlan> best;
    for (std::size_t d = 0; d < last.rank(); ++d) {
        PiecePlan plan{.dim = chain.followed(d)};
        const bool whole_call = std::ranges::any_of(chain.calls(), [&](const std::vector<ValueId>& call) {
            return std::ranges::any_of(call, [&](ValueId id) { return plan.has(id) != plan.has(call[0]); });
        });
        if (plan.dim.empty() || whole_call || !can_be_cut(program, plan) || !find_axes(program, plan))
            continue;
        plan.part = last.shape[d];
        for (const AxisId axis : plan.axes) {
            const std::int64_t ranks = program.mesh().size(axis);
            plan.part = (plan.part + ranks - 1) / ranks;
        }
        plan.piece = (plan.part + overlap.pieces - 1) / overlap.pieces;
        plan.pieces = (plan.part + plan.piece - 1) / plan.piece;
        find_levels(program, chain, plan);
        const auto worth = [](const PiecePlan& one) { return std::pair(one.dim.size(), one.pieces > 1); };
        if (!best || worth(plan) > worth(*best)) best = std::move(plan);
    }
    return best;
}

}  // namespace tutti::emit
