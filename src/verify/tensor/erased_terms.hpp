#pragma once

#include "tensor/op.hpp"
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
inline constexpr std::uint32_t kTotal = 1000, kPart = 1001, kPick = 1002, kWidened = 1003;

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

/// A term and the shape of what it means.
struct Shaped {
    TermId term = 0;
    SymbolicShape shape{};
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
    /// What the root has, of what ranks have of their own on these axes.
    TermId pick(std::int64_t root, std::vector<std::int64_t> axes, TermId x);
    /// x, broadcast as operations broadcast by themselves: its dimensions are the last of the shape.
    TermId widened(const SymbolicShape& shape, Shaped x);
    /// What such a broadcast is one of; other terms are what they are.
    [[nodiscard]] Shaped narrowest(Shaped x) const;

  private:
    template <class Law>
    std::optional<TermId> under_broadcast(TermId x, const Law& law);
    TermId total_of_part(const Term& part, const std::vector<std::int64_t>& axes);
    TermId plain_total(tensor::Reduction reduction, std::vector<std::int64_t> axes, TermId x);

    std::unordered_map<Term, TermId, TermHash> ids_{};
    std::vector<const Term*> terms_{};  ///< a map's elements stay where they are
    std::map<std::string, std::int64_t> names_{};
};

}  // namespace tutti::verify
