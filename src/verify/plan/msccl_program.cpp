#include "verify/plan/msccl_program.hpp"

#include "core/expects.hpp"
#include "verify/plan/marks.hpp"

#include <fmt/format.h>

#include <initializer_list>

namespace tutti::verify {
namespace {

using plan::Address;
using plan::EdgeKind;
using plan::Step;
using plan::StepType;

/// The steps that are no nops. Nobody receives from a nop or waits for one: only the order of its thread
/// block leads on from it.
Marks works_of(const MscclStructure& structure) {
    Marks works(structure.steps());
    plan::OpId id = 0;
    for (const MscclStructure::Block& block : structure.blocks) {
        for (const Step& step : block.block->steps) {
            if (step.type != StepType::Nop) works.mark(id);
            ++id;
        }
    }
    works.count();
    return works;
}

class Lowering {
  public:
    Lowering(const MscclStructure& structure, const MscclLayout& layout, const PlanReading& reading,
             ProgramUse use, Findings& violations)
        : structure_(structure), layout_(layout), reading_(reading), use_(use), violations_(violations) {}

    std::optional<plan::Program> run() {
        layout_.describe_to(program_);
        program_.chains = static_cast<std::uint32_t>(structure_.blocks.size());
        reserve();
        sending_blocks_ = structure_.sending_blocks();
        for (std::uint32_t block = 0; block < structure_.blocks.size(); ++block) add_block(block);
        works_.reset();
        if (reading_.copies_first) add_copies();
        if (!violations_.empty()) return std::nullopt;
        return std::move(program_);
    }

  private:
    [[nodiscard]] bool complete() const { return use_ == ProgramUse::Keep; }

    void reserve() {
        std::uint32_t steps = 0, nops = 0, moves = 0, ranges = 0, edges = 0;
        for (const MscclStructure::Block& block : structure_.blocks) {
            for (const Step& step : block.block->steps) {
                const StepType type = step.type;
                (type == StepType::Nop ? nops : moves) += 1;
                ranges += (uses_source(type) ? 1U : 0U) + (uses_destination(type) ? 1U : 0U) +
                          (type == StepType::Reduce ? 1U : 0U);
                edges += (receives(type) ? 1U : 0U) +
                         (structure_.waits_for(block, step) != plan::kNoOp ? 1U : 0U) +
                         (complete() || type != StepType::Nop ? 1U : 0U);
            }
            steps += static_cast<std::uint32_t>(block.block->steps.size());
        }
        if (!complete() && nops > 0) works_ = works_of(structure_);
        program_.ops.reserve(complete() ? steps : steps - nops);
        program_.moves.reserve(moves);
        program_.ranges.reserve(ranges);
        if (complete()) {
            program_.op_places.reserve(steps);
            program_.edges.reserve(edges);
        } else {
            program_.before.reserve(edges);
            program_.first_before.reserve(steps - nops + 1);
            program_.first_before.push_back(0);
        }
    }

    [[nodiscard]] plan::OpId op_of(plan::OpId step) const {
        return step == plan::kNoOp || !works_ ? step : works_->before(step);
    }

    void add_block(std::uint32_t number) {
        const MscclStructure::Block& block = structure_.blocks[number];
        gpu_ = block.gpu;
        sent_ = 0;
        plan::OpId id = block.first, last = plan::kNoOp;
        for (const Step& step : block.block->steps) {
            if (step.type == StepType::Nop && !complete()) {
                add_dependency(block, step);  // of the next op
            } else {
                last = add_step(id, step, block, number, last);
            }
            ++id;
        }
        // Nothing comes after the last nops.
        if (!complete()) program_.before.resize(program_.first_before.back());
    }
    void add_dependency(const MscclStructure::Block& block, const Step& step) {
        comes_after(op_of(structure_.waits_for(block, step)), EdgeKind::Dependency);
    }
    /// The next op comes after that one, if it is one.
    void comes_after(plan::OpId before, EdgeKind kind) {
        if (before == plan::kNoOp) return;
        if (complete()) {
            program_.edges.push_back({before, next(), kind});
        } else {
            program_.before.push_back(before);
        }
    }
    /// The step that the next receive of the block receives from.
    plan::OpId next_sender(std::uint32_t number) {
        const MscclStructure::Block& from = structure_.blocks[sending_blocks_[number]];
        while (!sends(from.block->steps[sent_].type)) ++sent_;
        return from.first + sent_++;
    }
    /// The number of the next op.
    [[nodiscard]] plan::OpId next() const { return static_cast<plan::OpId>(program_.ops.size()); }

    /// `last`: the op before it in its thread block. Returns its op.
    plan::OpId add_step(plan::OpId id, const Step& step, const MscclStructure::Block& block,
                        std::uint32_t number, plan::OpId last) {
        plan::Op op;
        op.chain = number;
        if (receives(step.type)) op.message_from = op_of(next_sender(number));
        op.first_move = static_cast<std::uint32_t>(program_.moves.size());
        comes_after(last, EdgeKind::Order);
        comes_after(op.message_from, EdgeKind::Message);
        add_dependency(block, step);
        if (step.type != StepType::Nop && fits(id, step)) add_move(id, step);
        op.moves = static_cast<std::uint32_t>(program_.moves.size()) - op.first_move;
        program_.ops.push_back(op);
        if (complete()) {
            program_.op_places.push_back(plan::op_place(structure_.place(id)));
        } else {
            program_.first_before.push_back(static_cast<std::uint32_t>(program_.before.size()));
        }
        return next() - 1;
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
        expects(complete());
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
    ProgramUse use_;
    Findings& violations_;
    std::vector<std::uint32_t> sending_blocks_;  ///< by block
    std::uint32_t sent_ = 0;      ///< steps of the block that this one receives from, up to its last message
    std::optional<Marks> works_;  ///< none: op n is step n
    plan::Program program_;
    Rank gpu_{};
};

}  // namespace

std::optional<plan::Program> program_of(const MscclStructure& structure, const MscclLayout& layout,
                                        const PlanReading& reading, ProgramUse use, Findings& violations) {
    return Lowering(structure, layout, reading, use, violations).run();
}

std::int64_t chunks_moved(const MscclStructure& structure) {
    std::int64_t chunks = 0;
    for (const MscclStructure::Block& block : structure.blocks) {
        for (const Step& step : block.block->steps) chunks += step.count;
    }
    return chunks;
}

}  // namespace tutti::verify
