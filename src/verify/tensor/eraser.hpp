#pragma once

#include "tensor/program.hpp"
#include "verify/tensor/erased_terms.hpp"
#include "verify/tensor/symbolic_shape.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

namespace tutti::verify {

/// The terms of one program's values.
class Eraser {
  public:
    Eraser(const tensor::Program& program, Terms& terms);

    [[nodiscard]] TermId operator[](tensor::ValueId id) const { return of_[id.index()]; }
    /// The first value that means this term.
    [[nodiscard]] std::optional<tensor::ValueId> value_of(TermId term) const {
        const auto found = first_.find(term);
        return found == first_.end() ? std::nullopt : std::optional(found->second);
    }

  private:
    [[nodiscard]] TermId arg(const tensor::Value& value, std::size_t index) const {
        return (*this)[value.args[index]];
    }
    [[nodiscard]] Shaped operand(tensor::ValueId id) const { return {(*this)[id], shapes_[id]}; }
    [[nodiscard]] const tensor::Type& type(const tensor::Value& value, std::size_t index) const {
        return program_[value.args[index]].type;
    }
    [[nodiscard]] std::int64_t axis(tensor::AxisId id) const;
    [[nodiscard]] std::vector<std::int64_t> axes(const tensor::Value& value) const;
    void add_shape(const tensor::Value& value, std::vector<std::int64_t>& attributes) const;
    void add_cuts(const tensor::Type& type, std::size_t dim, std::int64_t number, Slicing& slicing,
                  std::set<std::int64_t>& open) const;

    TermId plain(const tensor::Value& value, std::vector<std::int64_t> attributes) const;
    TermId erased(const tensor::Value& value, const SymbolicShape& shape) const;
    TermId source(const tensor::Value& value, const SymbolicShape& shape) const;
    TermId broadcast(const tensor::Value& value, const SymbolicShape& shape) const;
    TermId reshape(const tensor::Value& value, const SymbolicShape& shape) const;
    TermId pointwise(const tensor::Value& value) const;
    TermId picked(const tensor::Value& value) const;
    TermId stacked(const tensor::Value& value) const;
    TermId einsum(const tensor::Value& value) const;
    TermId reduce(const tensor::Value& value, const SymbolicShape& shape) const;

    const tensor::Program& program_;
    Terms& terms_;
    SymbolicShapes shapes_;
    std::vector<TermId> of_{};  ///< by value
    std::unordered_map<TermId, tensor::ValueId> first_{};
};

}  // namespace tutti::verify
