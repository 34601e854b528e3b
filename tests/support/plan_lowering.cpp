// Operations to thread blocks. Every connection gets its one sending and one receiving block; blocks that
// have an end free may take up another connection of their channel, so that all shapes from "one block does
// it all" to "a block per connection" come up. Steps are appended in the program's order, which is thus a
// schedule that ends.
//
// Order that the program relies on is kept by dependencies: for each new step, of each other block of the
// gpu, the last step that conflicts with it. Clocks (for each step, how much of every block has happened
// before it) say which of these are implied already, also around other gpus; a thrifty plan leaves those out.
// A step has one dependency; further ones are carried by nops before it.

#include "tests/oracle/plan_machine.hpp"
#include "tests/support/chunk_programs.hpp"
#include "tests/support/plan_ids.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace tutti::test {
namespace {

using plan::Buffer;
using plan::StepType;

plan::Address address_of(const Spot& spot) { return {spot.buffer, id<plan::ChunkOffset>(spot.offset)}; }

using Clock =
    std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t>;  ///< block -> steps known to be over

void join(Clock& clock, const Clock& other) {
    for (const auto& [block, steps] : other) clock[block] = std::max(clock[block], steps);
}

struct Accesses {
    std::set<oracle::Location> reads{}, writes{};

    [[nodiscard]] bool conflicts(const Accesses& other) const {
        const auto meet = [](const auto& a, const auto& b) {
            return std::ranges::any_of(a, [&](const auto& place) { return b.contains(place); });
        };
        return meet(writes, other.writes) || meet(writes, other.reads) || meet(reads, other.writes);
    }
};

class Lowering {
  public:
    Lowering(const ChunkProgram& program, Rng& rng, const LoweringOptions& options)
        : program_(program), rng_(rng), options_(options) {
        plan_.name = "random";
        plan_.channels =
            1 + static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(options.max_channels)));
        plan_.chunks_per_loop = program.chunks;
        plan_.ranks = program.ranks;
        plan_.collective = std::string(plan_name_of(program.goal));
        plan_.in_place = program.in_place;
        plan_.out_of_place = program.out_of_place;
        plan_.protocol = rng.below(5) == 0 ? plan::Protocol::LL : plan::Protocol::Simple;
        for (const Rank g : plan::ranks_below(program.ranks)) {
            plan::Gpu gpu;
            gpu.id = g;
            gpu.input_chunks = program.input;
            gpu.output_chunks = program.output;
            gpu.scratch_chunks = program.scratch;
            plan_.gpus.push_back(gpu);
        }
        call_.goal = program.goal;
        call_.in_place = program.in_place;
        call_.root = program.root;
        is_thrifty_ = rng.below(2) == 0;
        fuses_ = rng.below(2) == 0;
        spreads_ = rng.below(3) == 0;
    }

    plan::MscclPlan lower() {
        for (std::size_t i = 0; i < program_.ops.size(); ++i) {
            const ChunkOp& op = program_.ops[i];
            if (op.from.gpu == op.to.gpu) {
                local(op);
            } else {
                remote(op);
            }
        }
        return std::move(plan_);
    }

  private:
    plan::Gpu& gpu(std::int32_t id) { return plan_.gpus[static_cast<std::size_t>(id)]; }
    plan::ThreadBlock& block(std::int32_t g, std::int32_t id) {
        return gpu(g).blocks[static_cast<std::size_t>(id)];
    }

    std::int32_t new_block(std::int32_t g, std::int32_t channel) {
        plan::ThreadBlock made;
        made.id = plan::BlockId(gpu(g).blocks.size());
        made.channel = id<plan::ChannelId>(channel);
        gpu(g).blocks.push_back(made);
        return number(made.id);
    }

    /// The block that sends to (or receives from) the peer on the channel.
    std::int32_t block_for(std::int32_t g, OptionalId<Rank> plan::ThreadBlock::*end, std::int32_t peer,
                           std::int32_t channel) {
        for (const plan::ThreadBlock& candidate : gpu(g).blocks) {
            if (candidate.*end == id<Rank>(peer) && number(candidate.channel) == channel)
                return number(candidate.id);
        }
        for (plan::ThreadBlock& candidate : gpu(g).blocks) {
            if (candidate.*end || number(candidate.channel) != channel || spreads_) continue;
            candidate.*end = id<Rank>(peer);
            return number(candidate.id);
        }
        const std::int32_t made = new_block(g, channel);
        block(g, made).*end = id<Rank>(peer);
        return made;
    }

    void local(const ChunkOp& op) {
        auto& blocks = gpu(op.to.gpu).blocks;
        const bool is_new = blocks.empty() || (blocks.size() < 3 && rng_.below(3) == 0);
        const std::int32_t id =
            is_new ? new_block(op.to.gpu, 0) : static_cast<std::int32_t>(rng_.below(blocks.size()));
        plan::Step step;
        step.type = op.operand ? StepType::Reduce : StepType::Copy;
        step.src = address_of(op.from);
        step.dst = address_of(op.to);
        step.count = op.count;
        append(op.to.gpu, id, step, nullptr);
    }

    void remote(const ChunkOp& op) {
        const auto channel =
            static_cast<std::int32_t>(rng_.below(static_cast<std::uint64_t>(plan_.channels)));
        const std::int32_t sender = block_for(op.from.gpu, &plan::ThreadBlock::send_peer, op.to.gpu, channel);
        const std::int32_t receiver =
            block_for(op.to.gpu, &plan::ThreadBlock::recv_peer, op.from.gpu, channel);
        plan::Step send;
        send.type = StepType::Send;
        send.src = address_of(op.from);
        send.dst = address_of(op.to);
        send.count = op.count;
        const Clock sent = fused(op.from.gpu, sender, send) ? clocks_.at({op.from.gpu, sender}).back()
                                                            : append(op.from.gpu, sender, send, nullptr);
        plan::Step receive = send;
        receive.type = op.operand ? StepType::ReceiveReduceCopy : StepType::Receive;
        if (op.operand) receive.src = address_of(*op.operand);
        append(op.to.gpu, receiver, receive, &sent);
    }

    /// Whether the send became part of the receive before it.
    bool fused(std::int32_t g, std::int32_t id, const plan::Step& send) {
        auto& steps = block(g, id).steps;
        if (!fuses_ || steps.empty() || rng_.below(5) == 0) return false;
        plan::Step& last = steps.back();
        const bool receives = last.type == StepType::Receive || last.type == StepType::ReceiveReduceCopy;
        if (!receives || last.dst != send.src || last.count != send.count) return false;
        last.type =
            last.type == StepType::Receive ? StepType::ReceiveCopySend : StepType::ReceiveReduceCopySend;
        if (last.type == StepType::ReceiveReduceCopySend && rng_.below(8) == 0) {
            last.type = StepType::ReceiveReduceSend;  // right only if nobody needs what is not stored
        }
        return true;
    }

    Accesses accesses_of(std::int32_t g, const plan::Step& step) {
        Accesses accesses;
        for (std::int32_t k = 0; k < step.count; ++k) {
            const auto place = [&](const plan::Address& address) {
                return oracle::location_of(plan_, gpu(g), call_, address.buffer, number(address.offset) + k);
            };
            if (plan::uses_source(step.type)) accesses.reads.insert(place(step.src));
            if (step.type == StepType::Reduce) accesses.reads.insert(place(step.dst));
            if (plan::uses_destination(step.type)) accesses.writes.insert(place(step.dst));
        }
        return accesses;
    }

    const Clock& append(std::int32_t g, std::int32_t id, plan::Step step, const Clock* message) {
        auto& steps = block(g, id).steps;
        auto& clocks = clocks_[{g, id}];
        Clock clock = clocks.empty() ? Clock{} : clocks.back();
        if (message != nullptr) join(clock, *message);
        const Accesses mine = accesses_of(g, step);
        std::vector<std::pair<std::int32_t, std::int32_t>> waits;
        for (const plan::ThreadBlock& other : gpu(g).blocks) {
            if (number(other.id) == id) continue;
            for (auto s = static_cast<std::int32_t>(other.steps.size()); s-- > 0;) {
                const plan::Step& earlier = other.steps[static_cast<std::size_t>(s)];
                if (earlier.type == StepType::Nop || !accesses_of(g, earlier).conflicts(mine)) continue;
                if (is_thrifty_ && clock[{g, number(other.id)}] > s) break;
                if (rng_.below(100) >= static_cast<std::uint64_t>(options_.lose_dependency)) {
                    waits.emplace_back(number(other.id), s);
                }
                break;
            }
        }
        for (const auto& [other, s] : waits) {
            block(g, other).steps[static_cast<std::size_t>(s)].signals = true;
            join(clock, clocks_[{g, other}][static_cast<std::size_t>(s)]);
            if (std::pair(other, s) == waits.back()) {
                step.dep_block = test::id<plan::BlockId>(other);
                step.dep_step = test::id<plan::StepId>(s);
            } else {
                plan::Step nop;
                nop.number = plan::StepId(steps.size());
                nop.dst = {Buffer::Output, std::nullopt};
                nop.count = 0;
                nop.dep_block = test::id<plan::BlockId>(other);
                nop.dep_step = test::id<plan::StepId>(s);
                steps.push_back(nop);
                clocks.push_back(clock);
            }
        }
        step.number = plan::StepId(steps.size());
        step.signals = rng_.below(8) == 0;
        steps.push_back(step);
        clock[{g, id}] = number(step.number) + 1;
        clocks.push_back(clock);
        return clocks.back();
    }

    const ChunkProgram& program_;
    Rng& rng_;
    const LoweringOptions& options_;
    plan::MscclPlan plan_{};
    oracle::PlanCall call_{};
    bool is_thrifty_ = false, fuses_ = false, spreads_ = false;
    std::map<std::pair<std::int32_t, std::int32_t>, std::vector<Clock>> clocks_{};
};

}  // namespace

plan::MscclPlan lowered(const ChunkProgram& program, Rng& rng, const LoweringOptions& options) {
    return Lowering(program, rng, options).lower();
}

}  // namespace tutti::test
