#pragma once

#include "run/local_tensor.hpp"
#include "tensor/program.hpp"

#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti::run {

/// What the rank at these coordinates has of a value.
[[nodiscard]] std::vector<tensor::Interval> held_box(const tensor::Mesh& mesh, const tensor::Type& type,
                                                     std::span<const std::int64_t> coordinates);
[[nodiscard]] std::vector<std::int64_t> sizes_of(std::span<const tensor::Interval> box);

/// Collectives between the threads of this process: each rank shows its operand, and makes its part of the
/// result of what the others show, always in the order of their ranks. So an all_reduce and a reduce_scatter
/// with a gather give the same bits.
class Exchange {
  public:
    explicit Exchange(const tensor::Program& program)
        : program_(program),
          shown_(static_cast<std::size_t>(program.mesh().ranks())),
          meeting_(static_cast<std::ptrdiff_t>(program.mesh().ranks())) {}

    /// The rank's part of the result. All ranks call this for the same values in the same order. Throws
    /// Stopped when a rank has left.
    [[nodiscard]] LocalTensor call(tensor::ValueId id, std::int64_t rank, const LocalTensor& operand,
                                   const Arithmetic& arithmetic);
    /// For a rank that ends early: nobody waits for it.
    void leave();

    struct Stopped {};

  private:
    void meet();

    const tensor::Program& program_;
    std::vector<const LocalTensor*> shown_;  ///< by rank
    std::atomic<bool> stopped_{false};
    std::barrier<> meeting_;
};

}  // namespace tutti::run
