#include "verify/plan/execution_progress.hpp"

#include "verify/plan/execution_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

// Decides whether a plan can hang. A thread block executes its operations in order: every thread has a part
// in every data operation, so an operation is complete only after its predecessors. (Happens-before is much
// weaker: it concerns memory, this concerns progress; relaxed signals order no memory but do wake.) A block
// waits for a counter (channel or semaphore) that is too low, for a barrier, or for a packet.
//
// Raising a counter, entering a barrier and writing a packet never block another step, and most counters are
// lowered by only one thread block. In that case steps commute: a step that can run now can still run later,
// and one run, in any order, decides for all.
//
// Semaphores that several thread blocks acquire are different: it matters which block takes the token. First
// a cautious run is tried, in which such an acquire waits until it is sure of a token: with d acquires in
// other blocks and j-1 before it in its own, until initial + releases >= j + d. If that run terminates, every
// run does. (Suppose another one is stuck. Take the first step of the cautious run that the stuck one has not
// done. All before it are done, so initial + releases >= j + d there too, but at most j - 1 + d acquires can
// have been done: a token is left, and the step is not stuck.) If it does not terminate, the choices are
// searched: all other steps run first, so only the orders of competing acquires are distinguished. Deciding
// this is NP-hard in general; beyond kMostStates the answer is "undecided".

namespace tutti::verify {
namespace {

constexpr std::size_t kMostStates = 20'000;
/// The most memory of all states together, in machine words.
constexpr std::size_t kMostWork = std::size_t{1} << 24U;

/// Describes the chain of waits.
class WaitChain {
  public:
    WaitChain(const plan::ExecutionPlan& plan, const ExecutionSteps& steps, const ExecutionRun& run)
        : plan_(plan), steps_(steps), run_(run) {}

    [[nodiscard]] plan::PlanFinding finding() const {
        std::vector<std::uint32_t> walk;
        std::uint32_t block = 0;
        while (run_.done(block)) ++block;
        // Prefer a block that no step can ever wake.
        constexpr std::uint32_t kMostAsked = 256;
        for (std::uint32_t other = block; other < std::min(block + kMostAsked, steps_.blocks()); ++other) {
            if (run_.done(other) || run_.blocked(other).provider != ExecutionProgress::kNone) continue;
            return hopeless(other);
        }
        while (std::ranges::find(walk, block) == walk.end()) {
            walk.push_back(block);
            const std::uint32_t provider = run_.blocked(block).provider;
            if (provider == ExecutionProgress::kNone) return hopeless(block);
            block = steps_.steps[provider].block;
        }
        walk.erase(walk.begin(), std::ranges::find(walk, block));
        return ring(walk);
    }

  private:
    [[nodiscard]] std::string words(std::uint32_t step) const {
        const ExecutionStep& at = steps_.steps[step];
        return fmt::format("{} ({})", text_of(at.place), text_of(plan_, at));
    }

    [[nodiscard]] std::string reason(const ExecutionRun::Blocked& blocked) const {
        using Cause = ExecutionRun::Blocked::Cause;
        switch (blocked.cause) {
            case Cause::Counter: {
                const Counter& counter = steps_.counters[blocked.what];
                return fmt::format("{} of {}", counter.semaphore ? "a release" : "a signal",
                                   text_of(counter));
            }
            case Cause::Barrier:
                return "the barrier";
            case Cause::Packet:
                return "a packet";
        }
        return {};
    }

    [[nodiscard]] plan::PlanFinding hopeless(std::uint32_t block) const {
        const ExecutionRun::Blocked blocked = run_.blocked(block);
        const bool packet = blocked.cause == ExecutionRun::Blocked::Cause::Packet;
        return {
            "deadlock",
            fmt::format("{} waits for ever for {}: {}", words(blocked.step), reason(blocked),
                        packet ? fmt::format("nobody writes the packets of scratch chunk {} of gpu {}",
                                             run_.packet_chunk(blocked.what), run_.packet_gpu(blocked.what))
                               : "no step is left that gives one"),
            steps_.steps[blocked.step].place,
            {}};
    }

    [[nodiscard]] plan::PlanFinding ring(const std::vector<std::uint32_t>& walk) const {
        constexpr std::size_t kMostWords = 12;
        plan::PlanFinding finding{"deadlock", {}, {}, {}};
        std::vector<std::string> parts;
        for (std::size_t i = 0; i < walk.size(); ++i) {
            const ExecutionRun::Blocked blocked = run_.blocked(walk[i]);
            const plan::Place place = steps_.steps[blocked.step].place;
            if (i == 0) {
                finding.place = place;
            } else {
                finding.others.push_back(place);
            }
            if (i >= kMostWords) continue;
            parts.push_back(fmt::format("{} waits for {}, which takes {}", words(blocked.step),
                                        reason(blocked), words(blocked.provider)));
        }
        if (walk.size() > kMostWords) parts.push_back(fmt::format("{} more", walk.size() - kMostWords));
        finding.message = fmt::format("these thread blocks wait for each other: {}; and so round again",
                                      fmt::join(parts, "; "));
        return finding;
    }

    const plan::ExecutionPlan& plan_;
    const ExecutionSteps& steps_;
    const ExecutionRun& run_;
};

enum class Search { AllEnd, Hang, TooMany };

/// Searches the orders of competing acquires. `run` becomes one that hangs, or one that terminates.
Search explore(ExecutionRun& run) {
    std::vector<ExecutionRun> open{run};
    std::set<std::vector<std::uint32_t>> seen;
    std::size_t work = 0;
    while (!open.empty()) {
        ExecutionRun state = std::move(open.back());
        open.pop_back();
        state.advance();
        const auto choices = state.choices();
        if (choices.empty()) {
            run = std::move(state);
            if (!run.ended()) return Search::Hang;
            continue;
        }
        if (!seen.insert(state.key()).second) continue;
        work += state.weight() * choices.size();
        if (seen.size() > kMostStates || work > kMostWork) return Search::TooMany;
        for (const auto& choice : choices) {
            open.push_back(state);
            open.back().take(choice);
        }
    }
    return Search::AllEnd;
}

}  // namespace

ExecutionProgress progress_of(const plan::ExecutionPlan& plan, const ExecutionSteps& steps,
                              const PlaceIndex& places) {
    const ExecutionRules rules(steps, places);
    ExecutionRun run(rules, ExecutionRun::Acquires::Cautious);
    run.advance();
    if (!run.ended() && rules.competes()) {
        run = ExecutionRun(rules, ExecutionRun::Acquires::Chosen);
        if (rules.too_wide() || explore(run) == Search::TooMany) {
            return {plan::PlanFinding{
                        "semaphore",
                        "thread blocks compete for semaphores in too many ways to tell whether one of "
                        "them hangs",
                        {},
                        {}},
                    {}};
        }
    }
    if (!run.ended()) return {WaitChain(plan, steps, run).finding(), {}};
    return {std::nullopt, run.first_writers()};
}

}  // namespace tutti::verify
