#pragma once

#include "app/plan_judge.hpp"
#include "run/executable.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::app {

/// A plan that was judged to be right, ready to be called in each of its modes.
struct LoadedPlan {
    JudgedPlan judged{};
    std::uint64_t fingerprint = 0;               ///< of the file's content
    std::vector<run::Executable> executables{};  ///< one for each mode
    std::int64_t least_bytes = 0, most_bytes = std::numeric_limits<std::int64_t>::max();  ///< of its calls

    [[nodiscard]] std::int32_t ranks() const { return executables.front().ranks(); }
    [[nodiscard]] CollectiveKind goal() const { return executables.front().postcondition.goal; }
    /// Nothing if it has not that mode.
    [[nodiscard]] const run::Executable* in_mode(bool in_place) const;
};

/// Throws InputError with the reason where the file is no plan that is right and can run.
[[nodiscard]] std::unique_ptr<const LoadedPlan> load_plan(const std::string& file);

/// Eight bytes that differ where texts do: the same in all processes.
[[nodiscard]] std::uint64_t fingerprint_of(std::string_view text, std::uint64_t seed = 0);

}  // namespace tutti::app
