#pragma once

#include "core/instance.hpp"
#include "core/schedule.hpp"
#include "heuristics/lockstep/lockstep_engine.hpp"
#include "heuristics/spread.hpp"

#include <string>

namespace tutti::heuristics {

/// Whether every NPU wants every chunk and all transfers take the same time: a strongly connected network
/// without switches, with equal links, and plain chunks of equal sizes and releases. O(links + chunks).
[[nodiscard]] bool fits_lockstep(const Instance& instance);

/// A schedule of any size that is generated while it is read and never held. Memory is one bit per NPU and
/// chunk, two where a transfer takes longer than it keeps its link busy.
class LockstepGather final : public SendSource {
  public:
    /// Precondition: fits_lockstep(instance). The instance and the stop must outlive this.
    LockstepGather(const Instance& instance, std::uint64_t seed, const Stop& stop);

    /// The sends of one step, by link; all start at once.
    [[nodiscard]] std::span<const Send> next() override;
    [[nodiscard]] Ticks makespan() const override { return makespan_; }
    [[nodiscard]] std::uint64_t position(std::size_t i) const override { return given_ + i; }

    /// After next() returned none: whether that was the end, and not the stop.
    [[nodiscard]] bool is_complete() const { return engine_.missing() == 0; }

  private:
    const Stop& stop_;
    Ticks release_, pace_, transit_;
    LockstepEngine engine_;
    std::int64_t steps_ = 0;
    std::uint64_t given_ = 0;
    Ticks makespan_;
    std::vector<Send> sends_;
};

/// The same as a heuristic for schedules in memory. Applies if every hop is a link between NPUs, all take the
/// same time and every spread goes to all NPUs; starts after all links are free and all spreads ready. Useful
/// from some thousand NPUs on, where flood() slows down.
[[nodiscard]] std::optional<SpreadSolution> lockstep(const SpreadProblem& problem, Rng& rng,
                                                     const Stop& stop);

/// Why lockstep() cannot solve the problem; empty if it can.
[[nodiscard]] std::string why_no_lockstep(const SpreadProblem& problem);

}  // namespace tutti::heuristics
