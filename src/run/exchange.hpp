#pragma once

#include "run/local_tensor.hpp"
#include "tensor/program.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tutti::run {

/// What the rank at these coordinates has of a value.
[[nodiscard]] std::vector<tensor::Interval> held_box(const tensor::Mesh& mesh, const tensor::Type& type,
                                                     std::span<const std::int64_t> coordinates);
[[nodiscard]] std::vector<std::int64_t> sizes_of(std::span<const tensor::Interval> box);
/// Where the box begins on each dimension.
[[nodiscard]] std::vector<std::int64_t> begins_of(std::span<const tensor::Interval> box);

/// The ranks that differ from this one on these axes only, in order.
[[nodiscard]] std::vector<std::int64_t> group_of(const tensor::Mesh& mesh,
                                                 std::span<const tensor::AxisId> axes, std::int64_t rank);

/// Which elements of a rank's part another rank's part has, and where.
struct ExchangeSide {
    std::int64_t rank = 0;
    std::vector<tensor::Interval> box{};  ///< in indices of the own part
    std::vector<std::int64_t> strides{};  ///< of the other's part; the last is 1
    std::int64_t offset = 0;              ///< of index 0, 0, …, in the other's part
};

/// What a rank reads from others in a collective, or writes to them: elements of its own part, in row-major
/// order, and for each of the others where they are there. Without anything allocated in a call.
///
/// Sums are made in the order of ranks, so an all_reduce has the bits of a reduce_scatter with a gather, and
/// of any of their parts.
class Exchange {
  public:
    /// The rank's part of a collective's result: made of the operand's parts of all ranks of its group. Of an
    /// all_reduce, too, it is all that the rank has.
    [[nodiscard]] static Exchange reading(const tensor::Program& program, tensor::ValueId collective,
                                          std::int64_t rank);
    /// The rank's part of the operand of an all_gather or broadcast_from: where the ranks of its group have
    /// it in their parts of the result, its own included.
    [[nodiscard]] static Exchange writing(const tensor::Program& program, tensor::ValueId collective,
                                          std::int64_t rank);

    [[nodiscard]] const std::vector<ExchangeSide>& sides() const { return sides_; }
    [[nodiscard]] std::int64_t elements() const { return product(shape_); }

    /// Which elements of that side's part are read for these of the own part.
    [[nodiscard]] std::vector<tensor::Interval> read_of(std::size_t side,
                                                        std::span<const tensor::Interval> elements) const;
    /// Makes elements begin … end - 1 of the own part, the first of them at `to`. `others`: by side, where
    /// element 0 of its rank's part is.
    void read(std::span<const std::byte* const> others, std::byte* to, std::int64_t begin, std::int64_t end,
              Storage storage, const Arithmetic& arithmetic) const;
    /// Copies elements begin … end - 1 of the own part, the first of which is at `from`, to the sides for
    /// which there is an address.
    void write(std::span<std::byte* const> others, const std::byte* from, std::int64_t begin,
               std::int64_t end, Storage storage) const;

  private:
    Exchange(std::vector<std::int64_t> shape, std::vector<ExchangeSide> sides);
    void join_dims();

    std::vector<std::int64_t> shape_;
    std::vector<ExchangeSide> sides_;
    std::optional<tensor::Reduction> reduction_{};
    tensor::DType dtype_{};
};

}  // namespace tutti::run
