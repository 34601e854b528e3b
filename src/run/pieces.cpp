#include "run/pieces.hpp"

#include "run/kernels.hpp"
#include "run/step.hpp"

#include <algorithm>

namespace tutti::run {

std::int64_t piece_elements(const Executable& executable, std::size_t element_bytes) {
    // Half of a second-level cache for the part of all places; but kernels want some lines at a time.
    constexpr std::size_t kWorkingSet = std::size_t{256} << 10U, kLeast = 1024, kMost = 16384;
    std::size_t places = executable.temporaries > 0 ? 1 : 0;
    for (const ExecutableMemory& memory : executable.memories)
        places += static_cast<std::size_t>(memory.places);
    const std::size_t bytes = std::clamp(kWorkingSet / std::max<std::size_t>(places, 1), kLeast, kMost);
    return static_cast<std::int64_t>(bytes / 64 * 64 / element_bytes);
}

PieceWorker::PieceWorker(const Binding& binding, std::size_t piece_bytes) : binding_(&binding) {
    piece_ = piece_bytes == 0
                 ? piece_elements(binding.executable(), binding.element_bytes())
                 : static_cast<std::int64_t>(std::max<std::size_t>(piece_bytes / binding.element_bytes(), 1));
    piece_ = std::min(piece_, std::max<std::int64_t>(binding.layout().stride(), 1));
    find_slots();
    constexpr std::size_t kLine = 64;
    const std::size_t slot_bytes =
        (static_cast<std::size_t>(piece_) * binding.element_bytes() + kLine - 1) / kLine * kLine;
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
        const auto [first, last] = stretches[at];
        const std::int64_t pieces = (last - first + piece_ - 1) / piece_;
        const auto share = [&](std::size_t index) {
            return pieces * static_cast<std::int64_t>(index) / static_cast<std::int64_t>(workers);
        };
        const std::int64_t end = std::min(first + share(worker + 1) * piece_, last);
        for (std::int64_t x = first + share(worker) * piece_; x < end; x += piece_)
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
