#include "run/local_part.hpp"

#include "run/rank_kernels.hpp"
#include "tensor/dimensions.hpp"
#include "tensor/infer.hpp"

#include <algorithm>

namespace tutti::run {

using tensor::Interval, tensor::Op, tensor::Program, tensor::Type, tensor::Value, tensor::ValueId;

namespace {

/// What the value reads of an operand, on this rank.
MemoryView read_view(const Program& program, const RankMemory& memory, const Value& value, std::size_t arg,
                     std::int64_t rank) {
    const Type read = value.op == Op::Slice                          ? value.type
                      : kind_of(value.op) == tensor::OpKind::Compute ? read_type(program, value, arg)
                                                                     : program[value.args[arg]].type;
    return memory.view(value.args[arg], read, rank);
}

}  // namespace

LocalPart::LocalPart(const Program& program, const RankMemory& memory, const Blas& blas, ValueId id,
                     const ProgramStage& stage, const std::vector<PieceRanges>& pieces, std::int64_t rank)
    : value_(program[id]), arithmetic_(memory.arithmetic()), blas_(blas) {
    Piece whole{memory.view(id, rank), {}};
    // An update reads its new value only.
    const std::size_t first = value_.op == Op::Update ? 1 : 0;
    for (std::size_t k = first; k < value_.args.size(); ++k)
        whole.operands.push_back(read_view(program, memory, value_, k, rank));
    for (const PieceRanges& ranges : pieces) {
        std::vector<Piece>& of = pieces_.emplace_back();
        if (!ranges.dim) {
            of.push_back(whole);
            continue;
        }
        for (const Interval cut : ranges.cuts) {
            Piece piece{whole.result.narrowed(*ranges.dim, cut), whole.operands};
            for (std::size_t k = 0; k < piece.operands.size(); ++k) {
                const std::vector<std::size_t> dims = dims_in_result(program, value_, first + k);
                const auto dim = std::ranges::find(dims, *ranges.dim);
                if (dim != dims.end())
                    piece.operands[k] =
                        piece.operands[k].narrowed(static_cast<std::size_t>(dim - dims.begin()), cut);
            }
            of.push_back(std::move(piece));
        }
    }
    memory_.kept = common_operand(stage);
}

/// The operand of a product that is whole before the first piece, and read whole by all of them.
std::optional<std::size_t> LocalPart::common_operand(const ProgramStage& stage) const {
    constexpr std::int64_t kMost = std::int64_t{1} << 25U;  // elements: a copy of it is kept
    if (value_.op != Op::Einsum || value_.args.size() != 2 || stage.pieces() == 1) return std::nullopt;
    for (const std::size_t k : {1U, 0U}) {
        if (stage.cut->has(value_.args[k])) continue;
        const MemoryView* first = nullptr;
        const auto is_the_same = [&](const Piece& piece) {
            const MemoryView& view = piece.operands[k];
            if (first == nullptr) first = &view;
            return view.first == first->first && view.shape == first->shape;
        };
        if (std::ranges::all_of(pieces_,
                                [&](const auto& of) { return std::ranges::all_of(of, is_the_same); }) &&
            first != nullptr && product(first->shape) <= kMost)
            return k;
    }
    return std::nullopt;
}

void LocalPart::run(std::int64_t piece) {
    if (done_ == 0) memory_.products.has_b = false;
    done_ = (done_ + 1) % pieces_.size();
    for (const Piece& part : pieces_[static_cast<std::size_t>(piece)]) make(part);
}

void LocalPart::make(const Piece& piece) {
    if (product(piece.result.shape) == 0) return;
    switch (value_.op) {
        case Op::Einsum:
            return einsum(value_, piece.operands, piece.result, arithmetic_, memory_, &blas_);
        case Op::Reduce:
            return reduce(value_, piece.operands[0], piece.result, arithmetic_);
        default:
            return move(value_, piece.operands[0], piece.result);
    }
}

}  // namespace tutti::run
