// Thread blocks, steps, and what they wait for.
//
// The steps of a rank are taken in order of their ticks, arrivals before sends. What each has to wait for,
// because it reads or writes what others do, is found and written by compile/step_writer.

#include "compile/msccl/locations.hpp"
#include "compile/msccl/passes.hpp"
#include "compile/step_writer.hpp"

#include <algorithm>
#include <map>

namespace tutti::compile::msccl {
namespace {

using plan::Step;
using plan::StepType;

/// A step before it has a number.
struct Work {
    Ticks tick;
    int phase = 0;                    ///< own copies, arrivals, sends
    std::uint32_t turn = 0, row = 0;  ///< among those of one tick and phase
    std::uint32_t block = 0;
    Step step{};

    [[nodiscard]] auto order() const { return std::tuple(tick, phase, turn, row); }
};

struct Block {
    std::uint32_t in = kNone, out = kNone;  ///< lanes
    std::vector<Step> steps{};
};

class RankSteps {
  public:
    RankSteps(const Draft& draft, std::uint32_t rank) : draft_(draft), rank_(rank) {}

    [[nodiscard]] std::optional<Excess> build(const std::vector<std::uint32_t>& lanes_in,
                                              const std::vector<std::uint32_t>& lanes_out,
                                              const std::vector<OwnCopy>& copies) {
        form_blocks(lanes_in, lanes_out, copies);
        if (blocks_.size() > static_cast<std::size_t>(draft_.limits.blocks)) {
            return excess(Excess::Of::Blocks, blocks_.size(), draft_.limits.blocks);
        }
        std::vector<Work> works = works_of(copies);
        const std::size_t nodes = 1 + blocks_.size() + works.size();
        if (nodes > static_cast<std::size_t>(draft_.limits.nodes)) {
            return excess(Excess::Of::Nodes, nodes, draft_.limits.nodes);
        }
        std::ranges::sort(works, {}, &Work::order);
        StepWriter writer(blocks_.size(), Locations(draft_, rank_));
        for (const Work& work : works) writer.add(work.block, work.step);
        for (std::size_t b = 0; b < blocks_.size(); ++b) blocks_[b].steps = writer.steps(b);
        return check();
    }

    [[nodiscard]] plan::Gpu gpu() const {
        plan::Gpu gpu{.id = Rank(rank_)};
        // The runtime takes nothing else for custom collectives than all of a call's chunks, or none.
        const bool custom = draft_.places.goal() == CollectiveKind::Custom && rank_ < draft_.places.members();
        const auto size = [&](std::int64_t chunks) {
            return static_cast<std::int32_t>(custom ? draft_.places.chunks_per_loop() : chunks);
        };
        gpu.input_chunks = size(draft_.places.input_chunks(rank_));
        gpu.output_chunks = size(draft_.places.output_chunks(rank_));
        gpu.scratch_chunks = draft_.scratch[rank_];
        const auto ids = block_ids();
        gpu.blocks.resize(blocks_.size());
        for (std::size_t b = 0; b < blocks_.size(); ++b) {
            plan::ThreadBlock& block = gpu.blocks[ids[b].index()];
            block = header(blocks_[b]);
            block.id = ids[b];
            block.steps = blocks_[b].steps;
            for (Step& step : block.steps) {
                if (step.dep_block) step.dep_block = ids[(*step.dep_block).index()];
            }
        }
        return gpu;
    }

  private:
    [[nodiscard]] Excess excess(Excess::Of of, std::size_t needed, int limit) const {
        return {of, static_cast<std::int64_t>(needed), limit, rank_};
    }
    [[nodiscard]] const Lane& lane(std::uint32_t i) const { return draft_.lanes[i]; }

    [[nodiscard]] plan::ThreadBlock header(const Block& block) const {
        plan::ThreadBlock header;
        if (block.in != kNone) {
            header.recv_peer = Rank(lane(block.in).from);
            header.channel = plan::ChannelId(lane(block.in).channel);
        }
        if (block.out != kNone) {
            header.send_peer = Rank(lane(block.out).to);
            header.channel = plan::ChannelId(lane(block.out).channel);
        }
        return header;
    }

    void form_blocks(const std::vector<std::uint32_t>& lanes_in, const std::vector<std::uint32_t>& lanes_out,
                     const std::vector<OwnCopy>& copies) {
        for (const std::uint32_t i : lanes_in) blocks_.push_back({.in = i, .out = lane(i).onward});
        for (const std::uint32_t i : lanes_out) {
            if (lane(i).inbound == kNone) blocks_.push_back({.out = i});
        }
        std::ranges::stable_sort(blocks_, {}, [&](const Block& block) {
            const plan::ThreadBlock h = header(block);
            return std::tuple(h.send_peer, h.recv_peer, h.channel);
        });
        // Own copies have a thread block of their own, and nobody has none: a grid cannot be empty.
        if (!copies.empty() || blocks_.empty()) blocks_.emplace_back();
        for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
            if (blocks_[b].in != kNone) receiving_[blocks_[b].in] = b;
            if (blocks_[b].out != kNone) sending_[blocks_[b].out] = b;
        }
    }

    [[nodiscard]] std::vector<Work> works_of(const std::vector<OwnCopy>& copies) const {
        std::vector<Work> works;
        for (const OwnCopy& copy : copies) {
            Work work{.tick = Ticks(-1), .block = static_cast<std::uint32_t>(blocks_.size() - 1)};
            work.turn = static_cast<std::uint32_t>(works.size());
            work.step.type = StepType::Copy;
            work.step.src = {plan::Buffer::Input, plan::id_of<plan::ChunkOffset>(copy.input)};
            work.step.dst = {plan::Buffer::Output, plan::id_of<plan::ChunkOffset>(copy.output)};
            work.step.count = copy.count;
            works.push_back(work);
        }
        for (const auto& [in, block] : receiving_) {
            for (const std::uint32_t i : lane(in).transfers) works.push_back(receive(i, block));
        }
        for (const auto& [out, block] : sending_) {
            for (const std::uint32_t i : lane(out).transfers) {
                if (!draft_.transfers[i].is_fused) works.push_back(send(i, block));
            }
        }
        return works;
    }

    [[nodiscard]] Work send(std::uint32_t i, std::uint32_t block) const {
        const Transfer& t = draft_.transfers[i];
        Work work{.tick = t.sent, .phase = 2, .turn = t.latest, .row = t.row, .block = block};
        work.step.type = StepType::Send;
        work.step.src = t.source;
        work.step.dst = t.target;  // the peer's
        work.step.count = t.count();
        return work;
    }

    [[nodiscard]] Work receive(std::uint32_t i, std::uint32_t block) const {
        const Transfer& t = draft_.transfers[i];
        Work work{.tick = t.received, .phase = 1, .turn = t.latest, .row = t.row, .block = block};
        const bool fused = t.fused != kNone;
        work.step.src = t.reduces ? t.operand : fused ? t.target : t.source;  // a plain receive's: the peer's
        work.step.dst = t.target;
        work.step.count = t.count();
        if (!fused) {
            work.step.type = t.reduces ? StepType::ReceiveReduceCopy : StepType::Receive;
        } else if (!t.reduces) {
            work.step.type = StepType::ReceiveCopySend;
        } else if (t.stores) {
            work.step.type = StepType::ReceiveReduceCopySend;
        } else {
            work.step.type = StepType::ReceiveReduceSend;
            work.step.dst = draft_.transfers[t.fused].target;  // the peer's
        }
        return work;
    }

    /// Those that somebody waits for first, if the target can only wait for the first ones.
    [[nodiscard]] std::vector<plan::BlockId> block_ids() const {
        std::vector<std::size_t> order(blocks_.size());
        for (std::size_t b = 0; b < order.size(); ++b) order[b] = b;
        if (blocks_.size() > static_cast<std::size_t>(draft_.limits.waited_block) + 1) {
            std::ranges::stable_partition(order, [&](std::size_t b) { return is_waited_for(blocks_[b]); });
        }
        std::vector<plan::BlockId> ids(blocks_.size());
        for (std::size_t k = 0; k < order.size(); ++k) ids[order[k]] = plan::BlockId(k);
        return ids;
    }
    [[nodiscard]] static bool is_waited_for(const Block& block) {
        return std::ranges::any_of(block.steps, &Step::signals);
    }

    [[nodiscard]] std::optional<Excess> check() const {
        std::size_t nodes = 1 + blocks_.size(), waited = 0;
        for (const Block& block : blocks_) {
            if (block.steps.size() > static_cast<std::size_t>(draft_.limits.steps)) {
                return excess(Excess::Of::Steps, block.steps.size(), draft_.limits.steps);
            }
            nodes += block.steps.size();
            if (is_waited_for(block)) ++waited;
        }
        if (nodes > static_cast<std::size_t>(draft_.limits.nodes)) {
            return excess(Excess::Of::Nodes, nodes, draft_.limits.nodes);
        }
        if (waited > static_cast<std::size_t>(draft_.limits.waited_block) + 1) {
            return excess(Excess::Of::WaitedBlock, waited, draft_.limits.waited_block + 1);
        }
        return std::nullopt;
    }

    const Draft& draft_;
    std::uint32_t rank_;
    std::vector<Block> blocks_;
    std::map<std::uint32_t, std::uint32_t> receiving_, sending_;  ///< block, by lane
};

std::optional<Excess> check_offsets(const Draft& draft) {
    for (std::uint32_t r = 0; r < draft.places.ranks(); ++r) {
        const std::int64_t largest = std::max(
            {draft.places.input_chunks(r), draft.places.output_chunks(r), std::int64_t{draft.scratch[r]}});
        if (largest - 1 > draft.limits.offset)
            return Excess{Excess::Of::Offset, largest, draft.limits.offset + 1, r};
    }
    return std::nullopt;
}

}  // namespace

std::variant<plan::MscclPlan, Excess> form_steps(const Draft& draft) {
    if (const auto excess = check_offsets(draft)) return *excess;
    const std::uint32_t ranks = draft.places.ranks();
    std::vector<std::vector<std::uint32_t>> in(ranks), out(ranks);
    std::vector<std::vector<OwnCopy>> copies(ranks);
    plan::MscclPlan plan;
    for (std::uint32_t i = 0; i < draft.lanes.size(); ++i) {
        in[draft.lanes[i].to].push_back(i);
        out[draft.lanes[i].from].push_back(i);
        plan.channels = std::max(plan.channels, static_cast<std::int32_t>(draft.lanes[i].channel) + 1);
    }
    for (const OwnCopy& copy : draft.copies) copies[copy.rank].push_back(copy);
    for (std::uint32_t r = 0; r < ranks; ++r) {
        RankSteps steps(draft, r);
        if (const auto excess = steps.build(in[r], out[r], copies[r])) return *excess;
        plan.gpus.push_back(steps.gpu());
    }
    return plan;
}

}  // namespace tutti::compile::msccl
