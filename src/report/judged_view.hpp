#pragma once

#include "core/stop.hpp"
#include "core/verdict.hpp"
#include "report/bound_view.hpp"

#include <functional>
#include <string>
#include <vector>

namespace tutti::report {

/// Whoever decides which bounds are worth their time.
using Bounds = std::function<std::vector<Bound>(const Instance&, Ticks enough, const Stop&)>;

struct ViewOptions {
    std::uint64_t most_sends = 100'000;  ///< shown
    /// Larger ones are refused: a page takes minutes to make, or a browser cannot hold it.
    std::uint64_t most_sends_read = 1'000'000'000;
    std::size_t most_links = 1'000'000;
    std::optional<BoundClaim> claim{};
    /// Lower bounds of the instance, the largest first, until one reaches `enough`. Near-linear ones where
    /// not given.
    Bounds bounds{};
    std::string key{};  ///< of the task, or empty
};

/// The verdict on a schedule's file, and its view.
struct JudgedView {
    Verdict verdict{};
    io::Json view{};  ///< docs/report.md; null if the verdict is invalid
};

/// Reads a schedule of any form ("-" is standard input), judges it, and makes its view. Throws InputError
/// where it cannot be read or is too large to be shown, LimitError when stopped.
[[nodiscard]] JudgedView judged_view(const Instance& instance, const std::string& schedule_file,
                                     const ViewOptions& options, const Stop& stop = {});

}  // namespace tutti::report
