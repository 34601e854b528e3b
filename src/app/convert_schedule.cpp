// A schedule is verified while it is rewritten, and the new file appears only if it is valid. So every file
// that tutti writes has been verified, also when the schedule comes from elsewhere.

#include "app/convert_schedule.hpp"

#include "core/stoppable_source.hpp"
#include "io/perfetto_json.hpp"
#include "io/schedule_json.hpp"
#include "symmetry/symmetric_schedule.hpp"
#include "verify/schedule_verifier.hpp"
#include "verify/send_times.hpp"
#include "verify/symmetric_verifier.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::app {
namespace {

/// Forwards sends and keeps a copy, to be written as JSON.
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

/// Forwards sends and writes them to a stream until one is out of order. Such a schedule is invalid (V4, or
/// V5 within a tick), so the rest is not needed.
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

/// Forwards sends and writes them to a trace until one is malformed. Such a schedule is invalid, so the rest
/// is not needed.
class TraceTee final : public SendSource {
  public:
    TraceTee(SendSource& from, const Instance& instance, io::PerfettoWriter& to)
        : from_(from), instance_(instance), times_(instance), to_(to) {}
    [[nodiscard]] std::span<const Send> next() override {
        const auto sends = from_.next();
        if (sends.empty() || !makes_sense_) return sends;
        makes_sense_ = std::ranges::all_of(sends, [&](const Send& send) { return exists(send); }) &&
                       std::ranges::is_sorted(sends, starts_before) &&
                       !(last_ && starts_before(sends.front(), *last_));
        last_ = sends.back();
        if (!makes_sense_) return sends;
        times_.take(sends, timed_);
        to_.append(timed_);
        timed_.clear();
        return sends;
    }
    [[nodiscard]] Ticks makespan() const override { return from_.makespan(); }
    [[nodiscard]] std::uint64_t position(std::size_t i) const override { return from_.position(i); }
    [[nodiscard]] bool consecutive() const override { return from_.consecutive(); }
    void finish(Ticks makespan) {
        if (!makes_sense_) throw InternalError("a schedule that makes no sense was found valid");
        times_.finish(timed_);
        to_.append(timed_);
        to_.finish(makespan);
    }

  private:
    [[nodiscard]] bool exists(const Send& send) const {
        return send.chunk.index() < instance_.chunks() &&
               send.link.index() < instance_.topology().links().size() && send.start >= Ticks(0) &&
               send.start <= kMaxStart;
    }

    SendSource& from_;
    const Instance& instance_;
    verify::SendTimes times_;
    io::PerfettoWriter& to_;
    std::vector<TimedSend> timed_;
    std::optional<Send> last_;
    bool makes_sense_ = true;
};

/// The sends in the order of streams, whatever the order in the file.
std::unique_ptr<SendSource> in_order(io::OpenSchedule& schedule, const Instance& instance, Schedule& held) {
    if (schedule.symmetric) return std::make_unique<symmetry::SymmetricSource>(instance, *schedule.symmetric);
    if (schedule.stream) return std::move(schedule.sends);
    held = {schedule.instance, Ticks(0), {}};
    for (auto sends = schedule.sends->next(); !sends.empty(); sends = schedule.sends->next()) {
        held.sends.insert(held.sends.end(), sends.begin(), sends.end());
    }
    held.makespan = schedule.sends->makespan();
    std::ranges::stable_sort(held.sends, starts_before);
    return std::make_unique<ScheduleSource>(held);
}

/// Stops with an error at more sends than any plan can have, before they fill the memory.
class Limited final : public SendSource {
  public:
    explicit Limited(SendSource& from) : from_(from) {}
    [[nodiscard]] std::span<const Send> next() override {
        const auto sends = from_.next();
        seen_ += sends.size();
        if (seen_ > kMost) {
            throw InputError(
                fmt::format("the schedule has more than {} sends, too many for any plan", kMost));
        }
        return sends;
    }
    [[nodiscard]] Ticks makespan() const override { return from_.makespan(); }
    [[nodiscard]] std::uint64_t position(std::size_t i) const override { return from_.position(i); }
    [[nodiscard]] bool consecutive() const override { return from_.consecutive(); }

  private:
    static constexpr std::uint64_t kMost = 20'000'000;
    SendSource& from_;
    std::uint64_t seen_ = 0;
};

Verdict as_json(SendSource& sends, const Instance& instance, const std::string& made_for,
                const std::string& output) {
    Collector collector(sends);
    Verdict verdict = verify::verify(instance, collector);
    if (verdict.valid()) io::write_schedule_json(output, {made_for, verdict.makespan, collector.take()});
    return verdict;
}

Verdict as_stream(SendSource& sends, const Instance& instance, const std::string& made_for,
                  const std::string& output) {
    io::StreamWriter writer(output, {made_for, instance.chunks(), instance.topology().links().size()});
    OrderedTee tee(sends, writer);
    Verdict verdict = verify::verify(instance, tee);
    if (verdict.valid()) tee.finish(verdict.makespan);
    return verdict;
}

Verdict as_trace(SendSource& sends, const Instance& instance, const std::string& /*made_for*/,
                 const std::string& output) {
    io::PerfettoWriter writer(output, instance);
    TraceTee tee(sends, instance, writer);
    Verdict verdict = verify::verify(instance, tee);
    if (verdict.valid()) tee.finish(verdict.makespan);
    return verdict;
}

/// The verdict on a generator form without an expansion; nothing if it has one.
std::optional<Verdict> refusal_of_form(const io::OpenSchedule& schedule, const Instance& instance) {
    if (!schedule.symmetric) return std::nullopt;
    Verdict verdict = verify::verify(instance, *schedule.symmetric);
    return verdict.valid() ? std::nullopt : std::optional(std::move(verdict));
}

}  // namespace

Verdict convert_schedule(io::OpenSchedule& schedule, const Instance& instance, const ConvertOptions& options,
                         const Stop& stop) {
    if (auto refusal = refusal_of_form(schedule, instance)) return std::move(*refusal);
    Schedule held;
    const auto sends = in_order(schedule, instance, held);
    StoppableSource watched(*sends, stop);
    const auto write = options.format == ConvertFormat::Json     ? as_json
                       : options.format == ConvertFormat::Stream ? as_stream
                                                                 : as_trace;
    return write(watched, instance, schedule.instance, options.output);
}

HeldSchedule held_schedule(io::OpenSchedule& schedule, const Instance& instance, const Stop& stop) {
    if (auto refusal = refusal_of_form(schedule, instance)) return {std::move(*refusal), {}};
    Schedule held;
    const auto sends = in_order(schedule, instance, held);
    StoppableSource watched(*sends, stop);
    Limited limited(watched);
    Collector collector(limited);
    HeldSchedule judged;
    judged.verdict = verify::verify(instance, collector);
    judged.schedule = {schedule.instance, judged.verdict.makespan, collector.take()};
    return judged;
}

}  // namespace tutti::app
