#include "verify/tensor/pieces.hpp"

#include "tensor/infer.hpp"
#include "tensor/kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace tutti::verify {
namespace {

using tensor::Op;
using tensor::Program;
using tensor::Type;
using tensor::Value;
using tensor::ValueId;

/// A dimension; or the value is made whole before the first piece.
using Cut = std::size_t;
constexpr Cut kWhole = std::numeric_limits<Cut>::max();
constexpr std::size_t kOutside = std::numeric_limits<std::size_t>::max();

/// The dimension of the result to which dimension `dim` of operand `arg` goes, if its elements there depend
/// on that index alone.
std::optional<Cut> carried(const Program& program, const Value& value, std::size_t arg, Cut dim) {
    const Type& from = program[value.args[arg]].type;
    const auto moved = [&](const std::vector<std::size_t>& to) -> std::optional<Cut> {
        if (to.empty() || to[dim] == tensor::kNowhere || from.shape[dim] != value.type.shape[to[dim]])
            return std::nullopt;
        return to[dim];
    };
    switch (value.op) {
        case Op::Einsum: {
            const tensor::EinsumSpec spec = tensor::parse_einsum(value.spec);
            const std::size_t at = spec.result.find(spec.operands[arg][dim]);
            return at == std::string::npos ? std::nullopt : std::optional(at);
        }
        case Op::Reduce:
            return moved(tensor::dims_after_reduce(value, from.rank()));
        case Op::Transpose:
            return static_cast<Cut>(std::ranges::find(value.perm, static_cast<std::int64_t>(dim)) -
                                    value.perm.begin());
        case Op::Broadcast:
            return moved(tensor::dims_after_broadcast(value, from.rank()));
        case Op::Reshape:
            return moved(tensor::kept_dims(from.shape, value.type.shape));
        case Op::AllToAll:
            if (from.on(value.axes[0]).is_local() && (static_cast<std::int64_t>(dim) == value.split ||
                                                      static_cast<std::int64_t>(dim) == value.concat))
                return std::nullopt;
            return dim;
        case Op::Stack:
        case Op::Unstack:
            return static_cast<std::int64_t>(dim) == value.dim ? std::nullopt : std::optional(dim);
        default:
            break;
    }
    if (!tensor::is_pointwise(value.op)) return dim;  // other collectives, slice, update
    const Cut to = tensor::aligned_dim(dim, from.rank(), value.type.rank());
    return from.shape[dim] == value.type.shape[to] ? std::optional(to) : std::nullopt;
}

class Chain {
  public:
    Chain(const Program& program, const tensor::Overlap& overlap)
        : program_(program), overlap_(overlap), kernels_(program), place_(program.slots(), kOutside) {}

    PieceVerdict judge() {
        if (overlap_.pieces < 2)
            return {"pieces", fmt::format("{} pieces are no overlap", overlap_.pieces), {}};
        if (overlap_.chain.size() < 2) return {"nothing", "one kernel overlaps with nothing", {}};
        if (auto fault = find_kernels()) return std::move(*fault);
        if (auto fault = check_paths()) return std::move(*fault);
        return find_cuts();
    }

  private:
    std::optional<PieceVerdict> find_kernels() {
        for (std::size_t i = 0; i < overlap_.chain.size(); ++i) {
            const std::string& name = overlap_.chain[i];
            const auto kernel = kernels_.find(name);
            if (!kernel) return PieceVerdict{"name", fmt::format("there is no kernel '{}'", name), {}};
            bool uses_last = i == 0;
            for (const ValueId id : kernels_[*kernel].values) {
                if (place_[id.index()] != kOutside)
                    return PieceVerdict{"overlapped-twice", fmt::format("'{}' is in it twice", name), {}};
                for (const ValueId arg : program_[id].args)
                    uses_last = uses_last || place_[source(arg).index()] == i - 1;
            }
            if (!uses_last) {
                return PieceVerdict{
                    "no-producer",
                    fmt::format("'{}' uses nothing that '{}' makes", name, overlap_.chain[i - 1]),
                    {}};
            }
            for (const ValueId id : kernels_[*kernel].values) place_[id.index()] = i;
        }
        return std::nullopt;
    }

    /// What a value is the own part of, where nothing is done but to take that.
    [[nodiscard]] ValueId source(ValueId id) const {
        while (program_[id].op == Op::Slice && place_[id.index()] == kOutside) id = program_[id].args[0];
        return id;
    }

    /// No way out of the chain and back, by what is read or by storage: a state is updated when all readers
    /// of the old one are done.
    [[nodiscard]] std::optional<PieceVerdict> check_paths() const {
        enum class From : char { Elsewhere, Inside, Behind };
        std::vector<From> from(kernels_.all().size(), From::Elsewhere);
        for (std::size_t k = 0; k < from.size(); ++k) {
            const tensor::Kernel& kernel = kernels_.all()[k];
            From needed = From::Elsewhere;
            const std::string* behind = nullptr;
            for (const tensor::KernelId other : kernels_.needs(tensor::KernelId(k))) {
                needed = std::max(needed, from[other.index()]);
                if (from[other.index()] == From::Behind) behind = &kernels_[other].name;
            }
            if (place_[kernel.values[0].index()] != kOutside) {
                if (behind != nullptr) {
                    return PieceVerdict{
                        "path-between",
                        fmt::format("'{}' is outside of the chain, needs some of it, and '{}' needs it",
                                    *behind, kernel.name),
                        {}};
                }
                from[k] = From::Inside;
            } else {
                // The own part of a value of the chain is that value.
                const bool is_part = program_[kernel.values[0]].op == Op::Slice && !kernel.fused;
                from[k] = needed == From::Elsewhere || is_part ? needed : From::Behind;
            }
        }
        return std::nullopt;
    }

    /// Tries every dimension of what the first kernel makes.
    PieceVerdict find_cuts() {
        std::vector<ValueId> values;
        for (const ValueId id : program_.order()) {
            if (place_[id.index()] != kOutside) values.push_back(id);
        }
        std::size_t dims = 0;
        for (const ValueId id : values) {
            if (place_[id.index()] != 0 || program_[id].type.rank() <= dims) continue;
            dims = program_[id].type.rank();
            seed_ = &program_[id].type;
        }
        for (Cut dim = 0; dim < dims; ++dim) {
            cut_.assign(program_.slots(), std::nullopt);
            if (!spread(values, dim) || !cuts_every_kernel(values) || !updates_in_pieces(values)) continue;
            PieceVerdict verdict;
            for (const ValueId id : values) {
                if (*cut_[id.index()] != kWhole) verdict.cuts.emplace_back(id, *cut_[id.index()]);
            }
            return verdict;
        }
        if (dims == 0) return {"scalar", "what the first kernel makes has no dimension", {}};
        return {"needs-all",
                fmt::format("no dimension of what '{}' makes survives to '{}'", overlap_.chain.front(),
                            overlap_.chain.back()),
                {}};
    }

    /// False where two operands would be cut along different dimensions, or one is needed whole.
    bool spread(const std::vector<ValueId>& values, Cut dim) {
        // What is made of nothing in the chain is cut like its kernel, which may be known only afterwards.
        for (int round = 0; round < 2; ++round) {
            for (const ValueId id : values) {
                if (!settle(id, dim, round == 1, values)) return false;
            }
        }
        return true;
    }

    bool settle(ValueId id, Cut dim, bool last, const std::vector<ValueId>& values) {
        const Value& value = program_[id];
        std::optional<Cut> cut;
        bool inside = false;
        for (std::size_t i = 0; i < value.args.size(); ++i) {
            const ValueId arg = source(value.args[i]);
            if (place_[arg.index()] == kOutside) continue;
            const std::optional<Cut> own = cut_[arg.index()];
            if (!own) {
                inside = true;  // open until the next round
                continue;
            }
            if (*own == kWhole) continue;
            inside = true;
            const std::optional<Cut> to = carried(program_, value, i, *own);
            if (!to && value.op == Op::Reduce && !is_read(id, values)) {
                cut_[id.index()] = kWhole;  // what the pieces add up to is needed behind the chain only
                return true;
            }
            if (!to || (cut && *cut != *to)) return false;
            cut = to;
        }
        std::optional<Cut>& known = cut_[id.index()];
        if (cut) {
            if (known && *known != *cut) return false;
            known = cut;
            return true;
        }
        if (known) return true;
        if (!inside && value.type.rank() == 0) {
            known = kWhole;
        } else if (!inside && place_[id.index()] == 0 && value.type.shape == seed_->shape) {
            known = dim;
        } else if (last) {
            known = cut_like_its_kernel(id, values);
            // A buffer of a coalesced call that the chain does not read may be cut in any way; what is made
            // of nothing can be there before the first piece.
            if (!known && (value.args.empty() || !is_read(id, values))) known = kWhole;
            return known.has_value();
        }
        return true;
    }

    /// Whether each kernel has work for a piece.
    [[nodiscard]] bool cuts_every_kernel(const std::vector<ValueId>& values) const {
        std::vector<bool> cut(overlap_.chain.size());
        for (const ValueId id : values) {
            if (*cut_[id.index()] != kWhole) cut[place_[id.index()]] = true;
        }
        return std::ranges::find(cut, false) == cut.end();
    }

    /// Storage is shared: where a state is updated piece by piece, who reads the old value in the chain must
    /// need no more of it than the same piece, because the pieces before it are gone.
    [[nodiscard]] bool updates_in_pieces(const std::vector<ValueId>& values) const {
        return std::ranges::all_of(values, [&](ValueId update) {
            if (program_[update].op != Op::Update) return true;
            std::vector<std::pair<ValueId, Cut>> memory{{program_[update].args[0], *cut_[update.index()]}};
            for (std::size_t m = 0; m < memory.size(); ++m) {
                for (const ValueId reader : program_.order()) {
                    if (!reads_piece(reader, update, memory[m], memory)) return false;
                }
            }
            return true;
        });
    }

    bool reads_piece(ValueId reader, ValueId update, std::pair<ValueId, Cut> old,
                     std::vector<std::pair<ValueId, Cut>>& memory) const {
        const Value& value = program_[reader];
        for (std::size_t i = reader == update ? 1 : 0; i < value.args.size(); ++i) {
            if (value.args[i] != old.first) continue;
            const Cut to =
                old.second == kWhole ? kWhole : carried(program_, value, i, old.second).value_or(kWhole);
            if (kind_of(value.op) == tensor::OpKind::Placement) memory.emplace_back(reader, to);
            if (place_[reader.index()] == kOutside) continue;
            // A scalar is made before the first piece.
            if (to != *cut_[reader.index()] || (to == kWhole && value.type.rank() > 0)) return false;
        }
        return true;
    }

    [[nodiscard]] bool is_read(ValueId id, const std::vector<ValueId>& values) const {
        return std::ranges::any_of(values, [&](ValueId user) {
            return std::ranges::any_of(program_[user].args, [&](ValueId arg) { return source(arg) == id; });
        });
    }

    [[nodiscard]] std::optional<Cut> cut_like_its_kernel(ValueId id,
                                                         const std::vector<ValueId>& values) const {
        for (const ValueId other : values) {
            if (place_[other.index()] == place_[id.index()] && cut_[other.index()] &&
                *cut_[other.index()] != kWhole && program_[other].type.shape == program_[id].type.shape)
                return cut_[other.index()];
        }
        return std::nullopt;
    }

    const Program& program_;
    const tensor::Overlap& overlap_;
    const tensor::Kernels kernels_;
    std::vector<std::size_t> place_;  ///< by value: the kernel of the chain that it is in
    std::vector<std::optional<Cut>> cut_{};
    const Type* seed_ = nullptr;
};

}  // namespace

PieceVerdict judge_pieces(const Program& program, const tensor::Overlap& overlap) {
    return Chain(program, overlap).judge();
}

}  // namespace tutti::verify
