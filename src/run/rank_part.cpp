#include "run/rank_part.hpp"

#include "run/fused_collective.hpp"
#include "run/local_part.hpp"

#include <algorithm>
#include <utility>

namespace tutti::run {

using tensor::Op, tensor::ValueId;

namespace {

/// The rank's own elements of a collective's result, made of what others have.
class ExchangeRun final : public RankPart {
  public:
    ExchangeRun(Exchange exchange, std::vector<const std::byte*> others, MemoryView own,
                std::vector<PieceRanges> pieces, Arithmetic arithmetic)
        : exchange_(std::move(exchange)),
          others_(std::move(others)),
          own_(std::move(own)),
          pieces_(std::move(pieces)),
          arithmetic_(arithmetic) {}

    void run(std::int64_t piece) override {
        for (const tensor::Interval range : pieces_[static_cast<std::size_t>(piece)].elements)
            exchange_.read(others_, own_.at(range.begin), range.begin, range.end, own_.storage, arithmetic_);
    }

  private:
    Exchange exchange_;
    std::vector<const std::byte*> others_;  ///< by side
    MemoryView own_;
    std::vector<PieceRanges> pieces_;
    Arithmetic arithmetic_;
};

/// An all_reduce: each rank adds up its share of the piece, and gives it to all.
class AllReduceRun final : public RankPart {
  public:
    AllReduceRun(Exchange exchange, std::vector<const std::byte*> others, std::vector<std::byte*> results,
                 std::size_t place, Storage storage, const std::vector<PieceRanges>& pieces,
                 Arithmetic arithmetic)
        : exchange_(std::move(exchange)),
          others_(std::move(others)),
          results_(std::move(results)),
          place_(place),
          storage_(storage),
          arithmetic_(arithmetic) {
        for (const PieceRanges& piece : pieces) {
            shares_.push_back(share_of(piece.elements, static_cast<std::int64_t>(place),
                                       static_cast<std::int64_t>(results_.size())));
        }
    }

    void run(std::int64_t piece) override {
        const auto bytes = static_cast<std::int64_t>(bytes_of(storage_));
        for (const tensor::Interval range : shares_[static_cast<std::size_t>(piece)]) {
            for (std::int64_t begin = range.begin; begin < range.end; begin += kAtOnce) {
                const std::int64_t end = std::min(begin + kAtOnce, range.end);
                std::byte* const own = results_[place_] + begin * bytes;
                exchange_.read(others_, own, begin, end, storage_, arithmetic_);
                for (std::size_t other = 0; other < results_.size(); ++other) {
                    if (other != place_)
                        std::copy_n(own, (end - begin) * bytes, results_[other] + begin * bytes);
                }
            }
        }
    }

  private:
    static constexpr std::int64_t kAtOnce = 4096;

    Exchange exchange_;
    std::vector<const std::byte*> others_;
    std::vector<std::byte*> results_;  ///< by place in the group
    std::size_t place_;
    Storage storage_;
    std::vector<std::vector<tensor::Interval>> shares_;  ///< by piece
    Arithmetic arithmetic_;
};

}  // namespace

std::vector<PieceRanges> RankPartMaker::pieces_of(const ProgramStage& stage, ValueId id,
                                                  std::int64_t rank) const {
    std::vector<PieceRanges> pieces;
    for (std::int64_t piece = 0; piece < stage.pieces(); ++piece)
        pieces.push_back(piece_ranges(program, stage.cut, id, rank, piece));
    if (faults != nullptr && faults->pieces) faults->pieces(id, rank, pieces);
    return pieces;
}

std::unique_ptr<RankPart> RankPartMaker::made(const ProgramPart& part, const ProgramStage& stage,
                                              std::int64_t rank) const {
    const ValueId id = part.values.front();
    const bool holds = tensor::holds(program[id].type, program.mesh().coordinates(rank));
    if (!holds || plan.is_done(id)) return nullptr;
    switch (part.kind) {
        case ProgramPart::Kind::Loop:
            return loop(part, stage, rank);
        case ProgramPart::Kind::Exchange:
            return exchange(id, stage, rank);
        default:
            return local(id, stage, rank);
    }
}

std::unique_ptr<RankPart> RankPartMaker::exchange(ValueId id, const ProgramStage& stage,
                                                  std::int64_t rank) const {
    Exchange exchange = Exchange::reading(program, id, rank);
    const ValueId operand = program[id].args[0];
    std::vector<const std::byte*> others;
    std::vector<std::byte*> results;
    std::size_t place = 0;
    for (const ExchangeSide& side : exchange.sides()) {
        if (side.rank == rank) place = others.size();
        others.push_back(memory.address(operand, side.rank));
        results.push_back(memory.address(id, side.rank));
    }
    if (program[id].op == Op::AllReduce && writes_to_others) {
        return std::make_unique<AllReduceRun>(std::move(exchange), std::move(others), std::move(results),
                                              place, memory.storage(program[id].type),
                                              pieces_of(stage, id, rank), memory.arithmetic());
    }
    return std::make_unique<ExchangeRun>(std::move(exchange), std::move(others), memory.view(id, rank),
                                         pieces_of(stage, id, rank), memory.arithmetic());
}

std::unique_ptr<RankPart> RankPartMaker::loop(const ProgramPart& part, const ProgramStage& stage,
                                              std::int64_t rank) const {
    return std::make_unique<FusedLoop>(program, plan, memory, coder, part,
                                       pieces_of(stage, part.values.front(), rank), rank);
}

std::unique_ptr<RankPart> RankPartMaker::local(ValueId id, const ProgramStage& stage,
                                               std::int64_t rank) const {
    return std::make_unique<LocalPart>(program, memory, coder.blas(), id, stage, pieces_of(stage, id, rank),
                                       rank);
}

}  // namespace tutti::run
