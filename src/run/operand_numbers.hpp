#pragma once

#include "run/executable.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti::run {

/// Numbers the places of an executable: those of all memories, then the temporary ones.
class OperandNumbers {
  public:
    explicit OperandNumbers(const Executable& executable) {
        for (const ExecutableMemory& memory : executable.memories) {
            first_.push_back(memories_end_);
            memories_end_ += static_cast<std::size_t>(memory.places);
        }
        count_ = memories_end_ + executable.temporaries;
    }
    [[nodiscard]] std::size_t count() const { return count_; }
    [[nodiscard]] std::size_t of(const Operand& at) const {
        return (at.temporary() ? memories_end_ : first_[at.memory]) + at.place;
    }

  private:
    std::vector<std::size_t> first_;
    std::size_t memories_end_ = 0, count_ = 0;
};

}  // namespace tutti::run
