// All ways to have one thing less are tried, the first that still fails is kept, until none does.

#include "tests/support/random_plans.hpp"

#include "tests/oracle/plan_machine.hpp"

#include <algorithm>

namespace tutti::test {
namespace {

using plan::StepType;

/// Takes a step out; waits for later steps of its block move along, waits for itself go.
void erase_step(plan::Gpu& gpu, plan::ThreadBlock& block, std::size_t gone) {
    block.steps.erase(block.steps.begin() + static_cast<std::ptrdiff_t>(gone));
    for (std::size_t s = 0; s < block.steps.size(); ++s) block.steps[s].number = plan::StepId(s);
    for (plan::ThreadBlock& other : gpu.blocks) {
        for (plan::Step& step : other.steps) {
            if (step.dep_block != block.id) continue;
            if (step.dep_step == plan::StepId(gone))
                step.dep_block.reset(), step.dep_step.reset();
            else if (step.dep_step > plan::StepId(gone))
                step.dep_step = plan::StepId((*step.dep_step).index() - 1);
        }
    }
}

/// The k-th step that puts into (or takes from) a connection loses that half; a step that has no other goes.
void erase_end(plan::MscclPlan& plan, Rank g, Rank peer, OptionalId<plan::ChannelId> channel, bool is_sender,
               int k) {
    plan::Gpu& gpu = plan.gpus[g.index()];
    for (plan::ThreadBlock& block : gpu.blocks) {
        if (block.channel != channel || (is_sender ? block.send_peer : block.recv_peer) != peer) continue;
        for (std::size_t s = 0; s < block.steps.size(); ++s) {
            StepType& type = block.steps[s].type;
            if (!(is_sender ? oracle::puts(type) : oracle::takes(type)) || k-- > 0) continue;
            if (!oracle::puts(type) || !oracle::takes(type)) {
                erase_step(gpu, block, s);
            } else if (is_sender) {
                type = type == StepType::ReceiveCopySend ? StepType::Receive : StepType::ReceiveReduceCopy;
            } else {
                type = StepType::Send;
            }
            return;
        }
    }
}

class Smaller {
  public:
    explicit Smaller(const plan::MscclPlan& plan) : plan_(plan) {
        for (std::size_t g = 0; g < plan.gpus.size(); ++g) {
            for (std::size_t b = 0; b < plan.gpus[g].blocks.size(); ++b) try_block(g, b);
        }
        change([](plan::MscclPlan& p) {
            for (plan::Gpu& gpu : p.gpus) gpu.scratch_chunks = std::max(0, gpu.scratch_chunks - 1);
        });
        if (plan.chunks_per_loop > 1) {
            change([](plan::MscclPlan& p) {
                --p.chunks_per_loop;
                for (plan::Gpu& gpu : p.gpus) {
                    gpu.input_chunks = std::min(gpu.input_chunks, p.chunks_per_loop);
                    gpu.output_chunks = std::min(gpu.output_chunks, p.chunks_per_loop);
                }
            });
        }
    }
    [[nodiscard]] std::vector<plan::MscclPlan> all() && { return std::move(all_); }

  private:
    template <class Edit>
    void change(Edit edit) {
        plan::MscclPlan candidate = plan_;
        edit(candidate);
        if (candidate != plan_) all_.push_back(std::move(candidate));
    }

    void try_block(std::size_t g, std::size_t b) {
        const plan::ThreadBlock& block = plan_.gpus[g].blocks[b];
        const bool is_last = b + 1 == plan_.gpus[g].blocks.size();
        if (block.steps.empty() && is_last) {
            change([&](plan::MscclPlan& p) { p.gpus[g].blocks.pop_back(); });
        }
        int sent = 0;
        for (std::size_t s = 0; s < block.steps.size(); ++s) {
            const plan::Step& step = block.steps[s];
            change([&](plan::MscclPlan& p) { erase_step(p.gpus[g], p.gpus[g].blocks[b], s); });
            const Rank rank(g);
            if (oracle::puts(step.type) && is_rank(block.send_peer)) {
                change([&](plan::MscclPlan& p) {
                    erase_end(p, rank, *block.send_peer, block.channel, true, sent);
                    erase_end(p, *block.send_peer, rank, block.channel, false, sent);
                });
                ++sent;
            }
            const auto at = [&](plan::MscclPlan& p) -> plan::Step& { return p.gpus[g].blocks[b].steps[s]; };
            change([&](plan::MscclPlan& p) { at(p).dep_block.reset(), at(p).dep_step.reset(); });
            change([&](plan::MscclPlan& p) { at(p).signals = false; });
            if (step.count > 1) {
                change([&](plan::MscclPlan& p) {
                    for (plan::Gpu& gpu : p.gpus) {
                        for (plan::ThreadBlock& other : gpu.blocks) {
                            for (plan::Step& each : other.steps)
                                each.count = std::min(each.count, step.count - 1);
                        }
                    }
                });
            }
        }
    }

    [[nodiscard]] bool is_rank(OptionalId<Rank> rank) const {
        return rank && (*rank).index() < plan_.gpus.size();
    }

    const plan::MscclPlan& plan_;
    std::vector<plan::MscclPlan> all_{};
};

}  // namespace

plan::MscclPlan shrunk(plan::MscclPlan plan, const std::function<bool(const plan::MscclPlan&)>& fails) {
    for (bool smaller = true; smaller;) {
        smaller = false;
        for (plan::MscclPlan& candidate : Smaller(plan).all()) {
            if (!fails(candidate)) continue;
            plan = std::move(candidate);
            smaller = true;
            break;
        }
    }
    return plan;
}

}  // namespace tutti::test
