#pragma once

#include "core/instance.hpp"
#include "core/stop.hpp"
#include "io/result_jsonl.hpp"
#include "report/judged_view.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace tutti::report {

struct ReportOptions {
    std::uint64_t most_sends = 300'000;          ///< shown on the page, all views together
    std::uint64_t most_sends_of_a_view = 4'000;  ///< shown
    /// How to get the instance of a line; the file that the line names where not given. A run that varies its
    /// instances gives one.
    std::function<Instance(const io::ResultLine&)> instance{};
    Bounds bounds{};  ///< as ViewOptions has it
    Stop stop{};      ///< what is left when it comes has rows and no views
};

/// What was written.
struct Report {
    std::string path{};
    std::uint64_t bytes = 0;
    std::size_t rows = 0, schedules = 0, views = 0;
    std::string obstacle{};  ///< why the first schedule without a view has none; empty if all have one
};

/// Makes the page of a run: reads folder/results.jsonl and the schedules and instances that its lines name,
/// and writes `path`, or folder/report.html if that is empty. A schedule that is missing, broken, invalid or
/// of another instance has no view, and the page says why. Throws InputError only where results.jsonl cannot
/// be read or the page cannot be written.
Report write_report(const std::string& folder, const std::string& path = {},
                    const ReportOptions& options = {});

}  // namespace tutti::report
