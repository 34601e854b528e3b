#pragma once

#include "app/run_plan.hpp"
#include "cli/streams.hpp"

#include <string>

namespace tutti::cli {

/// Prints runs of plans as nccl-tests prints its table: a row for each call, as soon as it is known.
class RunTable {
  public:
    RunTable(const app::RunOptions& options, const Streams& streams)
        : options_(&options), streams_(&streams) {}

    void add(const app::RunRow& row);
    void add(const app::RefusedPlan& plan);
    /// What can be said of all rows.
    void end(const app::RunResult& result);

  private:
    void begin(const app::RunRow& row);

    const app::RunOptions* options_;
    const Streams* streams_;
    std::string begun_{};  ///< the plan and mode whose rows are being printed
};

}  // namespace tutti::cli
