// All programs of the standard space, in all their forms, are predicted; there are tens to hundreds, and what
// takes time is the synthesis of their calls, of which many schedules share a few. Where there are more than
// can be kept, the best stay. The best few are predicted again with what takes longer: one schedule for all
// pieces of an overlap, and, for the first of all, schedules by the solvers.

#include "tune/tune.hpp"

#include "rewrite/schedule.hpp"
#include "tune/explore.hpp"
#include "verify/tensor/equivalence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace tutti::tune {
namespace {

constexpr std::size_t kMostKept = 5'000, kKept = 200;
/// Of the time that is left.
constexpr double kExploringShare = 0.2;
/// So many of the best are worth a joint synthesis.
constexpr std::size_t kFinalists = 4;

class Search {
  public:
    Search(const tensor::Program& program, const tensor::Device& device, CallSchedules& calls,
           const TuneRequest& request)
        : program_(program), device_(device), calls_(calls), request_(request) {}

    TuneResult run() {
        result_.unscheduled = predict(program_, device_, calls_, {.bars = true, .joint = false});
        say(fmt::format("written  {:.1f} us, {} kernels", result_.unscheduled.us,
                        result_.unscheduled.kernels));
        keep({{}, program_, result_.unscheduled});
        ExploreOptions explore;
        explore.stop = request_.stop;
        // Programs that are reached and not predicted are worth nothing.
        if (const auto left = request_.stop.remaining()) {
            explore.stop = request_.stop.within(kExploringShare * *left);
        }
        const std::vector<Explored> programs = reachable(program_, explore);
        explore.stop = request_.stop;
        result_.programs = programs.size();
        say(fmt::format("programs {}", programs.size()));
        for (const Explored& one : programs) {
            if (request_.stop.requested()) break;
            try_forms(one, explore);
        }
        result_.stopped = request_.stop.requested();
        keep_best(request_.top);
        finish();
        return std::move(result_);
    }

  private:
    void say(const std::string& line) const {
        if (request_.say) request_.say(line);
    }

    void try_forms(const Explored& explored, ExploreOptions options) {
        bool is_first = true;
        for (const std::int64_t pieces : request_.pieces) {
            options.pieces = pieces;
            for (Explored& form : forms(explored, options)) {
                if (form.steps.empty() || (!is_first && form.program.overlaps().empty())) continue;
                if (request_.stop.requested()) return;
                try_one(std::move(form));
            }
            is_first = false;
        }
        if (result_.schedules.size() > kMostKept) keep_best(kKept);
    }

    void try_one(Explored form) {
        try {
            Prediction prediction = predict(form.program, device_, calls_);
            keep({std::move(form.steps), std::move(form.program), std::move(prediction)});
        } catch (const LimitError&) {
            if (!request_.stop.requested()) throw;
        }
    }

    void keep(Tuned one) {
        ++result_.tried;
        const double us = one.prediction.us;
        const std::int64_t bytes = one.prediction.state_bytes;
        result_.least_state_bytes = std::min(result_.least_state_bytes.value_or(bytes), bytes);
        if (request_.most_state_bytes && static_cast<double>(bytes) > *request_.most_state_bytes) {
            return;
        }
        if (us < best_us_) {
            best_us_ = us;
            say(fmt::format("better   {:.1f} us in {} steps", us, one.steps.size()));
        }
        result_.schedules.push_back(std::move(one));
    }

    void keep_best(std::size_t count) {
        std::ranges::stable_sort(result_.schedules, [](const Tuned& a, const Tuned& b) {
            if (a.prediction.us != b.prediction.us) return a.prediction.us < b.prediction.us;
            return a.steps.size() < b.steps.size();
        });
        if (result_.schedules.size() > count)
            result_.schedules.erase(result_.schedules.begin() + static_cast<std::ptrdiff_t>(count),
                                    result_.schedules.end());
    }

    void finish() {
        for (std::size_t i = 0;
             i < std::min(kFinalists, result_.schedules.size()) && !request_.stop.requested(); ++i) {
            Tuned& one = result_.schedules[i];
            if (!one.program.overlaps().empty())
                one.prediction = predict(one.program, device_, calls_, {.bars = false, .joint = true});
        }
        keep_best(result_.schedules.size());
        if (result_.schedules.empty()) return;
        Tuned& best = result_.schedules.front();
        for (const Call& call : best.prediction.calls) (void)calls_.refined(call, request_.seconds_refine);
        best.prediction =
            predict(best.program, device_, calls_, {.bars = true, .joint = !request_.stop.requested()});
        say(fmt::format("best     {:.1f} us", best.prediction.us));
        for (const Tuned& one : result_.schedules) {
            if (!verify::equivalence(program_, one.program).equivalent)
                throw InternalError("a schedule changes what the program means");
        }
    }

    const tensor::Program& program_;
    const tensor::Device& device_;
    CallSchedules& calls_;
    const TuneRequest& request_;
    TuneResult result_;
    double best_us_ = std::numeric_limits<double>::infinity();
};

}  // namespace

TuneResult tune(const tensor::Program& program, const tensor::Device& device, CallSchedules& calls,
                const TuneRequest& request) {
    return Search(program, device, calls, request).run();
}

}  // namespace tutti::tune
