#pragma once

#include "core/bound.hpp"
#include "core/instance.hpp"
#include "io/json_view.hpp"
#include "io/result_jsonl.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tutti::report {

/// A bound for the same instance from elsewhere: a line of results.jsonl.
struct BoundClaim {
    Ticks value;
    std::string kind{};
    std::string proof{};  ///< a sentence, or empty
};

/// Of a line without a bound none. Its sentence on the proof counts where it has one.
[[nodiscard]] std::optional<BoundClaim> claim_of(const io::ResultLine& line);

/// What proves the bound, as a sentence with its numbers.
[[nodiscard]] std::string bound_sentence(const Instance& instance, const Bound& bound);

/// The fields lower_bound, bound_kind, bound_text, bound_weaker, cut and path of a view, for the best of the
/// bounds or, if that is larger, for the claim; then cut and path are those of the best bound, and the text
/// says so.
/// `bounds` has the largest first and is not empty.
[[nodiscard]] io::Json bound_view(const Instance& instance, const std::vector<Bound>& bounds,
                                  const std::optional<BoundClaim>& claim);

}  // namespace tutti::report
