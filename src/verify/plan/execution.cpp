#include "verify/plan/execution.hpp"

#include "verify/plan/marks.hpp"

#include <algorithm>

namespace tutti::verify {
namespace {

/// The values of the ops that others receive from, kept until the end: 4 bytes per chunk sent.
class Messages {
  public:
    explicit Messages(const plan::Program& program) : received_(program.ops.size()) {
        for (const plan::Op& op : program.ops) {
            const plan::OpId from = op.message_from;
            if (from != plan::kNoOp && program.ops[from].moves > 0) received_.mark(from);
        }
        begin_.reserve(received_.count());
        std::uint32_t total = 0;
        for (plan::OpId op = 0; op < program.ops.size(); ++op) {
            if (!received_.is_marked(op)) continue;
            begin_.push_back(total);
            total += program.moves[program.ops[op].first_move].count;
        }
        values_.resize(total, Sums::kUndefined);
    }
    /// Null if no op receives it, or it moves nothing.
    [[nodiscard]] SumId* of(plan::OpId op) {
        return received_.is_marked(op) ? values_.data() + begin_[received_.before(op)] : nullptr;
    }

  private:
    Marks received_;
    std::vector<std::uint32_t> begin_;  ///< of those that are received
    std::vector<SumId> values_;
};

/// What the memories hold at the start are single contributions, which need no room.
void number_contributions(const plan::Program& program, Sums& sums) {
    std::int64_t ranks = 0, chunks = 0;
    for (const plan::Memory& memory : program.memories) {
        if (!memory.origin) continue;
        ranks = std::max(ranks, std::int64_t{(*memory.origin).value()} + 1);
        chunks = std::max(chunks, memory.known_last + memory.origin_shift);
    }
    sums.number_singles(ranks, chunks);
}

}  // namespace

SumId initial_value(const plan::Memory& memory, std::int64_t place, Sums& sums) {
    if (place < memory.known_first || place >= memory.known_last) return Sums::kUndefined;
    return sums.single(static_cast<std::int32_t>((*memory.origin).value()), place + memory.origin_shift);
}

Execution::Execution(const plan::Program& program, const ProgramGraph& graph, const PlaceIndex& places,
                     Sums& sums)
    : program_(program), graph_(graph), places_(places), values_(places.places(), Sums::kUndefined) {
    number_contributions(program, sums);
    for (std::uint32_t memory = 0; memory < program.memories.size(); ++memory) {
        for (const auto& stretch : places.stretches(memory)) {
            for (std::int64_t at = stretch.first; at < stretch.last; ++at) {
                values_[stretch.number + static_cast<std::uint32_t>(at - stretch.first)] =
                    initial_value(program.memories[memory], at, sums);
            }
        }
    }

    any_packets_ = std::ranges::any_of(program.memories, &plan::Memory::packets);
    if (any_packets_) writers_.assign(places.places(), plan::kNoOp);
    Messages messages(program);
    std::vector<SumId> computed;
    for (const plan::OpId id : graph.order()) {
        const plan::Op& op = program.ops[id];
        // All reads of an op come before its writes.
        computed.clear();
        for (std::uint32_t m = 0; m < op.moves; ++m) {
            const plan::Move& move = program.moves[op.first_move + m];
            const SumId* message =
                m == 0 && op.message_from != plan::kNoOp ? messages.of(op.message_from) : nullptr;
            for (std::uint32_t e = 0; e < move.count; ++e) {
                bool any = message != nullptr;
                SumId value = any ? message[e] : Sums::kUndefined;
                for (std::uint32_t r = 0; r < move.reads; ++r) {
                    const SumId operand = values_[places.first(move.first_read + r) + e];
                    value = any ? sums.sum(value, operand) : operand;
                    any = true;
                }
                computed.push_back(value);
            }
        }
        SumId* const sent = messages.of(id);
        std::size_t next = 0;
        for (std::uint32_t m = 0; m < op.moves; ++m) {
            const plan::Move& move = program.moves[op.first_move + m];
            for (std::uint32_t e = 0; e < move.count; ++e, ++next) {
                if (m == 0 && sent != nullptr) sent[e] = computed[next];
                for (std::uint32_t w = 0; w < move.writes; ++w) {
                    const std::uint32_t place = places.first(move.first_write() + w) + e;
                    write(id, move.first_write() + w, place, computed[next]);
                }
            }
        }
    }
}

void Execution::write(plan::OpId op, std::uint32_t range, std::uint32_t place, SumId value) {
    if (any_packets_) {
        plan::OpId& writer = writers_[place];
        const bool packet = program_.memories[program_.ranges[range].memory].packets;
        if (packet && writer != plan::kNoOp && values_[place] != value)
            clashes_.push_back({place, writer, op});
        writer = op;
    }
    values_[place] = value;
}

void Execution::find_writers() const {
    writers_.assign(places_.places(), plan::kNoOp);
    for (const plan::OpId op : graph_.order()) {
        for (const plan::Move& move : program_.moves_of(program_.ops[op])) {
            for (std::uint32_t w = 0; w < move.writes; ++w) {
                const std::uint32_t first = places_.first(move.first_write() + w);
                std::fill_n(writers_.begin() + first, move.count, op);
            }
        }
    }
}

}  // namespace tutti::verify
