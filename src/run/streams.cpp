#include "run/streams.hpp"

#include "run/kernels.hpp"
#include "run/step.hpp"

#include <algorithm>

namespace tutti::run {
namespace {

constexpr std::size_t kLineBytes = 64;

/// Elements of a piece.
[[nodiscard]] std::size_t piece_of(const Layout& layout, std::size_t element_bytes, std::size_t asked) {
    // Large enough that waiting costs little, small enough that a piece stays in a cache until it is passed
    // on.
    constexpr std::size_t kUsual = std::size_t{64} << 10U;
    const std::size_t stride = std::max<std::size_t>(static_cast<std::size_t>(layout.stride()), 1);
    return std::clamp<std::size_t>((asked == 0 ? kUsual : asked) / element_bytes, 1, stride);
}

[[nodiscard]] std::size_t slot_bytes(std::size_t piece, std::size_t element_bytes) {
    return (piece * element_bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
}

}  // namespace

StreamCall::StreamCall(const Binding& binding, std::size_t piece_bytes) : binding_(&binding) {
    const std::size_t piece = piece_of(binding.layout(), binding.element_bytes(), piece_bytes);
    slot_bytes_ = slot_bytes(piece, binding.element_bytes());
    for (std::size_t at = 0; at < binding.layout().stretches().size(); ++at) {
        const auto first = static_cast<std::size_t>(binding.layout().stretches()[at].first);
        const auto last = static_cast<std::size_t>(binding.layout().stretches()[at].last);
        for (std::size_t x = first; x < last; x += piece)
            pieces_.push_back({at, x, std::min(piece, last - x)});
    }
    for (const Stream& stream : binding.executable().streams) tasks_.push_back(stream.tasks.size());
    find_reuses();
}

std::size_t StreamCall::temporary_bytes() const {
    return binding_->executable().temporaries * kPiecesAtOnce * slot_bytes_;
}

std::size_t StreamCall::temporary_bytes(const Executable& executable, const Layout& layout, ElementType type,
                                        std::size_t piece_bytes) {
    const std::size_t piece = piece_of(layout, size_of(type), piece_bytes);
    return executable.temporaries * kPiecesAtOnce * slot_bytes(piece, size_of(type));
}

void StreamCall::find_reuses() {
    const Executable& executable = binding_->executable();
    std::vector<std::uint32_t> position(executable.tasks.size(), 0);
    for (const Stream& stream : executable.streams) {
        for (std::uint32_t at = 0; at < stream.tasks.size(); ++at) position[stream.tasks[at]] = at;
    }
    for (const Task& task : executable.tasks) {
        first_reuse_.push_back(static_cast<std::uint32_t>(reuses_.size()));
        for (std::uint32_t s = task.first_step; s < task.first_step + task.steps; ++s) {
            for (const Operand& at : executable.targets(executable.steps[s])) {
                if (!at.temporary()) continue;
                const std::uint32_t reader = executable.last_readers[at.place];
                const Wait wait{executable.tasks[reader].stream, position[reader] + 1};
                if (wait.stream != task.stream) reuses_.push_back(wait);
            }
        }
    }
    first_reuse_.push_back(static_cast<std::uint32_t>(reuses_.size()));
}

StreamWorker::StreamWorker(const StreamCall& call, std::span<Progress> progress, std::byte* temporary,
                           std::vector<std::uint32_t> own)
    : call_(&call), progress_(progress) {
    const Binding& binding = call.binding();
    const std::vector<Operand>& operands = binding.executable().operands;
    const std::size_t tables = binding.executable().temporaries > 0 ? StreamCall::kPiecesAtOnce : 1;
    for (std::size_t stretch = 0; stretch < binding.layout().stretches().size(); ++stretch) {
        for (std::size_t turn = 0; turn < tables; ++turn) {
            const auto known = binding.addresses(stretch);
            std::vector<Address>& addresses = addresses_.emplace_back(known.begin(), known.end());
            for (std::size_t at = 0; at < operands.size(); ++at) {
                if (!operands[at].temporary()) continue;
                const std::size_t slot = operands[at].place * StreamCall::kPiecesAtOnce + turn;
                addresses[at].base = temporary + slot * call.slot_bytes_;
            }
        }
    }
    for (const std::uint32_t stream : own) states_.push_back({stream});
}

void StreamWorker::reset() {
    for (State& state : states_) {
        state = {state.stream};
        progress_[state.stream].done.store(0, std::memory_order_relaxed);
    }
}

void StreamWorker::run(Patience& patience) {
    std::size_t unfinished = states_.size();
    std::vector<State*> active;
    for (State& state : states_) active.push_back(&state);
    patience.reset();
    while (unfinished > 0) {
        bool any = false;
        for (std::size_t at = 0; at < unfinished;) {
            any = advance(*active[at]) || any;
            if (active[at]->piece == call_->pieces_.size()) {
                std::swap(active[at], active[--unfinished]);
            } else {
                ++at;
            }
        }
        if (any) {
            patience.reset();
        } else {
            patience.wait();
        }
    }
}

bool StreamWorker::advance(State& state) {
    const Executable& executable = call_->binding().executable();
    const std::vector<std::uint32_t>& tasks = executable.streams[state.stream].tasks;
    const std::uint64_t before = state.done;
    if (tasks.empty()) state.piece = call_->pieces_.size();
    // At most a piece at a time, so that the worker's other streams come in between.
    const std::size_t piece = state.piece;
    while (state.piece == piece && piece < call_->pieces_.size() && may_run(state)) {
        run_task(executable.tasks[tasks[state.task]], piece);
        progress_[state.stream].done.store(++state.done, std::memory_order_release);
        state.wait = 0;
        if (++state.task == tasks.size()) {
            state.task = 0;
            ++state.piece;
        }
    }
    return state.done != before;
}

bool StreamWorker::may_run(State& state) const {
    const Executable& executable = call_->binding().executable();
    const std::uint32_t id = executable.streams[state.stream].tasks[state.task];
    const Task& task = executable.tasks[id];
    const auto is_over = [&](const Wait& wait, std::size_t piece) {
        return progress_[wait.stream].done.load(std::memory_order_acquire) >=
               piece * call_->tasks_[wait.stream] + wait.done;
    };
    for (; state.wait < task.waits; ++state.wait) {
        if (!is_over(executable.waits[task.first_wait + state.wait], state.piece)) return false;
    }
    if (state.piece < StreamCall::kPiecesAtOnce) return true;
    const std::uint32_t first = call_->first_reuse_[id], count = call_->first_reuse_[id + 1] - first;
    for (; state.wait < task.waits + count; ++state.wait) {
        const Wait& wait = call_->reuses_[first + (state.wait - task.waits)];
        if (!is_over(wait, state.piece - StreamCall::kPiecesAtOnce)) return false;
    }
    return true;
}

void StreamWorker::run_task(const Task& task, std::size_t number) const {
    const Binding& binding = call_->binding();
    const Executable& executable = binding.executable();
    const Kernels& kernels = kernels_of(binding.type(), binding.op());
    const StreamCall::Piece& piece = call_->pieces_[number];
    const std::size_t tables = addresses_.size() / binding.layout().stretches().size();
    const Address* const addresses = addresses_[piece.stretch * tables + number % tables].data();
    for (std::uint32_t at = task.first_step; at < task.first_step + task.steps; ++at) {
        const Step& step = executable.steps[at];
        run_step(step, addresses + step.first_operand, kernels, piece.first, piece.elements,
                 binding.element_bytes());
    }
}

}  // namespace tutti::run
