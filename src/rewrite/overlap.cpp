// A chain of kernels works on pieces: piece i of each runs when piece i of the one before is done. So every
// value that goes from kernel to kernel must be cut along a dimension of which each element of the next needs
// only its own piece. For each dimension of the first kernel's elements it is followed through the chain; the
// first that arrives will do. Where the chain updates a state, the old value goes piece by piece: what the
// chain reads of it must be the same piece.

#include "rewrite/lookup.hpp"
#include "rewrite/transformations.hpp"
#include "tensor/infer.hpp"
#include "tensor/kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace tutti::rewrite {
namespace {

using tensor::AxisId;
using tensor::KernelId;
using tensor::Kernels;
using tensor::kNowhere;
using tensor::Op;
using tensor::Program;
using tensor::Refusal;
using tensor::Type;
using tensor::Value;
using tensor::ValueId;

class Chain {
  public:
    Chain(const Program& program, const Kernels& kernels, std::span<const KernelId> chain)
        : program_(program),
          kernels_(kernels),
          users_(program),
          chain_(chain.begin(), chain.end()),
          place_(program.slots(), kNowhere) {
        for (std::size_t i = 0; i < chain_.size(); ++i) {
            for (const ValueId id : kernels_[chain_[i]].values) place_[id.index()] = i;
        }
    }

    void check() const {
        for (std::size_t i = 1; i < chain_.size(); ++i) check_producer(i);
        for (std::size_t i = 1; i < chain_.size(); ++i) check_resources(i);
        check_no_path_between();
        check_no_scalars();
        for (std::size_t dim = 0; dim < elements_of_first(); ++dim) {
            if (survives(dim)) return;
        }
        throw Refusal("needs-all", "no dimension can be cut through the whole chain",
                      name(chain_.size() - 1));
    }

  private:
    [[nodiscard]] const std::string& name(std::size_t i) const { return kernels_[chain_[i]].name; }

    template <class Visit>
    void for_operands_within(std::size_t i, Visit&& visit) const {
        for (const ValueId id : kernels_[chain_[i]].values) {
            for (std::size_t a = 0; a < program_[id].args.size(); ++a) {
                const std::size_t from = place_[program_[id].args[a].index()];
                if (from != kNowhere && from != i) visit(id, a, from);
            }
        }
    }

    void check_producer(std::size_t i) const {
        bool found = false;
        for_operands_within(i,
                            [&](ValueId, std::size_t, std::size_t from) { found = found || from + 1 == i; });
        if (!found) {
            throw Refusal("no-producer", fmt::format("it uses nothing that '{}' makes", name(i - 1)),
                          name(i));
        }
    }

    /// The axes of a kernel's collectives; none if it only computes.
    [[nodiscard]] std::set<AxisId> network_of(std::size_t i) const {
        std::set<AxisId> axes;
        for (const ValueId id : kernels_[chain_[i]].values) {
            if (is_collective(program_[id].op))
                axes.insert(program_[id].axes.begin(), program_[id].axes.end());
        }
        return axes;
    }

    void check_resources(std::size_t i) const {
        const std::set<AxisId> before = network_of(i - 1), own = network_of(i);
        if (before.empty() && own.empty())
            throw Refusal("same-resource", fmt::format("'{}' computes too", name(i - 1)), name(i));
        for (const AxisId axis : own) {
            if (!before.contains(axis)) continue;
            throw Refusal("same-resource",
                          fmt::format("'{}' needs the network of axis '{}' too", name(i - 1),
                                      program_.mesh().name(axis)),
                          name(i));
        }
    }

    /// No kernel outside needs one of the chain and is needed by another, by data or by storage.
    void check_no_path_between() const {
        const std::size_t count = kernels_.all().size();
        std::vector<bool> after(count), before(count), in_chain(count);
        for (const KernelId id : chain_) in_chain[id.index()] = true;
        for (std::size_t k = 0; k < count; ++k) {
            for (const KernelId from : kernels_.needs(KernelId(k)))
                after[k] = after[k] || in_chain[from.index()] || after[from.index()];
        }
        for (std::size_t k = count; k-- > 0;) {
            if (!in_chain[k] && !before[k]) continue;
            for (const KernelId from : kernels_.needs(KernelId(k))) {
                if (!in_chain[from.index()]) before[from.index()] = true;
            }
        }
        for (std::size_t k = 0; k < count; ++k) {
            if (in_chain[k] || !after[k] || !before[k]) continue;
            throw Refusal(
                "path-between",
                fmt::format("'{}' needs a whole kernel of the chain, and another of the chain needs it",
                            kernels_.all()[k].name),
                name(0));
        }
    }

    void check_no_scalars() const {
        for (std::size_t i = 1; i < chain_.size(); ++i) {
            for_operands_within(i, [&](ValueId id, std::size_t a, std::size_t from) {
                const Value& value = program_[program_[id].args[a]];
                if (value.type.rank() > 0) return;
                throw Refusal("scalar", fmt::format("'{}' is a scalar, which has no pieces", value.name),
                              name(from));
            });
        }
    }

    /// The elements over which a value's kernel goes, where it is not those of the value.
    [[nodiscard]] static bool goes_over_operand(Op op) { return op == Op::Reduce || op == Op::Transpose; }

    [[nodiscard]] std::size_t elements_of_first() const {
        std::size_t dims = 0;
        for (const ValueId id : kernels_[chain_[0]].values) dims = std::max(dims, iterated(id).rank());
        return dims;
    }
    [[nodiscard]] const Type& iterated(ValueId id) const {
        const Value& value = program_[id];
        return goes_over_operand(value.op) ? program_[value.args[0]].type : value.type;
    }

    /// Where dimension `dim` of operand a is among the elements that the value goes over; kNowhere if an
    /// element needs more of it than its own piece.
    [[nodiscard]] std::size_t from_operand(const Value& value, std::size_t a, std::size_t dim) const {
        const Type& arg = program_[value.args[a]].type;
        switch (value.op) {
            case Op::Einsum: {
                const tensor::EinsumSpec spec = tensor::parse_einsum(value.spec);
                const std::size_t to = spec.result.find(spec.operands[a][dim]);
                return to == std::string::npos ? kNowhere : to;
            }
            case Op::Broadcast: {
                const std::size_t to = tensor::dims_after_broadcast(value, arg.rank())[dim];
                return arg.shape[dim] == value.type.shape[to] ? to : kNowhere;
            }
            case Op::Reshape: {
                const std::vector<std::size_t> to = tensor::kept_dims(arg.shape, value.type.shape);
                return to.empty() ? kNowhere : to[dim];
            }
            case Op::Stack:
            case Op::Unstack:
                return static_cast<std::size_t>(value.dim) == dim ? kNowhere : dim;
            case Op::AllToAll:
                return moves(value, dim) ? kNowhere : dim;
            default:
                break;
        }
        if (!is_pointwise(value.op)) return dim;
        const std::size_t to = tensor::aligned_dim(dim, arg.rank(), value.type.rank());
        return arg.shape[dim] == value.type.shape[to] ? to : kNowhere;
    }

    /// Whether an all-to-all of local values puts elements of that dimension elsewhere.
    [[nodiscard]] bool moves(const Value& all_to_all, std::size_t dim) const {
        const auto is = [&](std::int64_t other) { return static_cast<std::size_t>(other) == dim; };
        return all_to_all.type.on(all_to_all.axes.front()).is_local() &&
               (is(all_to_all.split) || is(all_to_all.concat));
    }

    /// Along which dimension the value is cut where its kernel's elements are cut along `dim`.
    [[nodiscard]] std::size_t cut_of(const Value& value, std::size_t dim) const {
        if (value.op == Op::Transpose) {
            const auto at = std::ranges::find(value.perm, static_cast<std::int64_t>(dim));
            return static_cast<std::size_t>(at - value.perm.begin());
        }
        if (value.op == Op::Reduce)
            return tensor::dims_after_reduce(value, program_[value.args[0]].type.rank())[dim];
        if (value.op == Op::AllToAll && moves(value, dim)) return kNowhere;
        return dim;
    }

    [[nodiscard]] bool survives(std::size_t first_dim) const {
        std::vector<std::size_t> cut(program_.slots(), kNowhere), dims;
        for (std::size_t i = 0; i < chain_.size(); ++i) {
            std::optional<std::size_t> dim;
            if (i == 0) dim = first_dim;
            bool fits = true;
            for_operands_within(i, [&](ValueId id, std::size_t a, std::size_t) {
                const std::size_t of_arg = cut[program_[id].args[a].index()];
                const std::size_t here =
                    of_arg == kNowhere ? kNowhere : from_operand(program_[id], a, of_arg);
                fits = fits && here != kNowhere && (!dim || *dim == here);
                dim = here;
            });
            if (!fits || !dim) return false;
            bool any = false;
            for (const ValueId id : kernels_[chain_[i]].values) {
                if (*dim >= iterated(id).rank()) continue;  // a scalar beside
                cut[id.index()] = cut_of(program_[id], *dim);
                any = any || cut[id.index()] != kNowhere;
            }
            if (!any) return false;
            dims.push_back(*dim);
        }
        return std::ranges::all_of(chain_, [&](KernelId kernel) {
            return std::ranges::all_of(kernels_[kernel].values, [&](ValueId id) {
                return program_[id].op != Op::Update || reads_old_pieces(id, cut[id.index()], dims);
            });
        });
    }

    /// Whether all readers in the chain of the state that is updated in pieces, along `cut`, need no more of
    /// the old value for a piece than that piece: the ones before it are gone.
    [[nodiscard]] bool reads_old_pieces(ValueId update, std::size_t cut,
                                        const std::vector<std::size_t>& dims) const {
        std::vector<std::pair<ValueId, std::size_t>> memory{{program_[update].args[0], cut}};
        for (std::size_t m = 0; m < memory.size(); ++m) {
            const auto [of, dim] = memory[m];
            for (const ValueId reader : users_[of]) {
                if (!reads_old_piece(reader, of, dim, dims, reader == update, memory)) return false;
            }
        }
        return true;
    }

    /// The same of one reader; other names of the memory are added to `memory`.
    bool reads_old_piece(ValueId reader, ValueId of, std::size_t dim, const std::vector<std::size_t>& dims,
                         bool is_update, std::vector<std::pair<ValueId, std::size_t>>& memory) const {
        const Value& value = program_[reader];
        const std::size_t place = place_[reader.index()];
        for (std::size_t a = is_update ? 1 : 0; a < value.args.size(); ++a) {
            if (value.args[a] != of) continue;
            const std::size_t here = dim == kNowhere ? kNowhere : from_operand(value, a, dim);
            if (kind_of(value.op) == tensor::OpKind::Placement) memory.emplace_back(reader, here);
            if (place == kNowhere) continue;
            const bool is_scalar = here == kNowhere && iterated(reader).rank() == 0;
            if (!is_scalar && (here == kNowhere || here != dims[place])) return false;
        }
        return true;
    }

    const Program& program_;
    const Kernels& kernels_;
    tensor::Users users_;
    std::vector<KernelId> chain_;
    std::vector<std::size_t> place_;  ///< by value: its kernel's place in the chain
};

KernelId kernel_named(const Program& program, const Kernels& kernels, const std::string& name) {
    const auto found = kernels.find(name);
    const auto works = [&](ValueId id) { return does_work(program[id]); };
    if (!found || std::ranges::none_of(kernels[*found].values, works))
        throw Refusal("name", fmt::format("there is no kernel '{}'", name));
    return *found;
}

void check_overlapped_once(const Program& program, const std::vector<std::string>& chain) {
    std::set<std::string_view> overlapped;
    for (const tensor::Overlap& other : program.overlaps())
        overlapped.insert(other.chain.begin(), other.chain.end());
    for (const std::string& name : chain) {
        if (!overlapped.insert(name).second) throw Refusal("overlapped-twice", "it overlaps already", name);
    }
}

}  // namespace

void check_overlap(const Program& program, const Kernels& kernels, std::span<const KernelId> chain) {
    Chain(program, kernels, chain).check();
}

Program overlap(const Program& original, const tensor::OverlapStep& step) {
    const Program program = tidied(original);
    const Kernels kernels(program);
    std::vector<KernelId> chain;
    for (const std::string& name : step.chain) chain.push_back(kernel_named(program, kernels, name));
    if (chain.size() < 2) throw Refusal("nothing", "expected at least two kernels in a chain");
    if (step.pieces < 2) throw Refusal("pieces", "expected at least two pieces", step.chain.front());
    check_overlapped_once(program, step.chain);
    check_overlap(program, kernels, chain);
    tensor::Editor editor(program);
    editor.overlaps().push_back({step.chain, step.pieces});
    return finished(std::move(editor), program);
}

}  // namespace tutti::rewrite
