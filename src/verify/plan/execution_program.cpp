// An execution plan of MSCCL++ becomes a program in three passes. resolve() looks up every name and converts
// operations to moves between memories and uses of counters. progress_of() decides whether it can hang; this
// depends on all waits, relaxed or not. order() computes happens-before for memory, which is much weaker.
// Races, values and postconditions are then decided on the program, as for every other kind of plan.

#include "verify/plan/execution_program.hpp"

#include "verify/plan/execution_progress.hpp"

#include <fmt/format.h>

namespace tutti::verify {
namespace {

/// The most places that all operands together touch: some 30 bytes and 100 ns each.
constexpr std::int64_t kMostPlaces = std::int64_t{1} << 24U;
/// The most ops of the program: some 200 bytes each.
constexpr std::uint64_t kMostPieces = std::uint64_t{1} << 22U;

std::int64_t places_touched(const plan::Program& program) {
    std::int64_t places = 0;
    for (const plan::Move& move : program.moves) {
        places += move.count * (std::int64_t{move.reads} + std::int64_t{move.writes});
        if (places > kMostPlaces) break;
    }
    return places;
}

/// Ids must be positions, because they are used as indices below.
bool ids_fit(const plan::ExecutionPlan& plan, Findings& violations) {
    for (const Rank gpu : plan::ranks_below(std::ssize(plan.gpus))) {
        const plan::ExecutionGpu& of = plan.gpus[gpu.index()];
        if (of.id != gpu) {
            violations.add("gpu-id", fmt::format("the gpu at position {} has the id {}", gpu, of.id),
                           {.gpu = gpu});
        }
        for (std::size_t block = 0; block < of.blocks.size(); ++block) {
            const plan::BlockId position(block);
            if (of.blocks[block].id == position) continue;
            violations.add("tb-id",
                           fmt::format("gpu {}: the thread block at position {} has the id {}", gpu, block,
                                       of.blocks[block].id),
                           {.gpu = gpu, .block = position});
        }
    }
    return violations.empty();
}

/// Signals and waits, releases and acquires, must balance: an extra wait hangs, an extra signal is consumed
/// by the next run.
class Balance {
  public:
    explicit Balance(const ExecutionSteps& steps)
        : steps_(steps), left_(steps.counters.size(), 0), last_(steps.counters.size(), nullptr) {
        for (std::size_t i = 0; i < left_.size(); ++i) left_[i] = steps.counters[i].initial;
        for (const ExecutionStep& step : steps.steps) {
            for (const CounterUse& use : steps.uses_of(step)) {
                left_[use.counter] += use.raises ? 1 : -1;
                last_[use.counter] = &step;
            }
        }
    }

    void check_too_few(Findings& violations) const {
        each([&](const Counter& counter, std::int64_t left, const ExecutionStep& last) {
            if (left >= 0) return;
            violations.add(counter.semaphore ? "semaphore" : "signals",
                           fmt::format("{}: {} {} for which there is no {}", text_of(counter), -left,
                                       counter.semaphore ? "acquires" : "waits",
                                       counter.semaphore ? "release" : "signal"),
                           last.place);
        });
    }

    void check_too_many(Findings& warnings) const {
        each([&](const Counter& counter, std::int64_t left, const ExecutionStep& last) {
            if (left <= (counter.semaphore ? counter.initial : 0)) return;
            const std::int64_t extra = counter.semaphore ? left - counter.initial : left;
            warnings.add(
                counter.semaphore ? "semaphore" : "signals",
                fmt::format("{}: {} {} that nobody waits for, and that the next run takes for its own",
                            text_of(counter), extra, counter.semaphore ? "releases" : "signals"),
                last.place);
        });
    }

  private:
    template <typename Visit>
    void each(Visit visit) const {
        for (std::size_t i = 0; i < left_.size(); ++i) {
            if (last_[i] != nullptr) visit(steps_.counters[i], left_[i], *last_[i]);
        }
    }

    const ExecutionSteps& steps_;
    std::vector<std::int64_t> left_;
    std::vector<const ExecutionStep*> last_;
};

}  // namespace

std::optional<ExecutionProgram> program_of(const plan::ExecutionPlan& plan, const plan::CallSizes& sizes,
                                           std::optional<Rank> root, ExecutionFindings& findings) {
    if (!ids_fit(plan, findings.violations)) return std::nullopt;
    auto steps = resolve(plan, sizes, root, findings.violations, findings.later);
    if (!steps) {
        const auto& kept = findings.violations.kept();
        findings.too_large = !kept.empty() && kept.front().code == "too-large";
        return std::nullopt;
    }
    const std::int64_t touched = places_touched(steps->program);
    if (touched > kMostPlaces || pieces_of(*steps) > kMostPieces) {
        findings.too_large = true;
        findings.violations.add("too-large",
                                "the operations touch more chunks, or parts of chunks, than are judged");
        return std::nullopt;
    }
    const Balance balance(*steps);
    const PlaceIndex places(steps->program);
    const ExecutionProgress progress = progress_of(plan, *steps, places);
    if (progress.hang) {
        findings.violations.add(progress.hang->code, progress.hang->message, progress.hang->place,
                                progress.hang->others);
        balance.check_too_few(findings.violations);
        balance.check_too_many(findings.warnings);
        return std::nullopt;
    }
    balance.check_too_many(findings.warnings);
    ExecutionProgram result;
    result.ordered = order(*steps, places, progress);
    result.steps = std::move(*steps);
    return result;
}

}  // namespace tutti::verify
