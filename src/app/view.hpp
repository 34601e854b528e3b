#pragma once

#include "app/json.hpp"
#include "app/watch.hpp"
#include "core/verdict.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti::app {

struct ViewOptions {
    /// A schedule and its instance, in any order, unless `instance` names it; or a folder with results.
    std::vector<std::string> files{};
    std::optional<std::string> instance{};
    std::string output{};                  ///< a path or "-"; empty: named after the schedule or the folder
    std::optional<std::uint64_t> sends{};  ///< at most so many are shown
    friend bool operator==(const ViewOptions&, const ViewOptions&) = default;
};

/// The page that was made, or why there is none.
struct View {
    std::string page{};  ///< a path, or "-"
    std::uint64_t bytes = 0;
    std::string words{};     ///< what is on it
    std::string note{};      ///< what is not, and why; may be empty
    std::string schedule{};  ///< of a page of one schedule: its file
    Verdict verdict{};       ///< of that schedule; without a page if it is invalid
    io::Json facts{};        ///< for programs
};

/// Writes an HTML page: of one schedule, which is verified first, or of a run's results.
/// Throws InputError, LimitError when interrupted, BugError.
[[nodiscard]] View view(const ViewOptions& options, const Watch& watch = {});

}  // namespace tutti::app
