// A schedule is judged while it is rewritten, and the new file appears only if it is valid: what leaves tutti
// has been verified, whoever made it.

#include "batch/figures.hpp"
#include "batch/schedule_output.hpp"
#include "batch/text_table.hpp"
#include "cli/failure.hpp"
#include "cli/file_kind.hpp"
#include "cli/heartbeat.hpp"
#include "cli/run.hpp"
#include "cli/target.hpp"
#include "core/stoppable_source.hpp"
#include "io/instance_json.hpp"
#include "io/json_text.hpp"
#include "io/schedule_json.hpp"
#include "verify/schedule_verifier.hpp"
#include "verify/symmetric_verifier.hpp"

#include <algorithm>

namespace tutti::cli {
namespace {

/// Keeps what passes by, to be written as JSON.
class Collector final : public SendSource {
  public:
    explicit Collector(SendSource& from) : from_(from) {}
    [[nodiscard]] std::span<const Send> next() override {
        const auto sends = from_.next();
        sends_.insert(sends_.end(), sends.begin(), sends.end());
        return sends;
    }
    [[nodiscard]] Ticks makespan() const override { return from_.makespan(); }
    [[nodiscard]] std::uint64_t position(std::size_t i) const override { return from_.position(i); }
    [[nodiscard]] std::vector<Send> take() { return std::move(sends_); }

  private:
    SendSource& from_;
    std::vector<Send> sends_;
};

/// Writes what passes by to a stream, as long as it is in order. A file may not be; it is invalid then (V4,
/// or V5 within a tick), so nobody wants the rest.
class OrderedTee final : public SendSource {
  public:
    OrderedTee(SendSource& from, io::StreamWriter& to) : from_(from), to_(to) {}
    [[nodiscard]] std::span<const Send> next() override {
        const auto sends = from_.next();
        if (sends.empty() || !in_order_) return sends;
        in_order_ =
            std::ranges::is_sorted(sends, starts_before) && !(last_ && starts_before(sends.front(), *last_));
        last_ = sends.back();
        if (in_order_) to_.append(sends);
        return sends;
    }
    [[nodiscard]] Ticks makespan() const override { return from_.makespan(); }
    [[nodiscard]] std::uint64_t position(std::size_t i) const override { return from_.position(i); }
    [[nodiscard]] bool consecutive() const override { return from_.consecutive(); }
    void finish(Ticks makespan) {
        if (!in_order_) throw InternalError("a schedule that is out of order was found valid");
        to_.finish(makespan);
    }

  private:
    SendSource& from_;
    io::StreamWriter& to_;
    std::optional<Send> last_;
    bool in_order_ = true;
};

class Conversion {
  public:
    Conversion(const Instance& instance, const ConvertOptions& options)
        : instance_(instance), options_(options) {
        const bool stream = options.output.ends_with(io::kStreamSuffix);
        format_ = options.format.value_or(stream ? ScheduleFormat::Stream : ScheduleFormat::Json);
    }

    Verdict run(SendSource& sends, const std::string& made_for) {
        if (format_ == ScheduleFormat::Json) {
            Collector collector(sends);
            Verdict verdict = verify::verify(instance_, collector);
            if (verdict.valid()) {
                io::write_schedule_json(options_.output, {made_for, verdict.makespan, collector.take()});
            }
            return verdict;
        }
        io::StreamWriter writer(options_.output,
                                {made_for, instance_.chunks(), instance_.topology().links().size()});
        OrderedTee tee(sends, writer);
        Verdict verdict = verify::verify(instance_, tee);
        if (verdict.valid()) tee.finish(verdict.makespan);
        return verdict;
    }

  private:
    const Instance& instance_;
    const ConvertOptions& options_;
    ScheduleFormat format_;
};

/// In the order in which streams are written, whatever the file's.
std::unique_ptr<SendSource> in_order(io::OpenSchedule& schedule, const Instance& instance, Schedule& held) {
    if (schedule.symmetric) return std::make_unique<SymmetricSource>(instance, *schedule.symmetric);
    if (schedule.stream) return std::move(schedule.sends);
    held = {schedule.instance, Ticks(0), {}};
    for (auto sends = schedule.sends->next(); !sends.empty(); sends = schedule.sends->next()) {
        held.sends.insert(held.sends.end(), sends.begin(), sends.end());
    }
    held.makespan = schedule.sends->makespan();
    std::ranges::stable_sort(held.sends, starts_before);
    return std::make_unique<ScheduleSource>(held);
}

Verdict converted(io::OpenSchedule& schedule, const Instance& instance, const ConvertOptions& options,
                  const std::atomic<bool>* interrupted) {
    if (schedule.symmetric) {
        // Without symmetries there is nothing to write out, and the verdict says so.
        Verdict verdict = verify::verify(instance, *schedule.symmetric);
        if (!verdict.valid()) return verdict;
    }
    Schedule held;
    const auto sends = in_order(schedule, instance, held);
    StoppableSource watched(*sends, Stop(std::nullopt, interrupted));
    return Conversion(instance, options).run(watched, schedule.instance);
}

}  // namespace

ExitCode run_convert(const ConvertOptions& options, const Process& process) {
    const ScheduleFiles files = instance_and_schedules(options.files);
    const Instance instance = io::read_instance(files.instance);
    io::OpenSchedule schedule = io::open_schedule(files.schedules.front());
    check_target(options.output, files.instance);
    Streams streams = process.streams;
    Verdict verdict;
    try {
        streams.terminal_err = streams.terminal_err && !options.quiet;
        const Heartbeat heartbeat(streams);
        verdict = converted(schedule, instance, options, process.interrupted);
    } catch (const LimitError&) {
        streams.err << fmt::format("error: interrupted; {} was not written\n", options.output);
        return ExitCode::Interrupted;
    }
    if (options.json) {
        io::Json json{{"file", files.schedules.front()},
                      {"verdict", verdict.valid() ? "valid" : "invalid"},
                      {"makespan", verdict.makespan.count()},
                      {"sends", verdict.sends},
                      {"schedule", nullptr}};
        if (verdict.valid()) json["schedule"] = options.output;
        streams.out << io::json_line(json) << '\n';
    } else if (!options.quiet && verdict.valid()) {
        streams.err << fmt::format("{}: {} sends, verified\n", options.output, verdict.sends);
    }
    if (verdict.valid()) return ExitCode::Done;
    streams.err << fmt::format("error: {}: the schedule is invalid and was not written; V{} {}: {}\n",
                               files.schedules.front(), number_of(verdict.violations.front().rule),
                               code_of(verdict.violations.front().rule), verdict.violations.front().message);
    return ExitCode::Failed;
}

}  // namespace tutti::cli
