#include "lang/program.hpp"

#include "core/error.hpp"

#include <fmt/format.h>

namespace tutti::lang {

Ref::Ref(Program& program, Slot first, std::uint32_t size) : program_(&program), first_(first), size_(size) {
    for (std::uint32_t i = 0; i < size; ++i) {
        versions_.push_back(program.tracer().version({first.rank, first.buffer, first.index + i}));
    }
}

void Ref::check_fresh() const {
    for (std::uint32_t i = 0; i < size_; ++i) {
        const Slot slot{first_.rank, first_.buffer, first_.index + i};
        if (program_->tracer().version(slot) != versions_[i]) {
            program_->refuse(fmt::format("the reference to {} is stale: the place was written since",
                                         text_of(program_->trace(), slot)));
        }
    }
}

Ref Ref::copy(std::uint32_t rank, std::uint32_t buffer, std::uint32_t index,
              const Directive& directive) const {
    check_fresh();
    program_->tracer().copy(first_, {rank, buffer, index}, size_, directive, program_->place());
    return {*program_, {rank, buffer, index}, size_};
}

Ref Ref::reduce(const Ref& other, const Directive& directive) const {
    check_fresh();
    other.check_fresh();
    if (other.size_ != size_) {
        program_->refuse(fmt::format("{} chunks cannot be added to {}", other.size_, size_));
    }
    program_->tracer().reduce(other.first_, first_, size_, directive, program_->place());
    return {*program_, first_, size_};
}

void Program::refuse(const std::string& message) const {
    const ProgramPlace& where = trace().places[place_];
    throw InputError(message, where.file.empty() ? std::string() : text_of(where));
}

Ref Program::chunk(std::uint32_t rank, std::uint32_t buffer, std::uint32_t index, std::uint32_t size) {
    for (std::uint32_t i = 0; i < size; ++i) {
        const Slot slot{rank, buffer, index + i};
        if (!tracer_.holds(slot)) {
            refuse(fmt::format("{} holds nothing", text_of(tracer_.trace(), slot)));
        }
    }
    return {*this, {rank, buffer, index}, size};
}

}  // namespace tutti::lang
