#include "tests/support/sample_plans.hpp"
#include "tests/support/plan_ids.hpp"

#include <deque>
#include <map>
#include <stdexcept>
#include <tuple>

namespace tutti::test {

using plan::Buffer;
using plan::MscclPlan;
using plan::Step;
using plan::StepType;
using plan::ThreadBlock;

ThreadBlock block(std::int32_t id, std::int32_t send, std::int32_t recv, std::int32_t channel,
                  std::vector<Step> steps) {
    for (std::size_t s = 0; s < steps.size(); ++s) steps[s].number = plan::StepId(s);
    return {test::id<plan::BlockId>(id), maybe<Rank>(send), maybe<Rank>(recv),
            maybe<plan::ChannelId>(channel), std::move(steps)};
}

Step step(StepType type, Buffer buffer, std::int32_t offset, std::int32_t count) {
    Step made;
    made.type = type;
    made.src = made.dst = {buffer, maybe<plan::ChunkOffset>(offset)};
    made.count = count;
    return made;
}

MscclPlan empty_plan(CollectiveKind goal, std::int32_t ranks, std::int32_t chunks) {
    MscclPlan plan;
    plan.name = "sample";
    plan.collective = std::string(plan_name_of(goal));
    plan.in_place = true;
    plan.ranks = ranks;
    plan.chunks_per_loop = chunks;
    for (const Rank rank : plan::ranks_below(ranks)) plan.gpus.push_back({rank, chunks, chunks, 0, {}, {}});
    return plan;
}

MscclPlan ring_all_gather(std::int32_t ranks, std::int32_t share) {
    MscclPlan plan = empty_plan(CollectiveKind::AllGather, ranks, ranks * share);
    for (std::int32_t r = 0; r < ranks && ranks > 1; ++r) {
        const auto at = [&](std::int32_t back) { return (r - back + ranks) % ranks * share; };
        std::vector<Step> steps{step(StepType::Send, Buffer::Output, at(0), share)};
        for (std::int32_t k = 1; k + 1 < ranks; ++k)
            steps.push_back(step(StepType::ReceiveCopySend, Buffer::Output, at(k), share));
        steps.push_back(step(StepType::Receive, Buffer::Output, at(ranks - 1), share));
        plan.gpus[static_cast<std::size_t>(r)].blocks = {
            block(0, (r + 1) % ranks, (r + ranks - 1) % ranks, 0, steps)};
    }
    return plan;
}

MscclPlan pairs_all_gather(std::int32_t ranks, std::int32_t share) {
    MscclPlan plan = empty_plan(CollectiveKind::AllGather, ranks, ranks * share);
    for (std::int32_t r = 0; r < ranks; ++r) {
        auto& blocks = plan.gpus[static_cast<std::size_t>(r)].blocks;
        for (std::int32_t k = 1; k < ranks; ++k) {
            const std::int32_t peer = (r + k) % ranks;
            blocks.push_back(block(k - 1, peer, peer, 0,
                                   {step(StepType::Send, Buffer::Output, r * share, share),
                                    step(StepType::Receive, Buffer::Output, peer * share, share)}));
        }
    }
    return plan;
}

MscclPlan ring_all_reduce(std::int32_t ranks, std::int32_t share) {
    MscclPlan plan = empty_plan(CollectiveKind::AllReduce, ranks, ranks * share);
    for (std::int32_t r = 0; r < ranks && ranks > 1; ++r) {
        const auto at = [&](std::int32_t back) { return (r - back + ranks) % ranks * share; };
        const auto add = [&](std::vector<Step>& steps, StepType type, std::int32_t back) {
            steps.push_back(step(type, Buffer::Input, at(back), share));
        };
        std::vector<Step> steps;
        add(steps, StepType::Send, 0);
        for (std::int32_t k = 1; k + 1 < ranks; ++k) add(steps, StepType::ReceiveReduceSend, k);
        add(steps, StepType::ReceiveReduceCopySend, ranks - 1);
        for (std::int32_t k = 0; k + 2 < ranks; ++k) add(steps, StepType::ReceiveCopySend, k);
        add(steps, StepType::Receive, ranks - 2);
        plan.gpus[static_cast<std::size_t>(r)].blocks = {
            block(0, (r + 1) % ranks, (r + ranks - 1) % ranks, 0, steps)};
    }
    return plan;
}

MscclPlan pairs_all_to_all(std::int32_t ranks, std::int32_t share) {
    MscclPlan plan = empty_plan(CollectiveKind::AllToAll, ranks, ranks * share);
    plan.in_place = false;
    for (std::int32_t r = 0; r < ranks; ++r) {
        auto& blocks = plan.gpus[static_cast<std::size_t>(r)].blocks;
        for (std::int32_t k = 1; k < ranks; ++k) {
            const std::int32_t peer = (r + k) % ranks;
            blocks.push_back(block(k - 1, peer, peer, 0,
                                   {step(StepType::Send, Buffer::Input, peer * share, share),
                                    step(StepType::Receive, Buffer::Output, peer * share, share)}));
        }
        Step own = step(StepType::Copy, Buffer::Input, r * share, share);
        own.dst.buffer = Buffer::Output;
        blocks.push_back(block(ranks - 1, -1, -1, 0, {own}));
    }
    return plan;
}

MscclPlan tree_broadcast(const std::vector<std::int32_t>& parent, std::int32_t chunks) {
    const auto ranks = static_cast<std::int32_t>(parent.size());
    MscclPlan plan = empty_plan(CollectiveKind::Broadcast, ranks, chunks);
    for (std::int32_t r = 0; r < ranks; ++r) {
        std::vector<std::int32_t> children;
        for (std::int32_t c = r + 1; c < ranks; ++c) {
            if (parent[static_cast<std::size_t>(c)] == r) children.push_back(c);
        }
        auto& blocks = plan.gpus[static_cast<std::size_t>(r)].blocks;
        // The first child gets each chunk as it comes in; the others when all are there.
        if (r > 0) {
            const auto type = children.empty() ? StepType::Receive : StepType::ReceiveCopySend;
            Step receive = step(type, Buffer::Input, 0, chunks);
            receive.signals = true;
            const std::int32_t first = children.empty() ? -1 : children.front();
            blocks.push_back(block(0, first, parent[static_cast<std::size_t>(r)], 0, {receive}));
        }
        for (std::size_t i = r > 0 ? 1 : 0; i < children.size(); ++i) {
            Step send = step(StepType::Send, Buffer::Input, 0, chunks);
            if (r > 0) send.dep_block = plan::BlockId(0), send.dep_step = plan::StepId(0);
            blocks.push_back(block(static_cast<std::int32_t>(blocks.size()), children[i], -1, 0, {send}));
        }
    }
    return plan;
}

MscclPlan tree_reduce(const std::vector<std::int32_t>& parent, std::int32_t chunks) {
    const auto ranks = static_cast<std::int32_t>(parent.size());
    MscclPlan plan = empty_plan(CollectiveKind::Reduce, ranks, chunks);
    for (std::int32_t r = 0; r < ranks; ++r) {
        auto& blocks = plan.gpus[static_cast<std::size_t>(r)].blocks;
        for (std::int32_t c = r + 1; c < ranks; ++c) {
            if (parent[static_cast<std::size_t>(c)] != r) continue;
            const auto id = static_cast<std::int32_t>(blocks.size());
            Step add = step(StepType::ReceiveReduceCopy, Buffer::Input, 0, chunks);
            add.signals = true;
            if (id > 0)
                add.dep_block = test::id<plan::BlockId>(id - 1),
                add.dep_step = plan::StepId(0);  // one sum after the other
            blocks.push_back(block(id, -1, c, 0, {add}));
        }
        if (r == 0) continue;
        const auto id = static_cast<std::int32_t>(blocks.size());
        Step send = step(StepType::Send, Buffer::Input, 0, chunks);
        if (id > 0) send.dep_block = test::id<plan::BlockId>(id - 1), send.dep_step = plan::StepId(0);
        blocks.push_back(block(id, parent[static_cast<std::size_t>(r)], -1, 0, {send}));
    }
    return plan;
}

MscclPlan random_sample(Rng& rng, std::int32_t ranks) {
    const auto share = static_cast<std::int32_t>(1 + rng.below(3));
    std::vector<std::int32_t> parent{-1};
    for (std::int32_t r = 1; r < ranks; ++r)
        parent.push_back(static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(r))));
    switch (rng.below(6)) {
        case 0:
            return ring_all_gather(ranks, share);
        case 1:
            return pairs_all_gather(ranks, share);
        case 2:
            return ring_all_reduce(ranks, share);
        case 3:
            return pairs_all_to_all(ranks, share);
        case 4:
            return tree_broadcast(parent, share);
        default:
            return tree_reduce(parent, share);
    }
}

plan::PlanVerdict believed_valid(CollectiveKind goal, std::optional<std::int32_t> root) {
    plan::PlanVerdict verdict;
    verdict.name = "sample";
    verdict.collective = std::string(plan_name_of(goal));
    if (root) verdict.root = id<Rank>(*root);
    return verdict;
}

bool ends_with(const MscclPlan& plan, const Topology& topology, std::int64_t capacity) {
    if (capacity < 1) return false;
    timing::TimingOptions options;
    options.fifo_capacity = capacity;
    try {
        (void)timing::time_plan(plan, topology, options);
        return true;
    } catch (const InputError& error) {
        if (!std::string_view(error.what()).starts_with("the plan does not end")) throw;
        return false;
    }
}

namespace {

/// Runs a plan whose every location holds (part of) one chunk of the instance.
class ChunkRun {
  public:
    explicit ChunkRun(const MscclPlan& plan) : plan_(plan), goal_(*kind_in_plan(*plan.collective)) {
        const std::int32_t ranks = plan.ranks, all = plan.chunks_per_loop, share = all / ranks;
        for (std::int32_t r = 0; r < ranks; ++r) {
            for (std::int32_t c = 0; c < all; ++c) {
                if (goal_ == CollectiveKind::AllGather && c / share == r) held_[{r, Buffer::Output, c}] = c;
                if (goal_ == CollectiveKind::AllReduce || goal_ == CollectiveKind::Reduce)
                    held_[{r, Buffer::Input, c}] = c;
                if (goal_ == CollectiveKind::Broadcast && r == 0) held_[{r, Buffer::Input, c}] = c;
                if (goal_ != CollectiveKind::AllToAll || c / share == r) continue;
                const std::int32_t to = c / share, pair = r * (ranks - 1) + (to < r ? to : to - 1);
                held_[{r, Buffer::Input, c}] = pair * share + c % share;
            }
        }
    }

    struct Carried {
        std::int32_t chunk = -1;
        Op op = Op::Copy;
    };
    /// What each task carries, by number: gpu by gpu, block by block, step by step, chunk by chunk.
    std::vector<Carried> run() {
        std::vector<Carried> carried;
        struct Cursor {
            std::int32_t gpu;
            const ThreadBlock* block;
            std::size_t step, first;
        };
        std::vector<Cursor> cursors;
        for (const auto& gpu : plan_.gpus) {
            for (const auto& block : gpu.blocks) {
                cursors.push_back({number(gpu.id), &block, 0, carried.size()});
                for (const Step& step : block.steps) carried.resize(carried.size() + tasks(step));
            }
        }
        for (bool moved = true; moved;) {
            moved = false;
            for (Cursor& at : cursors) {
                if (at.step == at.block->steps.size()) continue;
                const Step& step = at.block->steps[at.step];
                const auto waits_for = [&](const Cursor& c) {
                    return c.gpu == at.gpu && c.block->id == step.dep_block &&
                           c.step <= (*step.dep_step).index();
                };
                if (step.dep_block && std::ranges::any_of(cursors, waits_for)) continue;
                if (!act(at.gpu, *at.block, step, at.first, carried)) continue;
                at.first += tasks(step);
                ++at.step;
                moved = true;
            }
        }
        return carried;
    }

  private:
    static std::size_t tasks(const Step& step) {
        const bool talks = sends(step.type) || receives(step.type);
        return talks ? static_cast<std::size_t>(step.count) : 1;
    }

    bool act(std::int32_t gpu, const ThreadBlock& block, const Step& step, std::size_t first,
             std::vector<Carried>& carried) {
        const auto count = static_cast<std::size_t>(step.count);
        auto* in =
            receives(step.type) ? &fifo_[{number(block.recv_peer), gpu, number(block.channel)}] : nullptr;
        if (in != nullptr && in->size() < count) return false;
        for (std::size_t i = 0; i < count && step.type != StepType::Nop; ++i) {
            const auto offset = static_cast<std::int32_t>(i);
            std::int32_t chunk = -1;
            if (in != nullptr) {
                const std::size_t task = in->front();
                in->pop_front();
                chunk = carried[task].chunk;
                carried[task].op = reduces_received(step.type) ? Op::Reduce : Op::Copy;
            } else {
                const auto found = held_.find({gpu, step.src.buffer, number(step.src.offset) + offset});
                chunk = found == held_.end() ? -1 : found->second;
            }
            if (stores(step.type)) held_[{gpu, step.dst.buffer, number(step.dst.offset) + offset}] = chunk;
            if (!sends(step.type)) continue;
            if (chunk < 0) throw std::logic_error("the plan sends what it does not have");
            carried[first + i].chunk = chunk;
            fifo_[{gpu, number(block.send_peer), number(block.channel)}].push_back(first + i);
        }
        return true;
    }

    const MscclPlan& plan_;
    CollectiveKind goal_;
    std::map<std::tuple<std::int32_t, Buffer, std::int32_t>, std::int32_t> held_;
    std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, std::deque<std::size_t>> fifo_;
};

}  // namespace

Schedule schedule_of(const MscclPlan& plan, const timing::PlanTiming& timing, const Instance& instance) {
    const auto carried = ChunkRun(plan).run();
    Schedule made{instance.name(), timing.makespan, {}};
    for (const timing::LinkUse& use : timing.uses) {
        const auto& what = carried[use.task];
        const bool ends_here = instance.topology().is_npu(instance.topology().link(use.link).dst);
        made.sends.push_back({ChunkId(static_cast<std::size_t>(what.chunk)), use.link, use.start,
                              ends_here ? what.op : Op::Copy});
    }
    return made;
}

}  // namespace tutti::test
