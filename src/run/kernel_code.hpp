#pragma once

#include "emit/cpp_kernel.hpp"
#include "run/local_tensor.hpp"
#include "run/tile_table.hpp"
#include "tensor/loop.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace tutti::run {

/// A rank's elements of a loop: their shape, and how far apart they are in each tensor that is read, 0 where
/// it is broadcast. Outputs are row-major.
struct LoopShape {
    std::vector<std::int64_t> sizes{};
    std::vector<std::vector<std::int64_t>> strides{};  ///< by tensor, in elements
    friend bool operator==(const LoopShape&, const LoopShape&) = default;
};

/// A loop made ready for a rank: everything is allocated, so that a call costs nothing but its elements.
/// Every element has the same bits whoever computes it, in calls of whichever size. Not for two threads at
/// once.
class KernelCode {
  public:
    KernelCode() = default;
    KernelCode(const KernelCode&) = delete;
    KernelCode& operator=(const KernelCode&) = delete;
    virtual ~KernelCode() = default;

    /// Computes elements begin … end - 1, in row-major order, of all outputs. `tensors`, `outputs`: by number
    /// in the loop, where element 0 of the rank's is; as LocalTensor has it (float, double or Field). An
    /// output may be the very memory of a tensor of the loop's own shape and type, which is updated in place;
    /// else they do not overlap.
    virtual void run(std::span<const void* const> tensors, std::span<void* const> outputs, std::int64_t begin,
                     std::int64_t end) = 0;
};

/// Neighbouring dimensions that every tensor steps through as through one are joined, sizes of 1 left out.
[[nodiscard]] LoopShape joined_dims(const LoopShape& shape);

/// How a loop whose dimensions are joined goes through a tensor.
[[nodiscard]] emit::KernelAccess access_of(const LoopShape& shape, std::size_t tensor);

/// The interpreter: no compiler is needed. `table`: of a kind of processor.
[[nodiscard]] std::unique_ptr<KernelCode> tile_code(const tensor::Loop& loop, const LoopShape& shape,
                                                    const Arithmetic& arithmetic,
                                                    const TileTable& table = tile_table());

}  // namespace tutti::run
