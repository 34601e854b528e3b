#pragma once

#include "app/plan_judge.hpp"
#include "app/run_plan.hpp"
#include "core/topology.hpp"
#include "run/emulation.hpp"
#include "run/executable.hpp"
#include "run/mpi_library.hpp"
#include "run/worker_threads.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace tutti::app {

/// A plan in one mode, ready to be called.
struct RunnablePlan {
    const JudgedPlan* judged = nullptr;
    const verify::JudgedProgram* program = nullptr;
    run::Executable executable{};
    std::vector<NodeId> npus{};  ///< by rank, on a topology
};

/// One call: of a plan, with so many elements.
struct RunCall {
    const RunnablePlan* plan = nullptr;
    std::int64_t count = 0;
    run::ElementType type{};
    run::Operator op{};
};

/// Shares of a rank's larger buffer: a call of `count` elements has so many times as many.
[[nodiscard]] std::int64_t shares_of(const run::Executable& executable);
[[nodiscard]] std::int64_t bytes_of(const RunCall& call);
/// The memory that a call takes.
[[nodiscard]] std::size_t memory_of(const RunCall& call, const RunOptions& options);
/// The largest call, in bytes, that fits in so much memory; 0: none does.
[[nodiscard]] std::int64_t largest_that_fits(const RunCall& call, const RunOptions& options,
                                             std::uint64_t memory);

/// How calls are executed, checked and timed.
class Caller {
  public:
    /// `check` is called now and then, and throws to end it. `network`: null where links are not emulated.
    /// `mpi`: null, or what passes messages between the processes that all do this.
    Caller(const RunOptions& options, const Topology* network, run::MpiLibrary* mpi,
           std::function<void()> check);

    /// Runs the calls one after the other, which counts as one; on emulated links they start together.
    /// Throws InputError where they cannot run.
    [[nodiscard]] RunOutcome run(std::span<const RunCall> calls);

  private:
    [[nodiscard]] RunOutcome run_in_orders(const RunCall& call);
    [[nodiscard]] RunOutcome run_here(std::span<const RunCall> calls);
    [[nodiscard]] RunOutcome run_in_processes(const RunCall& call);
    [[nodiscard]] RunOutcome run_by_messages(const RunCall& call);
    [[nodiscard]] RunOutcome run_on_links(std::span<const RunCall> calls);
    /// Runs so many rounds and says how many microseconds each took.
    using Rounds = std::function<std::span<const double>(std::uint32_t)>;
    void measure(const Rounds& time, RunOutcome& outcome) const;

    const RunOptions& options_;
    const Topology* network_;
    run::MpiLibrary* mpi_;
    std::function<void()> check_;
    run::WorkerThreads workers_;
};

}  // namespace tutti::app
