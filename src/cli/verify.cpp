#include "cli/verify.hpp"

#include <algorithm>
#include <thread>

namespace tutti::cli {

unsigned threads_of(const VerifyOptions& options) {
    return options.threads > 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
}

ExitCode run_verify(const VerifyOptions& options, const Process& process) {
    const VerifyFiles files = sorted_out(options);
    ExitCode worst = ExitCode::Done;
    if (files.ours) worst = verify_schedules(*files.ours, options, process);
    if (!files.folders.empty()) {
        worst = std::max(worst, verify_folders(files, options, process));
    } else if (!files.plans.empty()) {
        worst = std::max(worst, verify_plans(files, options, process));
    }
    return worst;
}

}  // namespace tutti::cli
