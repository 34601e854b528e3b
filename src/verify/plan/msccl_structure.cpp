// Ids, peers, connections, messages, dependencies. Violations of ids end the work at once, since nothing can
// be named then; all others are collected first, so that one run tells everything.

#include "verify/plan/msccl_structure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace tutti::verify {
namespace {

using plan::PlanPlace;
using plan::Step;
using plan::StepType;
using plan::ThreadBlock;

std::string range_words(const plan::Address& address, std::int32_t count) {
    if (count <= 1) return fmt::format("{}[{}]", letter_of(address.buffer), address.offset);
    return fmt::format("{}[{}..{}]", letter_of(address.buffer), address.offset,
                       std::int64_t{address.offset} + count - 1);
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
        match_messages();
        resolve_dependencies();
        warn_of_nops();
        if (!violations_.empty()) return std::nullopt;
        return std::move(structure_);
    }

  private:
    void order_gpus() {
        structure_.gpus.assign(static_cast<std::size_t>(plan_.ranks), nullptr);
        for (const plan::Gpu& gpu : plan_.gpus) {
            PlanPlace place;
            place.gpu = gpu.id;
            if (gpu.id < 0 || gpu.id >= plan_.ranks) {
                violations_.add("gpu-id", fmt::format("gpu {} is not one of 0..{}", gpu.id, plan_.ranks - 1),
                                place);
            } else if (std::exchange(structure_.gpus[static_cast<std::size_t>(gpu.id)], &gpu) != nullptr) {
                violations_.add("gpu-id", fmt::format("gpu {} is there twice", gpu.id), place);
            }
        }
        for (std::int32_t id = 0; id < plan_.ranks; ++id) {
            if (structure_.gpus[static_cast<std::size_t>(id)] != nullptr) continue;
            PlanPlace place;
            place.gpu = id;
            violations_.add("gpu-id", fmt::format("gpu {} of {} is missing", id, plan_.ranks), place);
        }
    }

    void order_blocks() {
        for (const plan::Gpu* gpu : structure_.gpus) {
            structure_.first_block.push_back(static_cast<std::uint32_t>(structure_.blocks.size()));
            const auto begin = structure_.blocks.size();
            for (const ThreadBlock& block : gpu->blocks) structure_.blocks.push_back({&block, gpu->id, 0});
            const auto own = std::span(structure_.blocks).subspan(begin);
            std::ranges::stable_sort(own, {}, [](const MscclStructure::Block& b) { return b.block->id; });
            for (std::size_t i = 0; i < own.size(); ++i) {
                if (own[i].block->id == static_cast<std::int32_t>(i)) continue;
                const std::int32_t id = own[i].block->id;
                const bool twice = i > 0 && own[i - 1].block->id == id;
                PlanPlace place;
                place.gpu = gpu->id;
                place.block = id;
                violations_.add(
                    "tb-id",
                    twice ? fmt::format("gpu {} has two thread blocks with id {}", gpu->id, id)
                          : fmt::format("gpu {} has no thread block {}, but one with id {}; ids are "
                                        "0, 1, … without gap",
                                        gpu->id, i, id),
                    place);
                break;
            }
        }
        structure_.first_block.push_back(static_cast<std::uint32_t>(structure_.blocks.size()));
    }

    void number_steps() {
        for (std::size_t i = 0; i < structure_.blocks.size(); ++i) {
            MscclStructure::Block& block = structure_.blocks[i];
            block.first = static_cast<plan::OpId>(structure_.steps.size());
            for (const Step& step : block.block->steps) {
                structure_.steps.push_back(&step);
                structure_.block_of.push_back(static_cast<std::uint32_t>(i));
            }
        }
        structure_.message_from.assign(structure_.steps.size(), plan::kNoOp);
        structure_.waits_for.assign(structure_.steps.size(), plan::kNoOp);
    }

    void check_blocks() {
        for (const MscclStructure::Block& block : structure_.blocks) {
            check_peer(block, block.block->send_peer, "send");
            check_peer(block, block.block->recv_peer, "recv");
            check_steps(block);
        }
        check_connections();
    }

    /// "gpu 0, tb 1, step 2 (s i[3] to gpu 1) " and what is to be said of it.
    [[nodiscard]] std::string told(plan::OpId id, std::string_view what) const {
        return fmt::format("{} ({}) {}", text_of(structure_.place(id)), structure_.words(id), what);
    }
    [[nodiscard]] PlanPlace place_of(const MscclStructure::Block& block) const {
        return {block.gpu, block.block->id, -1, -1, std::nullopt, -1};
    }

    void check_peer(const MscclStructure::Block& block, std::int32_t peer, std::string_view attribute) {
        if (peer < plan_.ranks && peer != block.gpu) return;
        violations_.add("peer",
                        peer == block.gpu
                            ? fmt::format("gpu {} tb {}: {}={} is the gpu itself", block.gpu, block.block->id,
                                          attribute, peer)
                            : fmt::format("gpu {} tb {}: {}={} is no gpu; there are {}", block.gpu,
                                          block.block->id, attribute, peer, plan_.ranks),
                        place_of(block));
    }

    void check_steps(const MscclStructure::Block& block) {
        bool communicates = false;
        for (std::size_t i = 0; i < block.block->steps.size(); ++i) {
            const Step& step = block.block->steps[i];
            const plan::OpId id = block.first + static_cast<plan::OpId>(i);
            if (step.number != static_cast<std::int32_t>(i)) {
                violations_.add(
                    "step",
                    fmt::format("gpu {} tb {}: step {} stands at position {}; the runtimes go by position",
                                block.gpu, block.block->id, step.number, i),
                    structure_.place(id));
            }
            if (step.count < 1 && step.type != StepType::Nop) {
                violations_.add(
                    "count", told(id, fmt::format("moves {} chunks; at least one is expected", step.count)),
                    structure_.place(id));
            }
            if (sends(step.type) && block.block->send_peer < 0) {
                violations_.add("connection", told(id, "sends, but its thread block has no send peer"),
                                structure_.place(id));
            }
            if (receives(step.type) && block.block->recv_peer < 0) {
                violations_.add("connection", told(id, "receives, but its thread block has no recv peer"),
                                structure_.place(id));
            }
            communicates = communicates || sends(step.type) || receives(step.type);
        }
        const std::int32_t channel = block.block->channel;
        if (communicates ? channel >= 0 && channel < plan_.channels : channel < plan_.channels) return;
        violations_.add("channel",
                        fmt::format("gpu {} tb {}: channel {} is not one of 0..{} (nchannels)", block.gpu,
                                    block.block->id, channel, plan_.channels - 1),
                        place_of(block));
    }

    /// A thread block at one end of a connection.
    struct End {
        std::int32_t from, to, channel;
        bool receives;
        std::uint32_t block;
        std::size_t messages;

        [[nodiscard]] auto connection() const { return std::tuple(from, to, channel); }
        [[nodiscard]] auto key() const { return std::tuple(from, to, channel, receives); }
    };

    [[nodiscard]] std::vector<End> ends() const {
        std::vector<End> ends;
        for (std::uint32_t i = 0; i < structure_.blocks.size(); ++i) {
            const auto& [block, gpu, first] = structure_.blocks[i];
            std::size_t sent = 0, received = 0;
            for (const Step& step : block->steps) {
                if (sends(step.type)) ++sent;
                if (receives(step.type)) ++received;
            }
            if (block->send_peer >= 0)
                ends.push_back({gpu, block->send_peer, block->channel, false, i, sent});
            if (block->recv_peer >= 0)
                ends.push_back({block->recv_peer, gpu, block->channel, true, i, received});
        }
        std::ranges::stable_sort(ends, {}, &End::key);
        return ends;
    }

    /// As many receives as sends, and one thread block at each end.
    void check_connections() {
        std::vector<End> all = ends();
        for (std::size_t i = 0; i < all.size();) {
            std::size_t sent = 0, received = 0, end = i;
            for (; end < all.size() && all[end].connection() == all[i].connection(); ++end) {
                (all[end].receives ? received : sent) += all[end].messages;
            }
            if (sent != received) report_unmatched(std::span(all).subspan(i, end - i), sent, received);
            i = end;
        }
        for (std::size_t i = 1; i < all.size(); ++i) {
            if (all[i - 1].key() == all[i].key()) report_shared(all[i - 1], all[i]);
        }
        std::erase_if(all, [](const End& end) { return end.messages == 0; });
        for (std::size_t i = 0; i + 1 < all.size(); i += 2) {
            if (!violations_.empty()) return;
            structure_.connections.push_back({all[i].from, all[i].to, all[i].channel, all[i].block,
                                              all[i + 1].block, static_cast<std::uint32_t>(all[i].messages)});
        }
    }

    void report_unmatched(std::span<const End> ends, std::size_t sent, std::size_t received) {
        const bool more_sent = sent > received;
        // The first step that finds no partner, if the connection has one thread block at that end.
        PlanPlace place;
        std::string step;
        for (const End& end : ends) {
            if (end.receives == more_sent || end.messages == 0) continue;
            const auto steps = communicating(end.block, end.receives ? plan::receives : plan::sends);
            const std::size_t partners = std::min(sent, received);
            if (partners >= steps.size()) continue;
            place = structure_.place(steps[partners]);
            step = fmt::format(": {} ({}) {}", text_of(place), structure_.words(steps[partners]),
                               more_sent ? "is never received" : "waits for ever");
            break;
        }
        violations_.add(
            "unmatched",
            fmt::format("gpu {} sends {} messages to gpu {} on channel {}, which receives {}{}",
                        ends.front().from, sent, ends.front().to, ends.front().channel, received, step),
            place);
    }

    void report_shared(const End& one, const End& two) {
        const auto &first = structure_.blocks[one.block], &second = structure_.blocks[two.block];
        const std::string message = fmt::format(
            "thread blocks {} and {} of gpu {} both {} gpu {} on channel {}; a connection has one at each "
            "end",
            first.block->id, second.block->id, first.gpu, two.receives ? "receive from" : "send to",
            two.receives ? two.from : two.to, two.channel);
        if (one.messages > 0 && two.messages > 0) {
            violations_.add("connection", message, place_of(second), {place_of(first)});
        } else {
            warnings_.add("idle-connection", message + " (one of them never does)", place_of(second),
                          {place_of(first)});
        }
    }

    [[nodiscard]] std::vector<plan::OpId> communicating(std::uint32_t block, bool (*does)(StepType)) const {
        const MscclStructure::Block& at = structure_.blocks[block];
        std::vector<plan::OpId> steps;
        for (std::size_t i = 0; i < at.block->steps.size(); ++i) {
            if (does(at.block->steps[i].type)) steps.push_back(at.first + static_cast<plan::OpId>(i));
        }
        return steps;
    }

    void match_messages() {
        for (const MscclStructure::Connection& connection : structure_.connections) {
            const auto sent = communicating(connection.sender, plan::sends);
            const auto received = communicating(connection.receiver, plan::receives);
            for (std::size_t k = 0; k < sent.size(); ++k) pair(sent[k], received[k], k);
        }
    }

    void pair(plan::OpId send, plan::OpId receive, std::size_t k) {
        structure_.message_from[receive] = send;
        const Step &from = *structure_.steps[send], &to = *structure_.steps[receive];
        if (from.count != to.count) {
            violations_.add(
                "count-mismatch",
                fmt::format("message {} of this connection: {} ({}) sends {} chunks, {} ({}) expects {}", k,
                            text_of(structure_.place(send)), structure_.words(send), from.count,
                            text_of(structure_.place(receive)), structure_.words(receive), to.count),
                structure_.place(receive), {structure_.place(send)});
        }
        if (!reading_.strict_descriptors) return;
        const bool source_agrees = !uses_source(from.type) || uses_source(to.type) || from.src == to.src;
        const bool destination_agrees =
            uses_destination(from.type) || !uses_destination(to.type) || from.dst == to.dst;
        if (source_agrees && destination_agrees) return;
        violations_.add("descriptor",
                        fmt::format("{} ({}) and {} ({}) describe their message differently",
                                    text_of(structure_.place(send)), structure_.words(send),
                                    text_of(structure_.place(receive)), structure_.words(receive)),
                        structure_.place(receive), {structure_.place(send)});
    }

    void resolve_dependencies() {
        std::vector<std::vector<std::uint32_t>> signals(structure_.blocks.size());  // made when asked for
        for (plan::OpId id = 0; id < structure_.steps.size(); ++id) {
            const Step& step = *structure_.steps[id];
            if (step.dep_block == -1 && step.dep_step == -1) continue;
            const MscclStructure::Block& own = structure_.blocks[structure_.block_of[id]];
            const auto begin = structure_.first_block[static_cast<std::size_t>(own.gpu)];
            const auto end = structure_.first_block[static_cast<std::size_t>(own.gpu) + 1];
            const bool exists =
                step.dep_block >= 0 && step.dep_step >= 0 &&
                static_cast<std::uint32_t>(step.dep_block) < end - begin &&
                static_cast<std::size_t>(step.dep_step) <
                    structure_.blocks[begin + static_cast<std::uint32_t>(step.dep_block)].block->steps.size();
            if (!exists) {
                violations_.add("dependency",
                                told(id, fmt::format("depends on tb {} step {}, which gpu {} does not have",
                                                     step.dep_block, step.dep_step, own.gpu)),
                                structure_.place(id));
                continue;
            }
            const std::uint32_t on = begin + static_cast<std::uint32_t>(step.dep_block);
            const plan::OpId named = structure_.blocks[on].first + static_cast<plan::OpId>(step.dep_step);
            if (on == structure_.block_of[id] && named < id) continue;  // its own past
            if (on == structure_.block_of[id]) {
                violations_.add("deadlock",
                                told(id, named == id ? "depends on itself"
                                                     : "depends on a later step of its own thread block"),
                                structure_.place(id), {structure_.place(named)});
                continue;
            }
            depend(id, named, on, signals[on]);
        }
    }

    void depend(plan::OpId id, plan::OpId named, std::uint32_t on, std::vector<std::uint32_t>& signals) {
        const MscclStructure::Block& block = structure_.blocks[on];
        if (signals.empty()) {
            // signals[i]: the first step from i on that signals; one past the last if there is none
            const auto& steps = block.block->steps;
            signals.assign(steps.size() + 1, static_cast<std::uint32_t>(steps.size()));
            for (std::size_t i = steps.size(); i-- > 0;) {
                const bool does = steps[i].signals && steps[i].type != StepType::Nop;
                signals[i] = does ? static_cast<std::uint32_t>(i) : signals[i + 1];
            }
        }
        const std::uint32_t serving = signals[named - block.first];
        const PlanPlace place = structure_.place(id), other = structure_.place(named);
        if (serving == block.block->steps.size()) {
            violations_.add("deadlock",
                            told(id, fmt::format("waits for ever for {}: neither it nor a later step of that "
                                                 "thread block signals (hasdep=1)",
                                                 text_of(other))),
                            place, {other});
            return;
        }
        structure_.waits_for[id] = block.first + serving;
        if (structure_.waits_for[id] == named) return;
        const std::string message = fmt::format(
            "depends on {}, which does not signal (hasdep=0); step {} does", text_of(other), serving);
        if (reading_.strict_dependencies) {
            violations_.add("dependency", message, place, {other});
        } else {
            warnings_.add("unsignalled-dependency", message, place, {other});
        }
    }

    void warn_of_nops() {
        for (const MscclStructure::Block& block : structure_.blocks) {
            bool pending = false;  // nops with a dependency wait for a real step to carry it
            const auto& steps = block.block->steps;
            for (std::size_t i = 0; i < steps.size(); ++i) {
                const plan::OpId id = block.first + static_cast<plan::OpId>(i);
                const PlanPlace place = structure_.place(id);
                const bool depends = steps[i].dep_block >= 0;
                if (steps[i].type == StepType::Nop) {
                    if (!depends)
                        warnings_.add("idle-nop",
                                      told(id, "has no dependency: runtimes miscount the steps after it"),
                                      place);
                    pending = pending || depends;
                } else {
                    if (pending && !depends) {
                        warnings_.add("nop-dependency",
                                      told(id,
                                           "follows dependency nops but has no dependency of its own: "
                                           "runtimes refuse the file"),
                                      place);
                    }
                    pending = false;
                }
            }
            if (pending) {
                warnings_.add(
                    "trailing-nop",
                    fmt::format("gpu {} tb {} ends with a dependency nop: runtimes lose that dependency",
                                block.gpu, block.block->id),
                    place_of(block));
            }
        }
    }

    const plan::MscclPlan& plan_;
    const PlanReading& reading_;
    Findings& violations_;
    Findings& warnings_;
    MscclStructure structure_;
};

}  // namespace

plan::PlanPlace MscclStructure::place(plan::OpId step) const {
    const Block& block = blocks[block_of[step]];
    return {block.gpu, block.block->id, static_cast<std::int32_t>(step - block.first), -1, std::nullopt, -1};
}

std::string MscclStructure::words(plan::OpId id) const {
    const plan::Step& step = *steps[id];
    const plan::ThreadBlock& block = *blocks[block_of[id]].block;
    std::string text(name_of(step.type));
    if (receives(step.type)) text += fmt::format(" from gpu {}", block.recv_peer);
    if (uses_source(step.type)) {
        text +=
            fmt::format("{} {}", reduces_received(step.type) ? " +" : "", range_words(step.src, step.count));
    }
    if (uses_destination(step.type)) text += fmt::format(" -> {}", range_words(step.dst, step.count));
    if (sends(step.type)) text += fmt::format(" to gpu {}", block.send_peer);
    return text;
}

std::optional<MscclStructure> resolve(const plan::MscclPlan& plan, const PlanReading& reading,
                                      Findings& violations, Findings& warnings) {
    return Resolver(plan, reading, violations, warnings).run();
}

}  // namespace tutti::verify
