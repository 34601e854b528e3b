#include "run/fused_collective.hpp"

#include "tensor/infer.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace tutti::run {

using tensor::Interval, tensor::Program, tensor::Type, tensor::ValueId;

namespace {

/// 16 KB of f32: the sum, and what a loop reads and writes beside it, stay in the second-level cache.
constexpr std::int64_t kStretch = 4096;

/// How far apart the tensor's elements at the loop's indices are.
std::vector<std::int64_t> aligned_strides(const MemoryView& view, const Type& read, const Type& loop) {
    std::vector<std::int64_t> strides(loop.rank(), 0);
    for (std::size_t d = 0; d < read.rank(); ++d) {
        const std::size_t place = tensor::aligned_dim(d, read.rank(), loop.rank());
        if (read.shape[d] == loop.shape[place]) strides[place] = view.strides[d];
    }
    return strides;
}

}  // namespace

FusedLoop::FusedLoop(const Program& program, const MemoryPlan& plan, const RankMemory& memory,
                     KernelCoder& coder, const ProgramPart& part, std::vector<PieceRanges> pieces,
                     std::int64_t rank)
    : loop_(tensor::loop_of(program, part.values, [&](ValueId id) { return plan.has(id); })),
      pieces_(std::move(pieces)),
      arithmetic_(memory.arithmetic()) {
    LoopShape shape{memory.view(part.values.front(), rank).shape, {}};
    if (part.head) add_head(program, memory, *part.head, rank);
    for (std::size_t t = 0; t < loop_.tensors.size(); ++t) {
        const tensor::LoopTensor& tensor = loop_.tensors[t];
        if (part.head == tensor.value) {
            head_->tensor = t;
            shape.strides.push_back(row_major_strides(shape.sizes));
            tensors_.push_back(nullptr);
            continue;
        }
        const MemoryView view = memory.view(tensor.value, tensor.read, rank);
        shape.strides.push_back(aligned_strides(view, tensor.read, loop_.type));
        tensors_.push_back(view.first);
    }
    for (const tensor::LoopOutput& output : loop_.outputs)
        outputs_.push_back(memory.address(output.value, rank));
    for (const ValueId tail : part.tails) add_tail(program, memory, tail, rank);
    code_ = coder.code(loop_, shape, arithmetic_);
}

void FusedLoop::add_head(const Program& program, const RankMemory& memory, ValueId head, std::int64_t rank) {
    head_.emplace(Head{.exchange = Exchange::reading(program, head, rank),
                       .storage = memory.storage(program[head].type)});
    for (const ExchangeSide& side : head_->exchange.sides())
        head_->others.push_back(memory.address(program[head].args[0], side.rank));
    head_->sum.resize(static_cast<std::size_t>(kStretch) * bytes_of(head_->storage));
}

void FusedLoop::add_tail(const Program& program, const RankMemory& memory, ValueId tail, std::int64_t rank) {
    const ValueId own = program[tail].args[0];
    Tail& made = tails_.emplace_back(Tail{.exchange = Exchange::writing(program, tail, rank),
                                          .own = memory.address(own, rank),
                                          .storage = memory.storage(program[tail].type)});
    for (const ExchangeSide& side : made.exchange.sides())
        made.others.push_back(memory.address(tail, side.rank));
}

void FusedLoop::run(std::int64_t piece) {
    const std::int64_t most = head_ || !tails_.empty() ? kStretch : std::numeric_limits<std::int64_t>::max();
    for (const Interval range : pieces_[static_cast<std::size_t>(piece)].elements) {
        for (std::int64_t begin = range.begin; begin < range.end;) {
            const std::int64_t end = begin + std::min(most, range.end - begin);
            run_stretch({begin, end});
            begin = end;
        }
    }
}

void FusedLoop::run_stretch(Interval range) {
    if (head_) {
        head_->exchange.read(head_->others, head_->sum.data(), range.begin, range.end, head_->storage,
                             arithmetic_);
        // Where element 0 would be, if the sums of all elements were in memory.
        const auto before = static_cast<std::uintptr_t>(range.begin) * bytes_of(head_->storage);
        const auto first = reinterpret_cast<std::uintptr_t>(head_->sum.data()) - before;
        tensors_[head_->tensor] = reinterpret_cast<const void*>(first);
    }
    code_->run(tensors_, outputs_, range.begin, range.end);
    for (const Tail& tail : tails_) {
        tail.exchange.write(tail.others,
                            tail.own + range.begin * static_cast<std::int64_t>(bytes_of(tail.storage)),
                            range.begin, range.end, tail.storage);
    }
}

}  // namespace tutti::run
