#pragma once

#include "batch/read_run.hpp"
#include "batch/results_request.hpp"
#include "text/toned_line.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti::batch {

/// What became of a result, the worst first. The first five are regressions.
enum class Change {
    Contradiction,  ///< one run has proven that there is nothing as short as what the other has
    Lost,           ///< it was there, and is missing or has failed
    Worse,          ///< the makespan grew
    Unproven,       ///< it was optimal, and now there is a gap
    Slower,         ///< the same, but it took longer
    Better,         ///< the makespan shrank
    Proven,         ///< the same makespan, now optimal
    Recovered,      ///< it had failed
    New,
    Same,
    StillFailing,
};
[[nodiscard]] std::string_view name_of(Change change);
[[nodiscard]] constexpr bool is_regression(Change change) { return change <= Change::Slower; }

struct ComparedRow {
    Change change = Change::Same;
    const io::ResultLine* before = nullptr;  ///< none where it is new
    const io::ResultLine* after = nullptr;   ///< none where it is missing

    [[nodiscard]] const io::ResultLine& any() const { return before != nullptr ? *before : *after; }
    /// The makespan's, as a fraction; none unless both have one above 0.
    [[nodiscard]] std::optional<double> makespan_change() const;
};

struct Comparison {
    std::vector<ComparedRow> rows{};   ///< by change, then by label
    std::vector<std::string> notes{};  ///< what else differs between the runs
    std::size_t pairs = 0;
    std::optional<double> makespan_ratio{}, seconds_ratio{};  ///< geometric means over pairs, after by before

    [[nodiscard]] std::size_t count(Change change) const;
    [[nodiscard]] std::size_t regressions() const;
};

/// Throws InputError when nothing pairs, and where labels are to pair that are not unique. The runs must
/// outlive what is returned.
[[nodiscard]] Comparison compare(const Run& before, const Run& after, const Comparing& how);

/// What changed as a table, why it was lost, the notes, and a line that sums up.
[[nodiscard]] std::vector<text::TonedLine> comparison_table(const Comparison& comparison);
[[nodiscard]] io::Json comparison_json(const Comparison& comparison);

}  // namespace tutti::batch
