#include "run/message_call.hpp"

#include "core/error.hpp"
#include "run/kernels.hpp"
#include "run/meeting.hpp"
#include "run/step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

namespace tutti::run {

MessageCall::MessageCall(MessageTransport& transport, const MessagePlan& plan, const Layout& layout,
                         ElementType type, Operator op, std::size_t piece_bytes,
                         std::span<std::byte* const> memories, std::function<void()> check)
    : transport_(&transport), plan_(&plan), layout_(layout), check_(std::move(check)) {
    if (plan.messages >= transport.most_tags()) {
        throw LimitError(fmt::format("the plan has {} messages, MPI has tags for {}", plan.messages,
                                     transport.most_tags()));
    }
    const Executable& local = plan.local;
    const std::size_t size = size_of(type);
    const auto allocate = [&](std::int64_t elements) {
        return owned_.emplace_back(static_cast<std::size_t>(elements) * size + 1).data();
    };
    std::byte* const nobodys = allocate(0);  // where the memories of others seem to be
    std::vector<std::byte*> all, spares;
    for (std::uint32_t memory = 0; memory < local.memories.size(); ++memory) {
        const bool scratch = local.memories[memory].buffer == plan::Buffer::Scratch;
        std::byte* const given = memories[memory];
        all.push_back(scratch ? allocate(layout_.elements(memory)) : given != nullptr ? given : nobodys);
        spares.push_back(allocate(layout_.spare_elements(memory)));
    }
    binding_.emplace(local, layout_, type, op, all, spares);

    constexpr std::size_t kUsualPiece = std::size_t{64} << 10U;
    const auto stride = static_cast<std::size_t>(std::max<std::int64_t>(layout_.stride(), 1));
    const std::size_t piece =
        std::clamp<std::size_t>((piece_bytes == 0 ? kUsualPiece : piece_bytes) / size, 1, stride);
    for (std::size_t at = 0; at < layout_.stretches().size(); ++at) {
        const auto first = static_cast<std::size_t>(layout_.stretches()[at].first);
        const auto last = static_cast<std::size_t>(layout_.stretches()[at].last);
        for (std::size_t x = first; x < last; x += piece)
            pieces_.push_back({at, x, std::min(piece, last - x)});
        for (std::size_t turn = 0; turn < kPiecesAtOnce; ++turn) {
            const auto known = binding_->addresses(at);
            addresses_.emplace_back(known.begin(), known.end());
        }
    }
    std::byte* const temporary =
        allocate(static_cast<std::int64_t>(local.temporaries * kPiecesAtOnce * piece));
    for (std::size_t table = 0; table < addresses_.size(); ++table) {
        for (std::size_t at = 0; at < local.operands.size(); ++at) {
            if (!local.operands[at].temporary()) continue;
            const std::size_t slot = local.operands[at].place * kPiecesAtOnce + table % kPiecesAtOnce;
            addresses_[table][at].base = temporary + slot * piece * size;
        }
    }
}

const Address& MessageCall::address(std::uint32_t operand, std::size_t piece) const {
    return addresses_[pieces_[piece].stretch * kPiecesAtOnce + piece % kPiecesAtOnce][operand];
}

void MessageCall::post_receive(std::uint32_t receive, std::size_t piece) {
    if (piece >= pieces_.size()) return;
    const MessagePlan::Message& message = plan_->receives[receive];
    receiving_[receive * kPiecesAtOnce + piece % kPiecesAtOnce] =
        transport_->receive(address(message.operand, piece).base,
                            pieces_[piece].elements * binding_->element_bytes(), message.other, message.tag);
}

bool MessageCall::is_sent(std::uint32_t send, std::size_t pieces) {
    Sending& sending = sending_[send];
    while (sending.over < pieces && !sending.on_the_way.empty() &&
           transport_->done(sending.on_the_way.front())) {
        sending.on_the_way.pop_front();
        ++sending.over;
    }
    return sending.over >= pieces;
}

bool MessageCall::are_over(std::span<const Wait> waits, std::size_t piece) const {
    return std::ranges::all_of(waits, [&](const Wait& wait) {
        return states_[wait.stream].done >=
               piece * plan_->local.streams[wait.stream].tasks.size() + wait.done;
    });
}

bool MessageCall::may_run(std::uint32_t id, std::size_t piece) {
    const Task& task = plan_->local.tasks[id];
    const MessagePlan::TaskMessages& messages = plan_->tasks[id];
    const auto part = [](const auto& list, const MessagePlan::Part& at) {
        return std::span(list).subspan(at.first, at.count);
    };
    if (!are_over(std::span(plan_->local.waits).subspan(task.first_wait, task.waits), piece)) return false;
    for (const std::uint32_t send : part(plan_->sent, messages.sent_before)) {
        if (!is_sent(send, piece + 1)) return false;
    }
    if (piece >= kPiecesAtOnce) {
        const std::size_t before = piece - kPiecesAtOnce;
        if (!are_over(part(plan_->reuses, messages.reuses), before)) return false;
        for (std::uint32_t at = 0; at < messages.sends.count; ++at) {
            if (!is_sent(messages.sends.first + at, before + 1)) return false;
        }
    }
    for (std::uint32_t at = 0; at < messages.receives.count; ++at) {
        auto& request = receiving_[(messages.receives.first + at) * kPiecesAtOnce + piece % kPiecesAtOnce];
        if (request && !transport_->done(*request)) return false;
        request.reset();
    }
    return true;
}

void MessageCall::run_task(std::uint32_t id, std::size_t number) {
    const Task& task = plan_->local.tasks[id];
    const MessagePlan::TaskMessages& messages = plan_->tasks[id];
    const Piece& piece = pieces_[number];
    const std::size_t size = binding_->element_bytes();
    const Kernels& kernels = kernels_of(binding_->type(), binding_->op());
    for (std::uint32_t at = task.first_step; at < task.first_step + task.steps; ++at) {
        const Step& step = plan_->local.steps[at];
        run_step(step, &address(step.first_operand, number), kernels, piece.first, piece.elements, size);
    }
    for (std::uint32_t at = messages.sends.first; at < messages.sends.first + messages.sends.count; ++at) {
        const MessagePlan::Message& message = plan_->sends[at];
        const Address& from = address(message.operand, number);
        sending_[at].on_the_way.push_back(transport_->send(
            from.base + piece.first * from.scale, piece.elements * size, message.other, message.tag));
    }
    for (std::uint32_t at = 0; at < messages.receives.count; ++at)
        post_receive(messages.receives.first + at, number + kPiecesAtOnce);
}

bool MessageCall::advance(std::uint32_t stream) {
    State& state = states_[stream];
    const std::vector<std::uint32_t>& tasks = plan_->local.streams[stream].tasks;
    bool any = false;
    // At most a piece at a time, so that other streams come in between.
    for (const std::size_t piece = state.piece;
         state.piece == piece && piece < pieces_.size() && may_run(tasks[state.task], piece); any = true) {
        run_task(tasks[state.task], piece);
        ++state.done;
        if (++state.task == tasks.size()) {
            state.task = 0;
            ++state.piece;
        }
    }
    return any;
}

void MessageCall::run() {
    states_.assign(plan_->local.streams.size(), {});
    sending_.assign(plan_->sends.size(), {});
    receiving_.assign(plan_->receives.size() * kPiecesAtOnce, {});
    for (std::uint32_t receive = 0; receive < plan_->receives.size(); ++receive) {
        for (std::size_t piece = 0; piece < kPiecesAtOnce; ++piece) post_receive(receive, piece);
    }
    Patience patience(check_, transport_->processes() <= std::thread::hardware_concurrency());
    for (bool unfinished = true; unfinished;) {
        bool any = false;
        unfinished = false;
        for (std::uint32_t stream = 0; stream < states_.size(); ++stream) {
            any = advance(stream) || any;
            unfinished = unfinished || states_[stream].piece < pieces_.size();
        }
        for (std::uint32_t send = 0; !unfinished && send < sending_.size(); ++send)
            unfinished = !is_sent(send, pieces_.size());
        if (any) {
            patience.reset();
        } else if (unfinished) {
            patience.wait();
        }
    }
    for (std::size_t at = 0; at < layout_.stretches().size(); ++at) {
        const auto [first, last] = layout_.stretches()[at];
        binding_->divide(at, static_cast<std::size_t>(first), static_cast<std::size_t>(last - first));
    }
}

}  // namespace tutti::run
