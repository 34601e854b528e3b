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
             ProgramUse use, Findings& violations)
        : structure_(structure), layout_(layout), reading_(reading), use_(use), violations_(violations) {}

    std::optional<plan::Program> run() {
        layout_.describe_to(program_);
        program_.chains = static_cast<std::uint32_t>(structure_.blocks.size());
        program_.chains_in_order = !complete();
        reserve();
        senders_ = structure_.senders();
        for (std::uint32_t block = 0; block < structure_.blocks.size(); ++block) add_block(block);
        senders_ = op_of_ = std::vector<plan::OpId>();
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
                edges += (receives(type) ? 1U : 0U) + (structure_.waits_for[steps] != plan::kNoOp ? 1U : 0U);
                ++steps;
            }
            if (complete() && !block.block->steps.empty())
                edges += static_cast<std::uint32_t>(block.block->steps.size() - 1);
        }
        if (use_ == ProgramUse::Judge && nops > 0) leave_out_nops();
        program_.ops.reserve(op_of_.empty() ? steps : steps - nops);
        program_.moves.reserve(moves);
        if (complete()) program_.op_places.reserve(steps);
        program_.ranges.reserve(ranges);
        program_.edges.reserve(edges);
    }

    /// Nobody receives from a nop or waits for one: only the order of its thread block leads on from it.
    void leave_out_nops() {
        op_of_.reserve(structure_.steps());
        plan::OpId ops = 0;
        for (const MscclStructure::Block& block : structure_.blocks) {
            for (const Step& step : block.block->steps)
                op_of_.push_back(step.type == StepType::Nop ? plan::kNoOp : ops++);
        }
    }
    [[nodiscard]] plan::OpId op_of(plan::OpId step) const {
        return op_of_.empty() || step == plan::kNoOp ? step : op_of_[step];
    }

    void add_block(std::uint32_t number) {
        const MscclStructure::Block& block = structure_.blocks[number];
        gpu_ = block.gpu;
        std::size_t edges = program_.edges.size();  // up to those of the last op
        plan::OpId id = block.first;
        for (const Step& step : block.block->steps) {
            if (step.type != StepType::Nop || op_of_.empty()) {
                add_step(id, step, number);
                edges = program_.edges.size();
            } else {
                add_dependency(id);  // of the next op
            }
            ++id;
        }
        // Nothing comes after the last nops.
        program_.edges.resize(edges);
    }
    void add_dependency(plan::OpId id) {
        const plan::OpId before = op_of(structure_.waits_for[id]);
        if (before != plan::kNoOp) program_.edges.push_back({before, next(), EdgeKind::Dependency});
    }
    /// The number of the next op.
    [[nodiscard]] plan::OpId next() const { return static_cast<plan::OpId>(program_.ops.size()); }

    void add_step(plan::OpId id, const Step& step, std::uint32_t block) {
        plan::Op op;
        op.chain = block;
        op.message_from = op_of(senders_[id]);
        op.first_move = static_cast<std::uint32_t>(program_.moves.size());
        if (complete() && id > structure_.blocks[block].first)
            program_.edges.push_back({id - 1, id, EdgeKind::Order});
        if (op.message_from != plan::kNoOp)
            program_.edges.push_back({op.message_from, next(), EdgeKind::Message});
        add_dependency(id);
        if (step.type != StepType::Nop && fits(id, step)) add_move(id, step);
        op.moves = static_cast<std::uint32_t>(program_.moves.size()) - op.first_move;
        program_.ops.push_back(op);
        if (complete()) program_.op_places.push_back(plan::op_place(structure_.place(id)));
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
    std::vector<plan::OpId> senders_;  ///< by step
    std::vector<plan::OpId> op_of_;    ///< by step, kNoOp: of a nop; empty: op n is step n
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
