#pragma once

#include "run/memory_plan.hpp"
#include "run/memory_view.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti::run {

/// The memories of all ranks, one behind the other, with the values of a program as planned.
class RankMemory {
  public:
    /// `memory`: plan.bytes() for each rank. All must outlive this.
    RankMemory(const tensor::Program& program, const MemoryPlan& plan, std::byte* memory,
               Arithmetic arithmetic)
        : program_(program), plan_(plan), memory_(memory), arithmetic_(arithmetic) {}

    [[nodiscard]] const Arithmetic& arithmetic() const { return arithmetic_; }
    [[nodiscard]] Storage storage(const tensor::Type& type) const {
        return storage_of(type.dtype, arithmetic_.precision);
    }
    [[nodiscard]] std::byte* of_rank(std::int64_t rank) const {
        return memory_ + static_cast<std::size_t>(rank) * plan_.bytes();
    }
    /// Where the rank's part of the value begins. Precondition: plan.has(id).
    [[nodiscard]] std::byte* address(tensor::ValueId id, std::int64_t rank) const;
    /// All that the rank has of it.
    [[nodiscard]] MemoryView view(tensor::ValueId id, std::int64_t rank) const;
    /// The part that the type says, which is the value's own type or cut finer.
    [[nodiscard]] MemoryView view(tensor::ValueId id, const tensor::Type& read, std::int64_t rank) const;

    /// Writes what is not made by any kernel, once: random numbers and constants. All else is made poison.
    void prepare(std::int64_t rank) const;
    /// The rank's part of an input; and of any value. They are copied.
    void put(tensor::ValueId id, std::int64_t rank, const LocalTensor& tensor) const;
    [[nodiscard]] LocalTensor get(tensor::ValueId id, std::int64_t rank) const;

  private:
    const tensor::Program& program_;
    const MemoryPlan& plan_;
    std::byte* memory_;
    Arithmetic arithmetic_;
};

}  // namespace tutti::run
