// What people and tools get wrong in plans, one thing at a time.

#include "tests/support/plan_ids.hpp"
#include "tests/support/random_plans.hpp"

#include <algorithm>
#include <iterator>

namespace tutti::test {
namespace {

using plan::StepType;

std::int32_t any(Rng& rng, std::int64_t limit) {
    return static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(limit)));
}

/// A step by where it stands.
struct Spotted {
    plan::Gpu* gpu = nullptr;
    plan::ThreadBlock* block = nullptr;
    std::size_t step = 0;
    [[nodiscard]] plan::Step& get() const { return block->steps[step]; }
};

std::vector<Spotted> all_steps(plan::MscclPlan& plan, const std::function<bool(const plan::Step&)>& wanted) {
    std::vector<Spotted> found;
    for (plan::Gpu& gpu : plan.gpus) {
        for (plan::ThreadBlock& block : gpu.blocks) {
            for (std::size_t s = 0; s < block.steps.size(); ++s) {
                if (wanted(block.steps[s])) found.push_back({&gpu, &block, s});
            }
        }
    }
    return found;
}

bool waits(const plan::Step& step) { return step.dep_block.has_value(); }
bool anything(const plan::Step&) { return true; }

void renumber(plan::ThreadBlock& block) {
    for (std::size_t s = 0; s < block.steps.size(); ++s) block.steps[s].number = plan::StepId(s);
}

void drop_dependency(const Spotted& spotted, Rng&) {
    spotted.get().dep_block.reset();
    spotted.get().dep_step.reset();
}

void redirect_dependency(const Spotted& spotted, Rng& rng) {
    const plan::ThreadBlock& to = spotted.gpu->blocks[rng.below(spotted.gpu->blocks.size())];
    if (to.steps.empty()) return;
    spotted.get().dep_block = to.id;
    spotted.get().dep_step = id<plan::StepId>(any(rng, std::ssize(to.steps)));
}

void swap_steps(const Spotted& spotted, Rng& rng) {
    auto& steps = spotted.block->steps;
    std::swap(spotted.get(), steps[rng.below(steps.size())]);
    renumber(*spotted.block);
}

void change_offset(const Spotted& spotted, Rng& rng) {
    plan::Address& address = rng.below(2) == 0 ? spotted.get().src : spotted.get().dst;
    if (rng.below(3) == 0)
        address.buffer = static_cast<plan::Buffer>(rng.below(3));
    else
        address.offset =
            id<plan::ChunkOffset>(std::max(0, number(address.offset) + (rng.below(2) == 0 ? 1 : -1)));
}

void change_count(const Spotted& spotted, Rng& rng) {
    if (spotted.get().type == StepType::Nop) return;
    spotted.get().count = std::max(1, spotted.get().count + (rng.below(2) == 0 ? 1 : -1));
}

void change_type(const Spotted& spotted, Rng& rng) {
    constexpr std::pair<StepType, StepType> kLikely[]{
        {StepType::Receive, StepType::ReceiveReduceCopy},
        {StepType::ReceiveCopySend, StepType::ReceiveReduceCopySend},
        {StepType::ReceiveReduceCopySend, StepType::ReceiveReduceSend},
        {StepType::Copy, StepType::Reduce},
    };
    StepType& type = spotted.get().type;
    if (rng.below(6) == 0) {
        type = static_cast<StepType>(rng.below(plan::kStepTypes));
        if (type != StepType::Nop && spotted.get().count < 1) spotted.get().count = 1;
        return;
    }
    for (const auto& [one, other] : kLikely) {
        if (type == one || type == other) {
            type = type == one ? other : one;
            return;
        }
    }
}

void change_peer(const Spotted& spotted, Rng& rng) {
    OptionalId<Rank>& peer = rng.below(2) == 0 ? spotted.block->send_peer : spotted.block->recv_peer;
    peer = maybe<Rank>(any(rng, 4) - 1);
}

void change_channel(const Spotted& spotted, Rng& rng) {
    spotted.block->channel = id<plan::ChannelId>(any(rng, 3));
}

void clear_signal(const Spotted& spotted, Rng&) { spotted.get().signals = !spotted.get().signals; }

void duplicate(const Spotted& spotted, Rng&) {
    auto& steps = spotted.block->steps;
    const plan::Step copy = spotted.get();
    steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(spotted.step), copy);
    renumber(*spotted.block);
}

void drop(const Spotted& spotted, Rng&) {
    auto& steps = spotted.block->steps;
    steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(spotted.step));
    renumber(*spotted.block);
}

void move_elsewhere(const Spotted& spotted, Rng& rng) {
    plan::ThreadBlock& to = spotted.gpu->blocks[rng.below(spotted.gpu->blocks.size())];
    if (&to == spotted.block) return;
    const plan::Step moved = spotted.get();
    drop(spotted, rng);
    to.steps.insert(to.steps.begin() + any(rng, std::ssize(to.steps) + 1), moved);
    renumber(to);
}

}  // namespace

void mutate(plan::MscclPlan& plan, Rng& rng) {
    struct Way {
        void (*change)(const Spotted&, Rng&);
        bool (*wanted)(const plan::Step&);
        std::uint64_t weight;
    };
    constexpr Way kWays[]{
        {drop_dependency, waits, 6},  {redirect_dependency, waits, 4}, {redirect_dependency, anything, 2},
        {swap_steps, anything, 4},    {change_offset, anything, 4},    {change_count, anything, 2},
        {change_type, anything, 3},   {change_peer, anything, 1},      {change_channel, anything, 1},
        {clear_signal, anything, 3},  {duplicate, anything, 2},        {drop, anything, 1},
        {move_elsewhere, anything, 3}};
    if (rng.below(24) == 0) {
        plan.in_place = !plan.in_place.value_or(false);
        plan.out_of_place = !*plan.in_place;
        return;
    }
    std::uint64_t total = 0;
    for (const Way& way : kWays) total += way.weight;
    std::uint64_t lot = rng.below(total);
    for (const Way& way : kWays) {
        if (lot >= way.weight) {
            lot -= way.weight;
            continue;
        }
        const std::vector<Spotted> steps = all_steps(plan, way.wanted);
        if (!steps.empty()) way.change(steps[rng.below(steps.size())], rng);
        return;
    }
}

}  // namespace tutti::test
