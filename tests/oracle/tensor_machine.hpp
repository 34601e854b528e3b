#pragma once

#include "tensor/program.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace tutti::oracle {

/// The arithmetic of a run: elements are bits that only it understands.
struct TensorArithmetic {
    std::function<std::uint64_t(const tensor::Value&, tensor::DType, const std::vector<std::uint64_t>&)>
        pointwise;
    std::function<std::uint64_t(tensor::Reduction, tensor::DType, std::uint64_t, std::uint64_t)> combine;
    std::function<std::uint64_t(tensor::Reduction)> nothing;
    std::function<std::uint64_t(tensor::DType, std::uint64_t, std::uint64_t)> multiply;
    /// Of constant, uniform and iota: the element at this index, which is that many in row-major order.
    std::function<std::uint64_t(const tensor::Value&, const std::vector<std::int64_t>&, std::int64_t)> source;
    std::function<std::uint64_t(tensor::DType)> zero;
    /// Element of an input at an index, for the rank at these coordinates (0 where the input is not local).
    std::function<std::uint64_t(const tensor::Value&, const std::vector<std::int64_t>&,
                                const std::vector<std::int64_t>&)>
        input;
};

/// A second machine for tensor programs, written from docs/tensor-programs.md; it includes nothing of the
/// verifier, and no part or box of src/tensor. It works backwards: asked for one element on one rank, it asks
/// for those that it is made of, and has nothing where a rank would need what it does not have. Slow.
class TensorMachine {
  public:
    using Coordinates = std::vector<std::int64_t>;
    using Index = std::vector<std::int64_t>;

    TensorMachine(tensor::Program program, TensorArithmetic arithmetic)
        : program_(std::move(program)), arithmetic_(std::move(arithmetic)) {}

    /// Whether the rank should have this element.
    [[nodiscard]] bool owns(const tensor::Type& type, const Coordinates& rank, const Index& index) const;
    /// What a rank ends with.
    std::optional<std::uint64_t> on_rank(tensor::ValueId id, const Coordinates& rank, const Index& index) {
        return element(true, id, rank, index);
    }
    /// What the program means there, whoever holds it.
    std::uint64_t meaning(tensor::ValueId id, const Coordinates& rank, const Index& index) {
        return element(false, id, rank, index).value();
    }

  private:
    using Maybe = std::optional<std::uint64_t>;
    Maybe element(bool on_ranks, tensor::ValueId id, const Coordinates& rank, const Index& index);
    Maybe made(bool on_ranks, const tensor::Value& value, const Coordinates& rank, const Index& index);
    Maybe pointwise(bool on_ranks, const tensor::Value& value, const Coordinates& rank, const Index& index);
    Maybe contracted(bool on_ranks, const tensor::Value& value, const Coordinates& rank, const Index& index);
    Maybe reduced(bool on_ranks, const tensor::Value& value, const Coordinates& rank, const Index& index);
    Maybe exchanged(bool on_ranks, const tensor::Value& value, const Coordinates& rank, const Index& index);
    Maybe found_in_group(const tensor::Value& value, const Coordinates& rank, const Index& index);
    Maybe total(bool on_ranks, const tensor::Value& value, const Coordinates& rank, const Index& index);
    [[nodiscard]] const tensor::Type& type(const tensor::Value& value, std::size_t arg) const {
        return program_[value.args[arg]].type;
    }
    [[nodiscard]] std::int64_t ranks(std::size_t axis) const { return program_.mesh().axes()[axis].size; }
    /// First and last but one of a dimension on that rank.
    [[nodiscard]] std::pair<std::int64_t, std::int64_t> cut(const tensor::Type& type, std::size_t dim,
                                                            const Coordinates& rank) const;
    [[nodiscard]] std::vector<Coordinates> group(const tensor::Value& value, const Coordinates& rank) const;

    tensor::Program program_;
    TensorArithmetic arithmetic_;
    std::map<std::tuple<bool, std::uint32_t, Coordinates, Index>, Maybe> known_{};
};

}  // namespace tutti::oracle
