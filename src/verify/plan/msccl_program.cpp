#include "verify/plan/msccl_program.hpp"

#include "core/expects.hpp"

#include <fmt/format.h>

#include <initializer_list>

namespace tutti::verify {
namespace {

using plan::Address;
using plan::EdgeKind;
using plan::Step;
using plan::StepType;

class Lowering {
  public:
    Lowering(const MscclStructure& structure, const MscclLayout& layout, const PlanReading& reading,
             bool complete, Findings& violations)
        : structure_(structure),
          layout_(layout),
          reading_(reading),
          complete_(complete),
          violations_(violations) {}

    std::optional<plan::Program> run() {
        layout_.describe_to(program_);
        program_.chains = static_cast<std::uint32_t>(structure_.blocks.size());
        program_.chains_in_order = !complete_;
        reserve();
        for (plan::OpId id = 0; id < structure_.steps(); ++id) add_step(id);
        if (reading_.copies_first) add_copies();
        if (!violations_.empty()) return std::nullopt;
        return std::move(program_);
    }

  private:
    void reserve() {
        std::uint32_t moves = 0, ranges = 0, edges = 0;
        for (plan::OpId id = 0; id < structure_.steps(); ++id) {
            const StepType type = structure_.step(id).type;
            moves += type != StepType::Nop ? 1U : 0U;
            ranges += (uses_source(type) ? 1U : 0U) + (uses_destination(type) ? 1U : 0U) +
                      (type == StepType::Reduce ? 1U : 0U);
            const bool first = id == structure_.blocks[structure_.block_of[id]].first;
            edges += (complete_ && !first ? 1U : 0U) +
                     (structure_.message_from[id] != plan::kNoOp ? 1U : 0U) +
                     (structure_.waits_for[id] != plan::kNoOp ? 1U : 0U);
        }
        program_.ops.reserve(structure_.steps());
        program_.moves.reserve(moves);
        if (complete_) program_.op_places.reserve(structure_.steps());
        program_.ranges.reserve(ranges);
        program_.edges.reserve(edges);
    }

    void add_step(plan::OpId id) {
        const Step& step = structure_.step(id);
        const auto& block = structure_.blocks[structure_.block_of[id]];
        gpu_ = block.gpu;
        plan::Op op;
        op.chain = structure_.block_of[id];
        op.message_from = structure_.message_from[id];
        op.first_move = static_cast<std::uint32_t>(program_.moves.size());
        if (complete_ && id > block.first) program_.edges.push_back({id - 1, id, EdgeKind::Order});
        if (op.message_from != plan::kNoOp)
            program_.edges.push_back({op.message_from, id, EdgeKind::Message});
        if (structure_.waits_for[id] != plan::kNoOp) {
            program_.edges.push_back({structure_.waits_for[id], id, EdgeKind::Dependency});
        }
        if (step.type != StepType::Nop && fits(id, step)) add_move(id, step);
        op.moves = static_cast<std::uint32_t>(program_.moves.size()) - op.first_move;
        program_.ops.push_back(op);
        if (complete_) program_.op_places.push_back(plan::op_place(structure_.place(id)));
    }

    [[nodiscard]] Address operand(const Step& step) const {
        const bool by_destination = reading_.operand == PlanReading::Operand::Destination;
        return reduces_received(step.type) && by_destination ? step.dst : step.src;
    }

    /// Whether the step stays inside its buffers.
    bool fits(plan::OpId id, const Step& step) {
        bool fits = true;
        const auto check = [&](const Address& address) {
            const std::int64_t room = layout_.room(gpu_, address.buffer);
            const std::int64_t first = plan::file_number(address.offset), end = first + step.count;
            if (address.offset && end <= room) return;
            fits = false;
            if (!violations_.open()) return violations_.count_one();
            plan::Place place = structure_.place(id);
            place.buffer = address.buffer;
            place.offset = address.offset;
            violations_.add("range",
                            fmt::format("{}: chunks {}..{} of the {} buffer, which has {}",
                                        structure_.named(id), first, end - 1, name_of(address.buffer), room),
                            place);
        };
        if (uses_source(step.type)) check(operand(step));
        if (uses_destination(step.type)) check(step.dst);
        return fits;
    }

    void add_move(plan::OpId id, const Step& step) {
        const plan::Range from =
            uses_source(step.type) ? layout_.resolve(gpu_, operand(step)) : plan::Range{};
        const plan::Range to = uses_destination(step.type) ? layout_.resolve(gpu_, step.dst) : plan::Range{};
        if (uses_source(step.type) && stores(step.type)) {
            const bool same = from.memory == to.memory && from.first == to.first;
            if (same && step.type == StepType::Copy) return;
            const std::int64_t apart = from.first > to.first ? from.first - to.first : to.first - from.first;
            if (!same && from.memory == to.memory && apart < step.count) {
                violations_.add(
                    "overlap",
                    fmt::format("{}: source and destination overlap in part", structure_.named(id)),
                    structure_.place(id));
            }
        }
        if (step.type == StepType::Reduce) return move(step.count, {to, from}, {to});
        if (!uses_source(step.type)) return move(step.count, {}, {to});
        if (!stores(step.type)) return move(step.count, {from}, {});
        move(step.count, {from}, {to});
    }

    void move(std::int64_t count, std::initializer_list<plan::Range> reads,
              std::initializer_list<plan::Range> writes) {
        plan::Move move;
        move.count = static_cast<std::uint32_t>(count);
        move.first_read = static_cast<std::uint32_t>(program_.ranges.size());
        move.set_operands(reads.size(), writes.size());
        for (const plan::Range& range : reads) program_.ranges.push_back(packed(range));
        for (const plan::Range& range : writes) program_.ranges.push_back(packed(range));
        program_.moves.push_back(move);
    }

    /// The copies of a gpu run one after the other, then its thread blocks start.
    void add_copies() {
        expects(complete_);
        for (const Rank gpu : plan::ranks_below(std::ssize(structure_.gpus))) {
            plan::OpId last = plan::kNoOp;
            for (const plan::LocalCopy& copy : structure_.gpus[gpu.index()]->copies)
                last = add_copy(gpu, copy, last);
            if (last == plan::kNoOp) continue;
            ++program_.chains;
            for (const MscclStructure::Block& block : structure_.blocks_of(gpu)) {
                if (block.block->steps.empty()) continue;
                program_.edges.push_back({last, block.first, EdgeKind::Order});
            }
        }
    }

    plan::OpId add_copy(Rank gpu, const plan::LocalCopy& copy, plan::OpId before) {
        const Address from{plan::Buffer::Input, plan::id_of<plan::ChunkOffset>(copy.input_offset)},
            to{plan::Buffer::Output, plan::id_of<plan::ChunkOffset>(copy.output_offset)};
        plan::Op op;
        op.chain = program_.chains;
        op.first_move = static_cast<std::uint32_t>(program_.moves.size());
        const bool fits = copy.input_offset < layout_.room(gpu, from.buffer) &&
                          copy.output_offset < layout_.room(gpu, to.buffer);
        if (fits) {
            move(1, {layout_.resolve(gpu, from)}, {layout_.resolve(gpu, to)});
            op.moves = 1;
        } else {
            violations_.add("range",
                            fmt::format("gpu {}: <copy> from i[{}] to o[{}] leaves its buffers", gpu,
                                        copy.input_offset, copy.output_offset),
                            {.gpu = gpu, .offset = to.offset, .buffer = plan::Buffer::Output});
        }
        const auto id = static_cast<plan::OpId>(program_.ops.size());
        program_.ops.push_back(op);
        program_.op_places.push_back({.gpu = gpu});
        if (before != plan::kNoOp) program_.edges.push_back({before, id, EdgeKind::Order});
        return id;
    }

    const MscclStructure& structure_;
    const MscclLayout& layout_;
    const PlanReading& reading_;
    bool complete_;
    Findings& violations_;
    plan::Program program_;
    Rank gpu_{};
};

}  // namespace

std::optional<plan::Program> program_of(const MscclStructure& structure, const MscclLayout& layout,
                                        const PlanReading& reading, bool complete, Findings& violations) {
    return Lowering(structure, layout, reading, complete, violations).run();
}

std::int64_t chunks_moved(const MscclStructure& structure) {
    std::int64_t chunks = 0;
    for (const MscclStructure::Block& block : structure.blocks) {
        for (const Step& step : block.block->steps) chunks += step.count;
    }
    return chunks;
}

}  // namespace tutti::verify
