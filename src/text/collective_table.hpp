#pragma once

#include "core/collective_result.hpp"
#include "text/table.hpp"

#include <span>
#include <string>

namespace tutti::text {

/// One collective of an instance, to be shown.
struct CollectiveRow {
    std::string instance{};  ///< empty: no column for it, if it is so in all rows
    const CollectiveResult* result = nullptr;
    Units units = Units::Abstract;
};

/// A row for each: id, kind, group, ranks, release, size, finish, bandwidths in GB/s. Columns in which no row
/// has anything to say are left out.
[[nodiscard]] SafeText collective_table(std::span<const CollectiveRow> rows);

/// The table of one instance's collectives. Of many, those that finish last are shown, in the order of the
/// instance, and a line says how many there are. Empty if there is only one: what it took is the makespan.
[[nodiscard]] SafeText collective_table(std::span<const CollectiveResult> results, Units units);

}  // namespace tutti::text
