#pragma once

#include "app/json.hpp"
#include "app/judge_options.hpp"
#include "app/run_sources.hpp"
#include "app/watch.hpp"
#include "run/element_type.hpp"
#include "run/local_call.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::app {

/// Plans to be run on data of this machine.
struct RunOptions {
    RunNames names{};    ///< what is run
    PlanOptions plan{};  ///< how they are read and judged
    /// Sizes of the call in bytes, as nccl-tests counts them; and in elements of a rank's share (of the whole
    /// buffer, where the collective has no shares). Neither: that of the instance, or 1 MiB.
    std::vector<std::int64_t> sizes{}, counts{};
    std::vector<run::ElementType> types{run::ElementType::F32};
    std::vector<run::Operator> operators{run::Operator::Sum};
    std::optional<bool> in_place{};  ///< nothing: all modes that the plan has
    run::Engine engine = run::Engine::Pieces;
    std::optional<std::string> emulate{};  ///< a topology, on whose links the messages go
    bool together = false;                 ///< all plans also in one call
    unsigned workers = 0;                  ///< 0: as many as the machine has cores
    std::uint32_t processes = 0;           ///< 0: all in this process
    bool private_arrays = false;           ///< of processes: each has its arrays for itself
    bool mpi = false;                      ///< by messages between the processes that mpirun started
    std::int64_t piece_bytes = 0;          ///< 0: what suits
    std::uint32_t iterations = 0;          ///< 0: as many as are worth it
    bool anyway = false;                   ///< plans that are not acceptable, too
    std::uint32_t orders = 0;  ///< run in so many random orders, to see what a race does, instead of timing
    std::uint64_t seed = 1;
    friend bool operator==(const RunOptions&, const RunOptions&) = default;
};

/// What a call took, and whether it was right.
struct RunOutcome {
    std::uint32_t rounds = 0;                       ///< that were timed
    double median_us = 0, low_us = 0, high_us = 0;  ///< 10 % and 90 %
    std::optional<double> algbw_GBps{}, busbw_GBps{};
    std::uint64_t compared = 0, wrong = 0;
    std::optional<run::TestData::Difference> difference{};
    std::string skipped{};  ///< why it was not run
};

/// One call of a plan.
struct RunRow {
    std::size_t plan = 0;  ///< of those that ran, in their order
    std::string file{}, collective{};
    std::int32_t ranks = 0;
    std::int64_t bytes = 0;  ///< of the call
    std::int64_t count = 0;  ///< elements of a share
    run::ElementType type{};
    std::optional<run::Operator> op{};  ///< nothing: no sums are made
    std::optional<Rank> root{};
    bool in_place = false;
    RunOutcome outcome{};
};

/// One call of all plans.
struct TogetherRow {
    std::size_t plans = 0;
    std::int64_t bytes = 0;  ///< of all calls
    run::ElementType type{};
    std::optional<run::Operator> op{};  ///< nothing: no sums are made
    RunOutcome outcome{};
};

/// A plan that was not run at all.
struct RefusedPlan {
    std::string file{}, verdict{}, reason{};
};

/// Plans for the same collective among as many ranks, held against each other at the sizes that all ran at.
struct RunComparison {
    std::string collective{};
    std::int32_t ranks = 0;
    run::ElementType type{};
    std::optional<run::Operator> op{};  ///< nothing: no sums are made
    std::vector<std::string> files{};
    std::vector<std::int64_t> sizes{};           ///< ascending
    std::vector<std::vector<double>> best_us{};  ///< by size and file: of its modes the faster
    std::vector<std::size_t> fastest{};          ///< by size, of files
};

struct RunResult {
    std::vector<RunRow> rows{};
    std::vector<TogetherRow> together{};
    std::vector<RunComparison> comparisons{};
    std::vector<RefusedPlan> refused{};
    bool complete = false;  ///< false: interrupted
    bool is_first = true;   ///< of the processes of MPI: the one that prints
    std::string lost{};     ///< why it ended early: a process that took part was lost
    [[nodiscard]] bool any_wrong() const;
    [[nodiscard]] bool any_skipped() const;
};

/// Callbacks while plans run, all called from the calling thread.
struct RunListener {
    /// A call in all modes that the plan has.
    std::function<void(std::span<const RunRow>)> call = [](std::span<const RunRow>) {};
    std::function<void(const TogetherRow&)> together = [](const TogetherRow&) {};
    std::function<void(const RefusedPlan&)> refused = [](const RefusedPlan&) {};
    std::function<void(const std::string&)> begins = [](const std::string&) {};  ///< what, in words
    std::function<void(const std::string&)> note = [](const std::string&) {};
};

/// Judges each plan, runs it on data at every size, type and operator, compares every element with what the
/// collective demands, and times it. Throws InputError.
[[nodiscard]] RunResult run_plans(const RunOptions& options, const Watch& watch, const RunListener& listener);

/// Compares what ran; only where there are two plans for the same.
[[nodiscard]] std::vector<RunComparison> compare_runs(std::span<const RunRow> rows);

/// "sum", "none".
[[nodiscard]] inline std::string_view name_of(const std::optional<run::Operator>& op) {
    return op ? run::name_of(*op) : "none";
}
[[nodiscard]] io::Json json_of(const RunRow& row);
[[nodiscard]] io::Json json_of(const RunResult& result);

}  // namespace tutti::app
