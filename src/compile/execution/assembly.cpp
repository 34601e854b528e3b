#include "compile/execution/draft.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

// Channels. A channel joins one thread block of a rank with one of another. Moves from the one to the
// other share it as long as they are waited for in the order in which they are signalled; those that overtake
// others get a second one. (Packets are not waited for on channels, so one is enough.) Both sides list the
// channels between two ranks in the same order, which is what pairs them.

namespace tutti::compile::execution {
namespace {

using Kind = Task::Kind;
using plan::ChannelType;
using plan::OperationType;

/// Between two blocks, the lower one first; several of a pair are told apart by a number.
using Wire = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;

class Assembly {
  public:
    explicit Assembly(const Draft& draft) : draft_(draft) {}

    plan::ExecutionPlan run() {
        number_blocks();
        choose_wires();
        plan_.in_place = draft_.in_place;
        for (std::uint32_t rank = 0; rank < draft_.ranks(); ++rank) add_gpu(rank);
        for (std::uint32_t block = 0; block < draft_.blocks.size(); ++block) add_block(block);
        return std::move(plan_);
    }

  private:
    void number_blocks() {
        std::vector<std::int32_t> next(draft_.ranks(), 0);
        for (const Block& block : draft_.blocks)
            id_.emplace_back(static_cast<std::size_t>(next[block.rank]++));
        blocks_of_ = next;
    }

    /// Whether it puts (of what is read it signals instead), or waits; who gets packets has to wait for none.
    [[nodiscard]] bool is_a(const Task& task, Kind wanted) const {
        if (task.kind == wanted) return true;
        if (wanted != Kind::Put) return false;
        return task.kind == Kind::ReducePut || task.kind == Kind::ReadReducePut ||
               (task.kind == Kind::Signal && draft_.moves[task.move].is_read);
    }
    /// The position of each move among those that its block puts (signals follow in the same order), or
    /// waits for.
    [[nodiscard]] std::vector<std::uint32_t> positions(Kind kind) const {
        std::vector<std::uint32_t> position(draft_.moves.size(), 0);
        std::uint32_t next = 0;
        for (const Block& block : draft_.blocks) {
            for (const Task& task : block.tasks) {
                if (is_a(task, kind)) position[task.move] = next++;
            }
        }
        return position;
    }

    void choose_wires() {
        const std::vector<std::uint32_t> sent = positions(Kind::Put), taken = positions(Kind::Wait);
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> between;
        for (std::uint32_t i = 0; i < draft_.moves.size(); ++i)
            between[{draft_.sender[i], draft_.receiver[i]}].push_back(i);
        wire_.resize(draft_.moves.size());
        for (auto& [ends, moves] : between) {
            std::ranges::sort(moves, {}, [&](std::uint32_t i) { return sent[i]; });
            std::vector<std::uint32_t> last;  // taken on each wire
            for (const std::uint32_t i : moves) {
                const auto fits = std::ranges::find_if(
                    last, [&](std::uint32_t at) { return draft_.packets || at < taken[i]; });
                const auto number = static_cast<std::uint32_t>(fits - last.begin());
                if (fits == last.end()) last.push_back(0);
                last[number] = taken[i];
                wire_[i] = {std::min(ends.first, ends.second), std::max(ends.first, ends.second), number};
                const std::uint32_t a = draft_.blocks[ends.first].rank, b = draft_.blocks[ends.second].rank;
                wires_[{std::min(a, b), std::max(a, b)}].insert(wire_[i]);
            }
        }
    }

    void add_gpu(std::uint32_t rank) {
        plan::ExecutionGpu gpu;
        gpu.id = Rank(rank);
        gpu.input_chunks = draft_.of_rank[rank].inputs;
        gpu.output_chunks = draft_.of_rank[rank].outputs;
        gpu.scratch_chunks = draft_.of_rank[rank].scratch;
        gpu.semaphores.assign(static_cast<std::size_t>(draft_.semaphores[rank]), 0);
        plan::GpuChannels channels{draft_.channel, {}, {}, {}};
        channel_.emplace_back();
        for (const auto& [pair, wires] : wires_) {
            if (pair.first != rank && pair.second != rank) continue;
            for (const Wire& wire : wires) {
                channel_[rank][wire] = plan::ChannelId(channels.peers.size());
                channels.peers.emplace_back(pair.first == rank ? pair.second : pair.first);
            }
        }
        if (!channels.peers.empty()) gpu.channels.push_back(std::move(channels));
        plan_.gpus.push_back(std::move(gpu));
    }

    void add_block(std::uint32_t number) {
        const Block& block = draft_.blocks[number];
        gpu_ = &plan_.gpus[block.rank];
        rank_ = block.rank;
        plan::ExecutionBlock result;
        result.id = id_[number];
        channels_.clear();
        buffers_.clear();
        for (const Task& task : block.tasks) result.ops.push_back(operation(task));
        if (!channels_.empty()) result.channels.push_back({draft_.channel, channels_});
        if (!buffers_.empty()) result.buffers.push_back({draft_.channel, buffers_});
        gpu_->blocks.push_back(std::move(result));
    }

    /// The block's number of something that the GPU has another number for.
    template <class IdType>
    static plan::Slot slot_in(std::vector<IdType>& ids, IdType id) {
        const auto at = std::ranges::find(ids, id);
        const plan::Slot slot(static_cast<std::size_t>(at - ids.begin()));
        if (at == ids.end()) ids.push_back(id);
        return slot;
    }
    plan::Slot channel(std::uint32_t move) { return slot_in(channels_, channel_[rank_].at(wire_[move])); }
    plan::Slot buffer(std::uint32_t rank, plan::Buffer of) {
        const plan::RemoteBuffer wanted{Rank(rank), of, {draft_.channel}};
        const auto at = std::ranges::find(gpu_->remote_buffers, wanted);
        const plan::RemoteBufferId id(static_cast<std::size_t>(at - gpu_->remote_buffers.begin()));
        if (at == gpu_->remote_buffers.end()) gpu_->remote_buffers.push_back(wanted);
        return slot_in(buffers_, id);
    }

    static plan::Operand local(const plan::Address& at, std::int64_t count) {
        return {plan::Operand::Kind::Local, at.buffer, {}, (*at.offset).value(), count};
    }

    plan::Operation operation(const Task& task) {
        plan::Operation op;
        switch (task.kind) {
            case Kind::Nop:
                op.type = OperationType::Nop;
                break;
            case Kind::Barrier:
                op.type = OperationType::Barrier;
                op.barrier_blocks = blocks_of_[rank_];
                break;
            case Kind::Acquire:
            case Kind::Release:
                op.type = task.kind == Kind::Acquire ? OperationType::SemAcquire : OperationType::SemRelease;
                op.semaphores = task.semaphores;
                break;
            case Kind::Wait:
            case Kind::Signal:
                op.type = task.kind == Kind::Wait ? OperationType::Wait : OperationType::Signal;
                op.channel_type = draft_.channel;
                op.channels = {channel(task.move)};
                break;
            case Kind::Copy:
                op.type = task.unpacks ? OperationType::UnpackPackets : OperationType::Copy;
                op.src = {local(task.src, task.count)};
                op.dst = {local(task.dst, task.count)};
                break;
            case Kind::Reduce:
                op.type = task.unpacks ? OperationType::ReducePackets : OperationType::Reduce;
                add(op, task);
                break;
            case Kind::Pack:
                op.type = OperationType::CopyPackets;
                op.src = {local(task.src, task.count)};
                op.dst = {local(task.dst, task.count)};
                break;
            case Kind::ReadReduce:
            case Kind::ReadReducePut:
                op.type =
                    task.kind == Kind::ReadReduce ? OperationType::ReadReduce : OperationType::ReadReduceSend;
                op.channel_type = draft_.channel;
                op.reduce = plan::ReduceOp::Sum;
                op.src = {local(task.src, task.count), source_of(task)};
                op.dst = {local(task.dst, task.count)};
                if (task.kind == Kind::ReadReducePut)
                    op.dst.push_back(remote(task.move, draft_.moves[task.move].landing, task.count));
                break;
            case Kind::ReducePut:
                op.type = task.unpacks ? OperationType::ReduceSendPackets : OperationType::ReduceSend;
                op.channel_type = draft_.channel;
                add(op, task);
                op.dst.push_back(remote(task.move, draft_.moves[task.move].landing, task.count));
                break;
            case Kind::Put:
                put(op, task);
                break;
        }
        return op;
    }

    void put(plan::Operation& op, const Task& task) {
        const bool port = draft_.channel == ChannelType::Port;
        op.type = !draft_.packets ? (port ? OperationType::PutSignal : OperationType::Put)
                  : port          ? OperationType::ReadPutPackets
                                  : OperationType::PutPackets;
        op.channel_type = draft_.channel;
        if (port) op.channels = {channel(task.move)};
        op.src = {local(task.src, task.count)};
        op.dst = {remote(task.move, task.dst, task.count)};
    }
    /// A place at the receiver of a move.
    plan::Operand remote(std::uint32_t move, const plan::Address& at, std::int64_t count) {
        const plan::Slot id = buffer(draft_.moves[move].to, at.buffer);
        return {plan::Operand::Kind::Remote, plan::Buffer::Input, id, (*at.offset).value(), count};
    }
    /// What a receiver reads at its sender.
    plan::Operand source_of(const Task& task) {
        const Move& move = draft_.moves[task.read];
        const plan::Slot id = buffer(move.from, move.source.buffer);
        return {plan::Operand::Kind::Remote, plan::Buffer::Input, id, (*move.source.offset).value(),
                task.count};
    }
    static void add(plan::Operation& op, const Task& task) {
        op.reduce = plan::ReduceOp::Sum;
        op.src = {local(task.src, task.count), local(task.other, task.count)};
        op.dst = {local(task.dst, task.count)};
    }

    const Draft& draft_;
    plan::ExecutionPlan plan_;
    std::vector<plan::BlockId> id_;                                            ///< of each block in its GPU
    std::vector<std::int32_t> blocks_of_;                                      ///< how many, by rank
    std::vector<Wire> wire_;                                                   ///< of each move
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::set<Wire>> wires_;  ///< of each pair of ranks
    std::vector<std::map<Wire, plan::ChannelId>> channel_;                     ///< by rank: the GPU's number
    // Of the block at hand:
    plan::ExecutionGpu* gpu_ = nullptr;
    std::uint32_t rank_ = 0;
    std::vector<plan::ChannelId> channels_;
    std::vector<plan::RemoteBufferId> buffers_;
};

}  // namespace

plan::ExecutionPlan assemble(const Draft& draft) { return Assembly(draft).run(); }

}  // namespace tutti::compile::execution
