#pragma once

#include "report/report.hpp"

namespace tutti::cli {

/// The page of a run, whose instances may be varied (report::write_report).
[[nodiscard]] report::Report write_run_report(const std::string& folder, const std::string& path,
                                              report::ReportWish wish);

}  // namespace tutti::cli
