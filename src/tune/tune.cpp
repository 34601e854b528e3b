// All programs of the standard space, in all their forms, are predicted; there are tens to hundreds, and what
// takes time is the synthesis of their calls, of which many schedules share a few. So all are guessed first,
// with closed forms in place of calls that are not known yet, and predicted in that order: when the time is
// over, the likely ones are there, and those whose calls are all known come for nothing. Where there are more
// than can be kept, the best guesses stay. The best few are predicted again with what takes longer: one
// schedule for all pieces of an overlap, and, for the first of all, schedules by the solvers.

#include "tune/tune.hpp"

#include "rewrite/schedule.hpp"
#include "tune/explore.hpp"
#include "verify/tensor/equivalence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace tutti::tune {
namespace {

constexpr std::size_t kMostKept = 5'000;
/// Of the time that is left then: until programs are reached, and have forms, and forms are predicted. The
/// rest is for the best few.
constexpr double kExploringShare = 0.2, kFormingShare = 0.3, kPredictingShare = 0.7;
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
        guess_all();
        predict_all();
        keep_best(request_.top);
        finish();
        return std::move(result_);
    }

  private:
    void say(const std::string& line) const {
        if (request_.say) request_.say(line);
    }

    /// A form, and what it would take if calls took what they are estimated to.
    struct Guess {
        Explored form;
        double us;
    };

    [[nodiscard]] Stop share(double of_what_is_left) const {
        const auto left = request_.stop.remaining();
        return left ? request_.stop.within(of_what_is_left * *left) : request_.stop;
    }

    void guess_all() {
        const Stop exploring = share(kExploringShare);
        const std::vector<Explored> programs = reachable(program_, {.stop = exploring});
        result_.stopped = exploring.requested();
        result_.programs = programs.size();
        say(fmt::format("programs {}", programs.size()));
        const Stop stop = share(kFormingShare);
        for (const Explored& one : programs) {
            if (stop.requested()) {
                result_.stopped = true;
                break;
            }
            guess_forms(one);
            if (guesses_.size() > 2 * kMostKept) keep_best_guesses();
        }
        keep_best_guesses();
    }

    void guess_forms(const Explored& explored) {
        bool is_first = true;
        for (const std::int64_t pieces : request_.pieces) {
            for (Explored& form : forms(explored, {.pieces = pieces})) {
                if (form.steps.empty() || (!is_first && form.program.overlaps().empty())) continue;
                const double us = predict(form.program, device_, calls_, {.guess = true}).us;
                guesses_.push_back({std::move(form), us});
            }
            is_first = false;
        }
    }

    void keep_best_guesses() {
        std::ranges::stable_sort(guesses_, {}, &Guess::us);
        if (guesses_.size() > kMostKept)
            guesses_.erase(guesses_.begin() + static_cast<std::ptrdiff_t>(kMostKept), guesses_.end());
    }

    void predict_all() {
        const Stop stop = share(kPredictingShare);
        for (Guess& guess : guesses_) {
            if (request_.stop.requested()) {
                result_.stopped = true;
                return;
            }
            if (!stop.requested() || all_known(guess.form.program)) {
                predict_one(std::move(guess.form));
            } else {
                result_.stopped = true;
            }
        }
    }

    [[nodiscard]] bool all_known(const tensor::Program& program) {
        const Prediction guess = predict(program, device_, calls_, {.guess = true});
        return std::ranges::all_of(guess.calls, [&](const Call& call) { return calls_.has(call); });
    }

    void predict_one(Explored form) {
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
    std::vector<Guess> guesses_;
    double best_us_ = std::numeric_limits<double>::infinity();
};

}  // namespace

TuneResult tune(const tensor::Program& program, const tensor::Device& device, CallSchedules& calls,
                const TuneRequest& request) {
    return Search(program, device, calls, request).run();
}

}  // namespace tutti::tune
