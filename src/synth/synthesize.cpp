#include "synth/synthesize.hpp"

#include "bounds/bounds.hpp"
#include "heuristics/greedy.hpp"
#include "synth/reachability.hpp"
#include "verify/schedule_verifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

namespace tutti::synth {
namespace {

constexpr std::array<Method, 2> kMethods{{
    {"auto", "the best method for the instance; today that is greedy"},
    {"greedy", "match chunks to free links in time; polynomial, any size"},
}};

class Clock {
  public:
    [[nodiscard]] double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    }

  private:
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// Nothing leaves unverified. What fails here is a bug of ours, not of the user's input.
void check(const Instance& instance, const Schedule& schedule, Ticks bound) {
    const Verdict verdict = verify::verify(instance, schedule);
    if (!verdict.valid()) {
        const Violation& first = verdict.violations.front();
        throw InternalError(fmt::format("greedy made a schedule that breaks V{} ({}): {}",
                                        number_of(first.rule), code_of(first.rule), first.message));
    }
    if (verdict.makespan < bound) {
        throw InternalError(fmt::format("a verified schedule has makespan {}, below the lower bound {}",
                                        verdict.makespan.count(), bound.count()));
    }
}

}  // namespace

std::span<const Method> methods() { return kMethods; }

Result synthesize(const Instance& instance, const Request& request) {
    if (std::ranges::find(kMethods, request.method, &Method::name) == kMethods.end()) {
        throw InputError(fmt::format("unknown method '{}'", request.method));
    }
    const Clock clock;
    const auto tell = [&](const std::string& line) {
        if (request.story) request.story(line);
    };
    if (const auto who = unreachable(instance)) throw InfeasibleError(*who);

    Result result;
    result.bound = bounds::simple_bounds(instance, request.stop).front();
    tell(fmt::format("bound    {} ({}), {:.3f} s", result.bound.value.count(), result.bound.kind,
                     clock.seconds()));

    Rng rng(request.seed);
    auto schedule = heuristics::greedy(instance, rng, result.bound.value, request.threads, request.stop);
    if (!schedule) throw LimitError("stopped by the time limit or an interrupt before there was a schedule");
    result.method = "greedy";
    result.schedule = std::move(*schedule);
    tell(fmt::format("greedy   {} in {} sends, {:.3f} s", result.schedule.makespan.count(),
                     result.schedule.sends.size(), clock.seconds()));

    result.stopped = request.stop.requested() && result.schedule.makespan > result.bound.value;
    check(instance, result.schedule, result.bound.value);
    result.status = result.schedule.makespan == result.bound.value ? Status::Optimal : Status::Feasible;
    tell(fmt::format("verified{}, {:.3f} s",
                     result.status == Status::Optimal ? " and optimal: the makespan meets the bound" : "",
                     clock.seconds()));
    result.seconds = clock.seconds();
    return result;
}

}  // namespace tutti::synth
