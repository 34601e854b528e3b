#pragma once

#include "app/run_plan.hpp"
#include "cli/streams.hpp"

#include <span>
#include <string>

namespace tutti::cli {

/// Prints runs of plans as nccl-tests prints its table: a line for each call, as soon as it is known. Lines
/// that are not calls begin with '#'.
class RunTable {
  public:
    RunTable(const app::RunOptions& options, const Streams& streams)
        : options_(&options), streams_(&streams) {}

    /// A call in all its modes.
    void add(std::span<const app::RunRow> modes);
    void add(const app::TogetherRow& row);
    void add(const app::RefusedPlan& plan);
    /// What can be said of all rows: comparisons, wrong elements.
    void end(const app::RunResult& result);

  private:
    void begin(const app::RunRow& row);
    void print_comparison(const app::RunComparison& comparison) const;

    const app::RunOptions* options_;
    const Streams* streams_;
    std::string begun_{};  ///< the plan whose calls are being printed
    bool together_ = false;
};

/// A line for each call and mode, with all that is known of it.
[[nodiscard]] text::SafeText run_csv(const app::RunResult& result);

}  // namespace tutti::cli
