#include "bounds/bounds.hpp"
#include "cli/failure.hpp"
#include "cli/heartbeat.hpp"
#include "cli/verify.hpp"
#include "core/outcome.hpp"
#include "core/stoppable_source.hpp"
#include "io/instance_json.hpp"
#include "io/json_text.hpp"
#include "io/schedule_stream.hpp"
#include "io/verdict_json.hpp"
#include "synth/reachability.hpp"
#include "text/format.hpp"
#include "text/table.hpp"
#include "verify/schedule_verifier.hpp"
#include "verify/symmetric_verifier.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace tutti::cli {
namespace {

/// A bound says how good a valid schedule is; where a receiver cannot be reached there is none.
std::optional<Bound> bound_of(const Instance& instance) {
    if (synth::unreachable(instance)) return std::nullopt;
    return bounds::simple_bounds(instance).front();
}

class ScheduleJudge {
  public:
    ScheduleJudge(const Instance& instance, const VerifyOptions& options, const Process& process)
        : instance_(instance),
          options_(options),
          streams_(process.streams),
          interrupted_(process.interrupted),
          bound_(bound_of(instance)) {}

    ExitCode judge(const std::string& file) const {
        try {
            io::OpenSchedule schedule = io::open_schedule(file);
            note_strangers(file, schedule);
            const Verdict verdict = [&] {
                Streams streams = streams_;
                streams.terminal_err = streams.terminal_err && !options_.quiet;
                const Heartbeat heartbeat(streams);
                return verdict_of(schedule);
            }();
            if (verdict.valid() && bound_ && verdict.makespan < bound_->value) {
                throw InternalError(
                    fmt::format("a valid schedule has makespan {}, below the lower bound {} ({})",
                                verdict.makespan.count(), bound_->value.count(), bound_->kind));
            }
            print(file, schedule.instance, verdict);
            return verdict.valid() ? ExitCode::Done : ExitCode::Failed;
        } catch (const InputError& error) {
            return malformed(file, error);
        } catch (const LimitError&) {
            streams_.err << fmt::format("error: interrupted before {} was judged\n", file);
            return ExitCode::Interrupted;
        }
    }

    [[nodiscard]] ExitCode malformed(const std::string& file, const InputError& error) const {
        return report_malformed(file, error, options_, streams_);
    }

    static ExitCode report_malformed(const std::string& file, const InputError& error,
                                     const VerifyOptions& options, const Streams& streams) {
        const Failure failure = failure_of(std::make_exception_ptr(error));
        if (options.json) {
            io::Json json = io::malformed_json(file, error);
            json.update(failure_json(failure));
            streams.out << io::json_line(json) << '\n';
        }
        report(failure, {}, streams);
        return failure.code;
    }

  private:
    [[nodiscard]] Verdict verdict_of(const io::OpenSchedule& schedule) const {
        const verify::Options limits{options_.max_violations};
        if (schedule.symmetric && !options_.expand) {
            return verify::verify(instance_, *schedule.symmetric, limits);
        }
        if (schedule.sends) {
            StoppableSource watched(*schedule.sends, Stop(std::nullopt, interrupted_));
            return verify::verify(instance_, watched, limits);
        }
        // Without symmetries there is nothing to write out, and the verdict says so.
        Verdict verdict = verify::verify(instance_, *schedule.symmetric, limits);
        if (!verdict.valid()) return verdict;
        symmetry::SymmetricSource all(instance_, *schedule.symmetric);
        StoppableSource watched(all, Stop(std::nullopt, interrupted_));
        return verify::verify(instance_, watched, limits);
    }

    /// A schedule for another instance may still be valid for this one, so this is worth a word, not a
    /// violation.
    void note_strangers(const std::string& file, const io::OpenSchedule& schedule) const {
        if (options_.quiet) return;
        const bool nameless = schedule.instance == io::kStdinName || instance_.name() == io::kStdinName;
        if (schedule.instance != instance_.name() && !nameless) {
            streams_.err << fmt::format("note: {} was made for the instance '{}'; this one is '{}'\n", file,
                                        schedule.instance, instance_.name());
        }
        const std::size_t links = instance_.topology().links().size();
        if (schedule.stream &&
            (schedule.stream->chunks != instance_.chunks() || schedule.stream->links != links)) {
            streams_.err << fmt::format(
                "note: {} was made for {} chunks and {} links; the instance has {} and {}\n", file,
                schedule.stream->chunks, schedule.stream->links, instance_.chunks(), links);
        }
    }

    void print(const std::string& file, const std::string& made_for, const Verdict& verdict) const {
        if (options_.json) {
            io::Json json =
                io::verdict_json(file, verdict, bound_ ? std::optional(bound_->value) : std::nullopt);
            if (bound_) json["bound_kind"] = bound_->kind;
            json["instance"] = instance_.name();
            json["made_for"] = made_for;
            streams_.out << io::json_line(json) << '\n';
            return;
        }
        const Units units = instance_.topology().units();
        streams_.out << (verdict.valid() ? toned(Tone::Good, "VALID", streams_.colour_out)
                                         : toned(Tone::Bad, "INVALID", streams_.colour_out))
                     << "  " << file << '\n';
        std::vector<std::pair<std::string, std::string>> facts{
            {"makespan", text::ticks_text(verdict.makespan, units)},
            {"sends", std::to_string(verdict.sends)}};
        if (bound_)
            facts.emplace_back("bound",
                               fmt::format("{}, {}", text::ticks_text(bound_->value, units), bound_->kind));
        // The gap of an invalid schedule would flatter it.
        if (bound_ && verdict.valid())
            facts.emplace_back("gap", text::gap_text(gap(verdict.makespan, bound_->value)));
        if (!verdict.valid()) facts.emplace_back("violations", std::to_string(verdict.violation_count));
        streams_.out << text::fact_sheet(facts, 2);
        for (const Violation& violation : verdict.violations) print(violation);
        const std::uint64_t left = verdict.violation_count - verdict.violations.size();
        if (left > 0) streams_.out << fmt::format("  ... and {} more (--max-violations)\n", left);
    }

    void print(const Violation& violation) const {
        std::vector<std::string> place;
        if (violation.link && violation.link->index() < instance_.topology().links().size()) {
            place.push_back(name_of(instance_.topology(), *violation.link));
        }
        if (!violation.collective.empty()) place.push_back("collective " + violation.collective);
        streams_.out << fmt::format("  V{} {}: {}{}\n", number_of(violation.rule), code_of(violation.rule),
                                    violation.message,
                                    place.empty() ? "" : fmt::format(" [{}]", fmt::join(place, "; ")));
    }

    const Instance& instance_;
    const VerifyOptions& options_;
    const Streams& streams_;
    const std::atomic<bool>* interrupted_;
    std::optional<Bound> bound_;
};

}  // namespace

ExitCode verify_schedules(const ScheduleFiles& files, const VerifyOptions& options, const Process& process) {
    std::optional<Instance> instance;
    try {
        instance = io::read_instance(files.instance);
    } catch (const InputError& error) {
        return ScheduleJudge::report_malformed(files.instance, error, options, process.streams);
    }
    return with_reproducer(*instance, [&] {
        const ScheduleJudge judge(*instance, options, process);
        ExitCode worst = ExitCode::Done;
        for (const std::string& file : files.schedules) worst = std::max(worst, judge.judge(file));
        return worst;
    });
}

}  // namespace tutti::cli
