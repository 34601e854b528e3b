#include "run/binding.hpp"

#include "run/kernels.hpp"

namespace tutti::run {

Binding::Binding(const Executable& executable, const Layout& layout, ElementType type, Operator op,
                 std::span<std::byte* const> memories, std::span<std::byte* const> spares)
    : executable_(&executable), layout_(layout), type_(type), op_(op) {
    const std::size_t size = size_of(type);
    for (const Layout::Stretch& stretch : layout.stretches()) {
        std::vector<Address>& addresses = addresses_.emplace_back();
        addresses.reserve(executable.operands.size());
        for (const Operand& at : executable.operands) {
            if (at.temporary()) {
                addresses.emplace_back();
                continue;
            }
            const bool here = layout.length(at.memory, at.place) > stretch.first;
            std::byte* const memory = here ? memories[at.memory] : spares[at.memory];
            const std::int64_t first =
                here ? layout.first(at.memory, at.place) : layout.spare_first(at.memory, at.place);
            addresses.push_back({memory + static_cast<std::size_t>(first) * size, size});
        }
    }
    if (op != Operator::Avg) return;
    for (const Layout::Stretch& stretch : layout.stretches()) find_results(stretch, memories);
}

void Binding::find_results(const Layout::Stretch& stretch, std::span<std::byte* const> memories) {
    std::vector<Address>& results = results_.emplace_back();
    const std::size_t size = size_of(type_);
    for (const Rank rank : plan::ranks_below(executable_->ranks())) {
        if (!executable_->postcondition.demands_of(rank)) continue;
        const plan::Range& output = executable_->outputs[rank.index()];
        for (std::int64_t e = 0; e < executable_->output_places[rank.index()]; ++e) {
            const std::int64_t place = output.first + e;
            if (layout_.length(output.memory, place) <= stretch.first) continue;
            const auto first = static_cast<std::size_t>(layout_.first(output.memory, place));
            results.push_back({memories[output.memory] + first * size, size});
        }
    }
}

void Binding::divide(std::size_t stretch, std::size_t x, std::size_t elements) const {
    if (results_.empty()) return;
    const Kernels& kernels = kernels_of(type_, op_);
    for (const Address& at : results_[stretch])
        kernels.divide(at.base + x * at.scale, elements, executable_->ranks());
}

}  // namespace tutti::run
