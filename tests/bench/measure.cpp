// Each figure is made in a process of its own. What it takes is processor time: on a machine that others use
// too, the clock on the wall says little. It counts from when the solvers' libraries are loaded to the
// verified schedule, bounds and the writing of models included.

#include "tests/bench/measure.hpp"

#include "bounds/bounds.hpp"
#include "io/json_text.hpp"
#include "models/backends/registry.hpp"
#include "models/encode/interval.hpp"
#include "models/encode/time_indexed.hpp"
#include "synth/composition.hpp"
#include "synth/judge.hpp"
#include "synth/synthesize.hpp"
#include "tests/bench/child.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <ctime>
#include <thread>

namespace tutti::bench {
namespace {

double processor_seconds() {
    timespec now{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// How much slower than alone a busy machine may be before a limit on the wall's clock ends what has
/// processor time left.
constexpr double kBusy = 4;
/// What is killed when it has not stopped by then.
constexpr Stop::Seconds kGrace{20};

/// Raises a flag once this process has had so much processor time from now on.
class ProcessorLimit {
  public:
    explicit ProcessorLimit(double seconds)
        : watcher_([this, end = processor_seconds() + seconds](const std::stop_token& over) {
              while (!over.stop_requested() && processor_seconds() < end) {
                  std::this_thread::sleep_for(std::chrono::milliseconds(20));
              }
              reached_ = true;
          }) {}
    /// `auto` shares out the time until a deadline, so it needs one: by the wall's clock, on a busy machine,
    /// four times as far away.
    [[nodiscard]] Stop stop(double seconds) const { return Stop(Stop::Seconds(kBusy * seconds), &reached_); }

  private:
    std::atomic<bool> reached_ = false;
    std::jthread watcher_;
};

io::Json to_json(const Measured& m) {
    io::Json json;
    if (m.makespan) json["makespan"] = m.makespan->count();
    if (m.bound) json["bound"] = m.bound->count();
    if (m.composed) json["composed"] = m.composed->count();
    json["seconds"] = m.seconds;
    json["who"] = m.who;
    json["trouble"] = m.trouble;
    return json;
}

Measured from_json(const io::Json& json) {
    const auto ticks = [&](const char* key) -> std::optional<Ticks> {
        if (!json.contains(key)) return std::nullopt;
        return Ticks(json.at(key).get<std::int64_t>());
    };
    return {ticks("makespan"),  ticks("bound"), ticks("composed"),
            json.at("seconds"), json.at("who"), json.at("trouble")};
}

Measured measured(const std::function<Measured()>& work, const Limits& limits) {
    const Stop::Seconds most = Stop::Seconds(kBusy * limits.seconds) + kGrace;
    const ChildEnd end = in_child([&] { return io::json_line(to_json(work())); }, most, limits.bytes);
    Measured result;
    if (!end.death.empty()) {
        result.trouble = end.death;
        return result;
    }
    io::Source source = io::Source::of_text(end.said, "a child's figures");
    return from_json(io::parse_json(source));
}

/// The walk of one encoding.
class Lone {
  public:
    Lone(const Instance& instance, const Contestant& who, const models::Backend& backend, const Stop& stop,
         bool story)
        : instance_(instance), who_(who), backend_(backend), stop_(stop), story_(story), routing_(instance) {}

    Measured walk() {
        Measured result;
        if (!routing_.incomplete().empty()) result.trouble = routing_.incomplete();
        if (who_.encoding == Encoding::Intervals) result.trouble = models::why_no_interval(routing_);
        if (who_.encoding == Encoding::Symmetric) {
            quotient_ = models::quotient_of(routing_, stop_);
            if (!quotient_) result.trouble = "no symmetry";
        }
        if (!result.trouble.empty()) return result;
        bound_ = bounds::all_bounds(instance_, stop_).front();
        for (auto at = (bound_.value.count() + routing_.unit() - 1) / routing_.unit();; ++at) {
            result.bound = routing_.ticks(at);
            models::Answer answer = ask(at, who_.encoding);
            if (answer.ended == models::Ended::Infeasible && who_.encoding == Encoding::Symmetric) {
                answer = ask(at, Encoding::TimeIndexed);
            }
            if (answer.has_solution()) {
                result.makespan = found_->makespan;
                return result;
            }
            if (answer.ended == models::Ended::Failed) result.trouble = "failed: " + answer.words;
            if (answer.ended != models::Ended::Infeasible) return result;
        }
    }

  private:
    models::Answer ask(models::Units64 at, Encoding encoding) {
        const models::Question question =
            encoding == Encoding::Intervals
                ? models::interval(routing_, {at})
                : models::time_indexed(
                      routing_, encoding == Encoding::Symmetric ? *quotient_ : models::no_quotient(routing_),
                      {at});
        models::SolveLimits limits;
        limits.stop = stop_;
        models::Answer answer = backend_.solve(question.program, limits);
        if (answer.has_solution()) {
            found_ = models::schedule_of(routing_, at, question.read(answer.values));
            synth::judge(instance_, *found_, bound_, std::string(who_.title));
        }
        if (story_) fmt::print(stderr, "    horizon {}: {} ({:.2f} s)\n", at, answer.words, answer.seconds);
        return answer;
    }

    const Instance& instance_;
    const Contestant& who_;
    const models::Backend& backend_;
    const Stop stop_;
    const bool story_;
    const models::Routing routing_;
    std::optional<models::Quotient> quotient_;
    Bound bound_;
    std::optional<Schedule> found_;
};

Measured lone(const Instance& instance, const Contestant& who, const Limits& limits) {
    const models::OpenedBackend opened = models::find_backend(who.backend)->open();
    Measured result;
    if (!opened) {
        result.trouble = "not built in";
        return result;
    }
    const ProcessorLimit limit(limits.seconds);
    const double begin = processor_seconds();
    result = Lone(instance, who, *opened.backend, limit.stop(limits.seconds), limits.story).walk();
    result.seconds = processor_seconds() - begin;
    result.who = who.title;
    return result;
}

synth::Result synthesized(const Instance& instance, const Stop& stop, bool story) {
    synth::Request request;
    request.stop = stop;
    if (story) request.story = [](const std::string& line) { fmt::print(stderr, "    {}\n", line); };
    return synth::synthesize(instance, request);
}

Measured by_auto(const Instance& instance, const Limits& limits) {
    std::vector<models::OpenedBackend> loaded;
    for (const models::BackendEntry& entry : models::backends()) loaded.push_back(entry.open());
    const ProcessorLimit limit(limits.seconds);
    const double begin = processor_seconds();
    const synth::Result result = synthesized(instance, limit.stop(limits.seconds), limits.story);
    Measured figures{
        result.schedule.makespan, result.bound.value, result.composed, processor_seconds() - begin, {}, {}};
    figures.who = figures.proven() ? result.proof : result.method;
    const auto halves = synth::halves_of(instance);
    if (!halves || figures.composed) return figures;
    const ProcessorLimit again(limits.seconds);
    const Stop stop = again.stop(limits.seconds);
    const synth::Result first = synthesized(halves->reduce_scatter, stop, false);
    const synth::Result second = synthesized(halves->all_gather, stop, false);
    if (first.status == Status::Optimal && second.status == Status::Optimal) {
        figures.composed = first.schedule.makespan + second.schedule.makespan;
    }
    return figures;
}

}  // namespace

Measured alone(const Instance& instance, const Contestant& who, const Limits& limits) {
    return measured([&] { return lone(instance, who, limits); }, limits);
}

Measured automatically(const Instance& instance, const Limits& limits) {
    return measured([&] { return by_auto(instance, limits); }, limits);
}

std::string solvers() {
    const auto list = [] {
        std::string all;
        for (const models::BackendEntry& entry : models::backends()) {
            const models::OpenedBackend opened = entry.open();
            if (!opened) continue;
            all += fmt::format("{}{} {}", all.empty() ? "" : ", ", entry.solver,
                               opened.backend->library().version);
        }
        return all.empty() ? std::string("no solver") : all;
    };
    return in_child(list, Stop::Seconds(60), Limits{}.bytes).said;
}

}  // namespace tutti::bench
