#include "run/pieces.hpp"

#include "run/kernels.hpp"
#include "run/operand_numbers.hpp"
#include "run/step.hpp"

#include <algorithm>
#include <span>

namespace tutti::run {

namespace {

constexpr std::size_t kLineOfCache = 64;

/// How many places have been used and will be used again, at most, counting those that a step uses.
[[nodiscard]] std::size_t places_in_use(const Executable& executable) {
    const OperandNumbers numbers(executable);
    const auto operands_of = [&](const Step& step) {
        return std::span(executable.operands)
            .subspan(step.first_operand, std::size_t{step.targets} + step.sources);
    };
    std::vector<std::size_t> last(numbers.count(), 0);
    for (std::size_t step = 0; step < executable.steps.size(); ++step) {
        for (const Operand& at : operands_of(executable.steps[step])) last[numbers.of(at)] = step;
    }
    std::vector<bool> used(last.size(), false);
    std::size_t now = 0, most = 1;
    for (std::size_t step = 0; step < executable.steps.size(); ++step) {
        for (const Operand& at : operands_of(executable.steps[step])) {
            if (!used[numbers.of(at)]) ++now;
            used[numbers.of(at)] = true;
        }
        most = std::max(most, now);
        for (const Operand& at : operands_of(executable.steps[step])) {
            if (last[numbers.of(at)] != step || !used[numbers.of(at)]) continue;
            used[numbers.of(at)] = false;
            --now;
        }
    }
    return most;
}

}  // namespace

std::int64_t piece_elements(const Executable& executable, std::size_t element_bytes) {
    // What is used again is to be in a second-level cache still. Longer pieces of fewer arrays are faster:
    // processors see sooner what comes next.
    constexpr std::size_t kWorkingSet = std::size_t{256} << 10U, kLeast = 1024, kMost = 65536;
    const std::size_t bytes = std::clamp(kWorkingSet / places_in_use(executable), kLeast, kMost);
    return static_cast<std::int64_t>(bytes / 64 * 64 / element_bytes);
}

PieceWorker::PieceWorker(const Binding& binding, std::size_t piece_bytes) : binding_(&binding) {
    piece_ = piece_bytes == 0
                 ? piece_elements(binding.executable(), binding.element_bytes())
                 : static_cast<std::int64_t>(std::max<std::size_t>(piece_bytes / binding.element_bytes(), 1));
    piece_ = std::min(piece_, std::max<std::int64_t>(binding.layout().stride(), 1));
    find_slots();
    const std::size_t slot_bytes =
        (static_cast<std::size_t>(piece_) * binding.element_bytes() + kLineOfCache - 1) / kLineOfCache *
        kLineOfCache;
    temporary_.resize(slot_count_ * slot_bytes);
    const std::vector<Operand>& operands = binding.executable().operands;
    for (std::size_t stretch = 0; stretch < binding.layout().stretches().size(); ++stretch) {
        const auto known = binding.addresses(stretch);
        std::vector<Address>& addresses = addresses_.emplace_back(known.begin(), known.end());
        for (std::size_t at = 0; at < operands.size(); ++at) {
            if (operands[at].temporary())
                addresses[at].base = temporary_.data() + slots_[operands[at].place] * slot_bytes;
        }
    }
}

void PieceWorker::find_slots() {
    const Executable& executable = binding_->executable();
    slots_.resize(executable.temporaries);
    std::vector<std::uint32_t> free;
    std::vector<bool> freed(executable.temporaries, false);
    for (std::uint32_t step = 0; step < executable.steps.size(); ++step) {
        for (const Operand& at : executable.targets(executable.steps[step])) {
            if (!at.temporary()) continue;
            if (free.empty()) free.push_back(static_cast<std::uint32_t>(slot_count_++));
            slots_[at.place] = free.back();
            free.pop_back();
        }
        // A place that nobody reads is free again at once.
        const auto release = [&](std::span<const Operand> operands) {
            for (const Operand& at : operands) {
                if (!at.temporary() || executable.lifetimes[at.place].last_read != step) continue;
                if (freed[at.place]) continue;
                freed[at.place] = true;
                free.push_back(slots_[at.place]);
            }
        };
        release(executable.sources(executable.steps[step]));
        release(executable.targets(executable.steps[step]));
    }
}

void PieceWorker::run(std::size_t worker, std::size_t workers) {
    const auto& stretches = binding_->layout().stretches();
    for (std::size_t at = 0; at < stretches.size(); ++at) {
        // Whole lines of a cache, so that no two workers write to one.
        const auto line = static_cast<std::int64_t>(kLineOfCache / binding_->element_bytes());
        const auto [first, last] = stretches[at];
        const std::int64_t lines = (last - first + line - 1) / line;
        const auto share = [&](std::size_t index) {
            return first +
                   line * (lines * static_cast<std::int64_t>(index) / static_cast<std::int64_t>(workers));
        };
        const std::int64_t end = std::min(share(worker + 1), last);
        for (std::int64_t x = share(worker); x < end; x += piece_)
            run_piece(at, x, std::min(piece_, end - x));
    }
}

void PieceWorker::run_piece(std::size_t stretch, std::int64_t first, std::int64_t count) const {
    const Executable& executable = binding_->executable();
    const Kernels& kernels = kernels_of(binding_->type(), binding_->op());
    const auto x = static_cast<std::size_t>(first), elements = static_cast<std::size_t>(count);
    const Address* const addresses = addresses_[stretch].data();
    for (const Step& step : executable.steps)
        run_step(step, addresses + step.first_operand, kernels, x, elements, binding_->element_bytes());
    binding_->divide(stretch, x, elements);
}

}  // namespace tutti::run
