#include "run/local_memories.hpp"

namespace tutti::run {

std::size_t bytes_of_call(const Executable& executable, const Layout& layout, ElementType type) {
    std::size_t elements = 0;
    for (std::uint32_t memory = 0; memory < executable.memories.size(); ++memory) {
        elements += static_cast<std::size_t>(layout.elements(memory));
        elements += static_cast<std::size_t>(layout.spare_elements(memory));
    }
    return elements * size_of(type);
}

LocalMemories::LocalMemories(const Executable& executable, const Layout& layout, ElementType type,
                             Operator op, std::span<std::byte* const> given) {
    const auto allocate = [&](std::int64_t elements) {
        return owned_.emplace_back(static_cast<std::size_t>(elements) * size_of(type)).data();
    };
    for (std::uint32_t memory = 0; memory < executable.memories.size(); ++memory) {
        std::byte* const own = memory < given.size() ? given[memory] : nullptr;
        memories_.push_back(own != nullptr ? own : allocate(layout.elements(memory)));
        spares_.push_back(allocate(layout.spare_elements(memory)));
    }
    binding_.emplace(executable, layout, type, op, memories_, spares_);
}

void LocalMemories::fill(const TestData& data) {
    for (std::uint32_t memory = 0; memory < memories_.size(); ++memory) data.fill(memory, memories_[memory]);
}

TestData::Check LocalMemories::check(const TestData& data) const {
    const std::vector<const std::byte*> memories(memories_.begin(), memories_.end());
    return data.check(memories);
}

std::vector<std::byte> LocalMemories::outputs() const {
    const Executable& executable = binding_->executable();
    const Layout& layout = binding_->layout();
    std::vector<std::byte> all;
    for (std::size_t rank = 0; rank < executable.outputs.size(); ++rank) {
        const plan::Range& output = executable.outputs[rank];
        const std::int64_t end = output.first + executable.output_places[rank];
        const auto byte = [&](std::int64_t place) {
            const std::int64_t element = layout.first(output.memory, place);
            return memories_[output.memory] + static_cast<std::size_t>(element) * binding_->element_bytes();
        };
        all.insert(all.end(), byte(output.first), byte(end));
    }
    return all;
}

void LocalMemories::divide() const {
    const auto& stretches = binding_->layout().stretches();
    for (std::size_t stretch = 0; stretch < stretches.size(); ++stretch) {
        const auto [first, last] = stretches[stretch];
        binding_->divide(stretch, static_cast<std::size_t>(first), static_cast<std::size_t>(last - first));
    }
}

}  // namespace tutti::run
