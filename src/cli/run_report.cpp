#include "cli/run_report.hpp"

#include "batch/result_line.hpp"
#include "batch/variant_instance.hpp"

namespace tutti::cli {

report::Report write_run_report(const std::string& folder, const std::string& path, report::ReportWish wish) {
    wish.instance = [](const io::ResultLine& line) { return batch::instance_of(batch::task_of(line)); };
    return report::write_report(folder, path, wish);
}

}  // namespace tutti::cli
