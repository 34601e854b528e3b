// Ids and peers; msccl_messages and msccl_dependencies do the rest. Wrong ids end the check at once, because
// nothing can be looked up then; all other violations are collected, so that one run reports them all.

#include "verify/plan/msccl_structure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tutti::verify {
namespace {

using plan::Place;
using plan::Step;
using plan::StepType;
using plan::ThreadBlock;

std::string range_words(const plan::Address& address, std::int32_t count) {
    const std::int64_t first = plan::file_number(address.offset);
    if (count <= 1) return fmt::format("{}[{}]", letter_of(address.buffer), first);
    return fmt::format("{}[{}..{}]", letter_of(address.buffer), first, first + count - 1);
}

class Resolver {
  public:
    Resolver(const plan::MscclPlan& plan, const PlanReading& reading, Findings& violations,
             Findings& warnings)
        : plan_(plan), reading_(reading), violations_(violations), warnings_(warnings) {}

    std::optional<MscclStructure> run() {
        order_gpus();
        if (violations_.empty()) order_blocks();
        if (!violations_.empty()) return std::nullopt;
        number_steps();
        check_blocks();
        if (!violations_.empty()) return std::nullopt;
        match_messages(reading_, structure_, violations_, warnings_);
        resolve_dependencies(reading_, structure_, violations_, warnings_);
        if (!violations_.empty()) return std::nullopt;
        return std::move(structure_);
    }

  private:
    void order_gpus() {
        structure_.gpus.assign(static_cast<std::size_t>(plan_.ranks), nullptr);
        for (const plan::Gpu& gpu : plan_.gpus) {
            const Place place{.gpu = gpu.id};
            if (gpu.id.index() >= ranks()) {
                violations_.add("gpu-id", fmt::format("gpu {} is not one of 0..{}", gpu.id, plan_.ranks - 1),
                                place);
            } else if (std::exchange(structure_.gpus[gpu.id.index()], &gpu) != nullptr) {
                violations_.add("gpu-id", fmt::format("gpu {} is there twice", gpu.id), place);
            }
        }
        for (const Rank id : plan::ranks_below(plan_.ranks)) {
            if (structure_.gpus[id.index()] != nullptr) continue;
            violations_.add("gpu-id", fmt::format("gpu {} of {} is missing", id, plan_.ranks), {.gpu = id});
        }
    }

    void order_blocks() {
        std::size_t blocks = 0;
        for (const plan::Gpu* gpu : structure_.gpus) blocks += gpu->blocks.size();
        structure_.blocks.reserve(blocks);
        for (const plan::Gpu* gpu : structure_.gpus) {
            structure_.first_block.push_back(static_cast<std::uint32_t>(structure_.blocks.size()));
            const auto begin = structure_.blocks.size();
            for (const ThreadBlock& block : gpu->blocks) structure_.blocks.push_back({&block, gpu->id, 0});
            const auto own = std::span(structure_.blocks).subspan(begin);
            std::ranges::stable_sort(own, {}, [](const MscclStructure::Block& b) { return b.block->id; });
            for (std::size_t i = 0; i < own.size(); ++i) {
                const plan::BlockId id = own[i].block->id;
                if (id.index() == i) continue;
                const bool twice = i > 0 && own[i - 1].block->id == id;
                violations_.add(
                    "tb-id",
                    twice ? fmt::format("gpu {} has two thread blocks with id {}", gpu->id, id)
                          : fmt::format("gpu {} has no thread block {}, but one with id {}; ids are "
                                        "0, 1, … without gap",
                                        gpu->id, i, id),
                    {.gpu = gpu->id, .block = id});
                break;
            }
        }
        structure_.first_block.push_back(static_cast<std::uint32_t>(structure_.blocks.size()));
    }

    void number_steps() {
        plan::OpId steps = 0;
        for (MscclStructure::Block& block : structure_.blocks) {
            block.first = steps;
            steps += static_cast<plan::OpId>(block.block->steps.size());
        }
    }

    void check_blocks() {
        for (const MscclStructure::Block& block : structure_.blocks) {
            check_peer(block, block.block->send_peer, "send");
            check_peer(block, block.block->recv_peer, "recv");
            check_steps(block);
        }
        find_connections(reading_, structure_, violations_, warnings_);
    }

    /// "gpu 0, tb 1, step 2 (s i[3] to gpu 1) " followed by `what`.
    [[nodiscard]] std::string step_message(plan::OpId id, std::string_view what) const {
        return fmt::format("{} {}", structure_.named(id), what);
    }
    [[nodiscard]] std::size_t ranks() const { return static_cast<std::size_t>(plan_.ranks); }

    void check_peer(const MscclStructure::Block& block, OptionalId<Rank> named, std::string_view attribute) {
        if (!named) return;
        const Rank peer = *named;
        if (peer.index() < ranks() && peer != block.gpu) return;
        violations_.add("peer",
                        peer == block.gpu
                            ? fmt::format("gpu {} tb {}: {}={} is the gpu itself", block.gpu, block.block->id,
                                          attribute, peer)
                            : fmt::format("gpu {} tb {}: {}={} is no gpu; there are {}", block.gpu,
                                          block.block->id, attribute, peer, plan_.ranks),
                        structure_.place(block));
    }

    void check_steps(const MscclStructure::Block& block) {
        bool communicates = false;
        for (std::size_t i = 0; i < block.block->steps.size(); ++i) {
            const Step& step = block.block->steps[i];
            const plan::OpId id = block.first + static_cast<plan::OpId>(i);
            if (step.number.index() != i) {
                violations_.add(
                    "step",
                    fmt::format("gpu {} tb {}: step {} stands at position {}; the runtimes go by position",
                                block.gpu, block.block->id, step.number, i),
                    structure_.place(id));
            }
            if (step.count < 1 && step.type != StepType::Nop) {
                violations_.add(
                    "count",
                    step_message(id, fmt::format("moves {} chunks; at least one is expected", step.count)),
                    structure_.place(id));
            }
            if (sends(step.type) && !block.block->send_peer) {
                violations_.add("connection",
                                step_message(id, "sends, but its thread block has no send peer"),
                                structure_.place(id));
            }
            if (receives(step.type) && !block.block->recv_peer) {
                violations_.add("connection",
                                step_message(id, "receives, but its thread block has no recv peer"),
                                structure_.place(id));
            }
            communicates = communicates || sends(step.type) || receives(step.type);
        }
        const auto channel = block.block->channel;
        const bool fits = channel && std::int64_t{(*channel).value()} < plan_.channels;
        if (fits || (!channel && !communicates)) return;
        violations_.add("channel",
                        fmt::format("gpu {} tb {}: channel {} is not one of 0..{} (nchannels)", block.gpu,
                                    block.block->id, plan::file_number(channel), plan_.channels - 1),
                        structure_.place(block));
    }

    const plan::MscclPlan& plan_;
    const PlanReading& reading_;
    Findings& violations_;
    Findings& warnings_;
    MscclStructure structure_;
};

}  // namespace

std::uint32_t MscclStructure::block_of(plan::OpId step) const {
    // Of blocks that begin with the same step all but the last one are empty.
    const auto after = std::ranges::upper_bound(blocks, step, {}, &Block::first);
    return static_cast<std::uint32_t>(after - blocks.begin() - 1);
}

plan::OpId MscclStructure::waits_for(const Block& block, const plan::Step& step) const {
    if (!step.dep_block || !step.dep_step) return plan::kNoOp;
    const Block& on = blocks[first_block[block.gpu.index()] + (*step.dep_block).index()];
    if (&on == &block) return plan::kNoOp;
    const std::uint32_t named = (*step.dep_step).value();
    return gives_signal(on.block->steps[named]) ? on.first + named : served_by.at(on.first + named);
}

plan::Place MscclStructure::place(plan::OpId step) const {
    const Block& block = blocks[block_of(step)];
    return {.gpu = block.gpu, .block = block.block->id, .step = plan::StepId(step - block.first)};
}

std::string MscclStructure::named(plan::OpId step) const {
    return fmt::format("{} ({})", text_of(place(step)), words(step));
}

std::string MscclStructure::words(plan::OpId id) const {
    const plan::Step& step = this->step(id);
    const plan::ThreadBlock& block = *blocks[block_of(id)].block;
    std::string text(name_of(step.type));
    if (receives(step.type)) text += fmt::format(" from gpu {}", plan::file_number(block.recv_peer));
    if (uses_source(step.type)) {
        text +=
            fmt::format("{} {}", reduces_received(step.type) ? " +" : "", range_words(step.src, step.count));
    }
    if (uses_destination(step.type)) text += fmt::format(" -> {}", range_words(step.dst, step.count));
    if (sends(step.type)) text += fmt::format(" to gpu {}", plan::file_number(block.send_peer));
    return text;
}

std::optional<MscclStructure> resolve(const plan::MscclPlan& plan, const PlanReading& reading,
                                      Findings& violations, Findings& warnings) {
    return Resolver(plan, reading, violations, warnings).run();
}

}  // namespace tutti::verify
