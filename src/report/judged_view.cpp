#include "report/judged_view.hpp"

#include "bounds/bounds.hpp"
#include "core/stoppable_source.hpp"
#include "io/collective_result_json.hpp"
#include "io/schedule_stream.hpp"
#include "report/sample.hpp"
#include "report/schedule_view.hpp"
#include "symmetry/symmetric_schedule.hpp"
#include "verify/schedule_verifier.hpp"
#include "verify/symmetric_verifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tutti::report {
namespace {

/// A schedule's file, opened so that its sends can be read several times.
class Replayed {
  public:
    Replayed(const Instance& instance, std::string path, const Stop& stop)
        : instance_(instance), path_(std::move(path)), stop_(stop), opened_(io::open_schedule(path_, stop)) {
        // A text is held; so is a stream that cannot be opened again.
        if (opened_.symmetric || (opened_.stream && path_ != "-")) return;
        held_.emplace(Schedule{opened_.instance, Ticks(0), {}});
        for (auto some = opened_.sends->next(); !some.empty(); some = opened_.sends->next()) {
            held_->sends.insert(held_->sends.end(), some.begin(), some.end());
        }
        held_->makespan = opened_.sends->makespan();
    }

    [[nodiscard]] Verdict verdict() const {
        if (opened_.symmetric) return verify::verify(instance_, *opened_.symmetric);
        const auto sends = walk();
        return verify::verify(instance_, *sends);
    }

    [[nodiscard]] std::unique_ptr<SendSource> walk() const {
        std::unique_ptr<SendSource> from;
        if (held_) {
            from = std::make_unique<ScheduleSource>(*held_);
        } else if (opened_.symmetric) {
            from = std::make_unique<symmetry::SymmetricSource>(instance_, *opened_.symmetric);
        } else {
            from = std::move(io::open_schedule(path_).sends);
            if (!from) throw InputError("the schedule was changed while it was being read", {}, path_);
        }
        return std::make_unique<Watched>(std::move(from), stop_);
    }

  private:
    /// A StoppableSource that owns what it watches.
    class Watched final : public SendSource {
      public:
        Watched(std::unique_ptr<SendSource> from, const Stop& stop)
            : from_(std::move(from)), watched_(*from_, stop) {}
        [[nodiscard]] std::span<const Send> next() override { return watched_.next(); }
        [[nodiscard]] Ticks makespan() const override { return watched_.makespan(); }
        [[nodiscard]] std::uint64_t position(std::size_t i) const override { return watched_.position(i); }
        [[nodiscard]] bool consecutive() const override { return watched_.consecutive(); }

      private:
        std::unique_ptr<SendSource> from_;
        StoppableSource watched_;
    };

    const Instance& instance_;
    std::string path_;
    Stop stop_;
    io::OpenSchedule opened_;
    std::optional<Schedule> held_;
};

/// Beyond it a page has no list of them.
constexpr std::size_t kMostCollectives = 4096;

std::vector<Bound> bounds_for(const Instance& instance, const ViewOptions& options, Ticks makespan,
                              const Stop& stop) {
    if (!options.bounds) return bounds::simple_bounds(instance, stop);
    const auto& claim = options.claim;
    if (!claim) return options.bounds(instance, makespan, stop);
    // What was claimed by something else (a solver, a linear program) will not be found again.
    constexpr std::array<std::string_view, 7> kOurs{"cut", "wave", "trees",        "growth",
                                                    "sum", "flow", "contributions"};
    const bool is_ours = std::ranges::find(kOurs, claim->kind) != kOurs.end();
    return options.bounds(instance, is_ours ? claim->value : Ticks(0), stop);
}

}  // namespace

JudgedView judged_view(const Instance& instance, const std::string& schedule_file, const ViewOptions& options,
                       const Stop& stop) {
    if (instance.topology().links().size() > options.most_links) {
        throw InputError(fmt::format("the network has {} links, too many for a page (at most {})",
                                     grouped_digits(instance.topology().links().size()),
                                     grouped_digits(options.most_links)));
    }
    const Replayed replayed(instance, schedule_file, stop);
    JudgedView judged;
    judged.verdict = replayed.verdict();
    if (!judged.verdict.valid()) return judged;
    if (judged.verdict.sends > options.most_sends_read) {
        throw InputError(
            fmt::format("the schedule has {} sends, too many for a page (at most {})",
                        grouped_digits(judged.verdict.sends), grouped_digits(options.most_sends_read)),
            {}, schedule_file);
    }
    const auto bounds = bounds_for(instance, options, judged.verdict.makespan, stop);
    const Subject subject{instance, judged.verdict.makespan, [&] { return replayed.walk(); },
                          bounds,   options.claim,           options.key};
    judged.view = schedule_view(subject, options.most_sends);
    if (instance.collectives().size() <= kMostCollectives) {
        judged.view["collectives"] =
            io::collective_results_json(collective_results(instance, judged.verdict.finish));
    }
    return judged;
}

}  // namespace tutti::report
