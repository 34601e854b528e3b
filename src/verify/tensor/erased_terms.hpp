#pragma once

#include "tensor/program.hpp"
#include "verify/tensor/symbolic_shape.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tutti::verify {

using TermId = std::uint32_t;

/// What a term does. Operations keep their numbers.
inline constexpr std::uint32_t kTotal = 1000, kPart = 1001, kPick = 1002;

/// A term: what it does, with which attributes, to what. Names are numbers of a table.
struct Term {
    std::uint32_t does = 0;
    std::vector<std::int64_t> attributes{};
    std::vector<TermId> args{};
    friend bool operator==(const Term&, const Term&) = default;
};

struct TermHash {
    std::size_t operator()(const Term& term) const;
};

/// The slicing of the dimensions that a partial reduction runs over: a number of the dimension, and the axes
/// from the coarsest.
using Slicing = std::vector<std::pair<std::int64_t, std::vector<std::int64_t>>>;

/// All terms of both programs; equal ones are one. The laws are here.
class Terms {
  public:
    TermId term(Term term);
    [[nodiscard]] const Term& operator[](TermId id) const { return *terms_[id]; }
    std::int64_t name(const std::string& text) {
        return names_.try_emplace(text, static_cast<std::int64_t>(names_.size())).first->second;
    }
    /// The text of such a number; looks at all.
    [[nodiscard]] std::string_view text(std::int64_t number) const;

    /// The reduction of `x` over all coordinates on these axes.
    TermId total(tensor::Reduction reduction, std::vector<std::int64_t> axes, TermId x);
    /// Of a reduction `x`, the partial results for the coordinates on those axes of the slicing that are not
    /// added up yet.
    TermId part(tensor::Reduction reduction, const Slicing& slicing, const std::set<std::int64_t>& open,
                TermId x);
    TermId shift(std::int64_t axis, std::int64_t by, TermId x);

  private:
    TermId total_of_part(const Term& part, const std::vector<std::int64_t>& axes);
    TermId plain_total(tensor::Reduction reduction, std::vector<std::int64_t> axes, TermId x);

    std::unordered_map<Term, TermId, TermHash> ids_{};
    std::vector<const Term*> terms_{};  ///< a map's elements stay where they are
    std::map<std::string, std::int64_t> names_{};
};

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
    struct Operand {
        TermId term;
        SymbolicShape shape;
    };

    [[nodiscard]] TermId arg(const tensor::Value& value, std::size_t index) const {
        return (*this)[value.args[index]];
    }
    [[nodiscard]] const tensor::Type& type(const tensor::Value& value, std::size_t index) const {
        return program_[value.args[index]].type;
    }
    [[nodiscard]] std::int64_t axis(tensor::AxisId id) const;
    [[nodiscard]] std::vector<std::int64_t> axes(const tensor::Value& value) const;
    void add_shape(const tensor::Value& value, std::vector<std::int64_t>& attributes) const;
    void add_cuts(const tensor::Type& type, std::size_t dim, std::int64_t number, Slicing& slicing,
                  std::set<std::int64_t>& open) const;

    TermId plain(const tensor::Value& value, std::vector<std::int64_t> attributes) const;
    TermId erased(const tensor::Value& value);
    TermId source(const tensor::Value& value);
    TermId broadcast(const tensor::Value& value);
    TermId pointwise(const tensor::Value& value) const;
    TermId picked(const tensor::Value& value) const;
    TermId stacked(const tensor::Value& value) const;
    TermId einsum(const tensor::Value& value) const;
    TermId reduce(const tensor::Value& value) const;

    const tensor::Program& program_;
    Terms& terms_;
    SymbolicShapes shapes_;
    std::vector<TermId> of_{};  ///< by value
    std::unordered_map<TermId, tensor::ValueId> first_{};
    /// What a term is a broadcast of, where dimensions are aligned as operations align them by themselves.
    std::unordered_map<TermId, Operand> inside_{};
};

}  // namespace tutti::verify
