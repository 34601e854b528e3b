#include "verify/plan/execution.hpp"

#include <algorithm>

namespace tutti::verify {
namespace {

/// The values of the ops that others receive from, kept until the end: 4 bytes per chunk sent.
class Messages {
  public:
    explicit Messages(const plan::Program& program) : begin_(program.ops.size(), 0) {
        std::vector<bool> read(program.ops.size(), false);
        for (const plan::Op& op : program.ops) {
            if (op.message_from != plan::kNoOp) read[op.message_from] = true;
        }
        std::uint32_t total = 1;  // 0 means that no op receives it
        for (std::size_t op = 0; op < program.ops.size(); ++op) {
            if (!read[op] || program.ops[op].moves == 0) continue;
            begin_[op] = total;
            total += program.moves[program.ops[op].first_move].count;
        }
        values_.resize(total, Sums::kUndefined);
    }
    /// Null if no op receives it.
    [[nodiscard]] SumId* of(plan::OpId op) { return begin_[op] == 0 ? nullptr : values_.data() + begin_[op]; }

  private:
    std::vector<std::uint32_t> begin_;
    std::vector<SumId> values_;
};

/// Those that are touched and hold something at the start.
std::size_t known_places(const plan::Program& program, const PlaceIndex& places) {
    std::int64_t known = 0;
    for (std::uint32_t m = 0; m < program.memories.size(); ++m) {
        const plan::Memory& memory = program.memories[m];
        for (const auto& stretch : places.stretches(m)) {
            const std::int64_t first = std::max(stretch.first, memory.known_first),
                               last = std::min(stretch.last, memory.known_last);
            known += std::max<std::int64_t>(last - first, 0);
        }
    }
    return static_cast<std::size_t>(known);
}

}  // namespace

SumId initial_value(const plan::Memory& memory, std::int64_t place, Sums& sums) {
    if (place < memory.known_first || place >= memory.known_last) return Sums::kUndefined;
    return sums.single(static_cast<std::int32_t>((*memory.origin).value()), place + memory.origin_shift);
}

Execution::Execution(const plan::Program& program, const ProgramGraph& graph, const PlaceIndex& places,
                     Sums& sums)
    : values_(places.places(), Sums::kUndefined), writers_(places.places(), plan::kNoOp) {
    sums.reserve(known_places(program, places));
    for (std::uint32_t memory = 0; memory < program.memories.size(); ++memory) {
        for (const auto& stretch : places.stretches(memory)) {
            for (std::int64_t at = stretch.first; at < stretch.last; ++at) {
                values_[stretch.number + static_cast<std::uint32_t>(at - stretch.first)] =
                    initial_value(program.memories[memory], at, sums);
            }
        }
    }

    any_packets_ = std::ranges::any_of(program.memories, &plan::Memory::packets);
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
                    write(program, id, move.first_write() + w, place, computed[next]);
                }
            }
        }
    }
}

void Execution::write(const plan::Program& program, plan::OpId op, std::uint32_t range, std::uint32_t place,
                      SumId value) {
    if (any_packets_ && program.memories[program.ranges[range].memory].packets &&
        writers_[place] != plan::kNoOp && values_[place] != value) {
        clashes_.push_back({place, writers_[place], op});
    }
    values_[place] = value;
    writers_[place] = op;
}

}  // namespace tutti::verify
