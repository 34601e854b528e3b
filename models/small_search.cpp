// An all-gather of 1 MiB chunks on a DGX-2 takes 174 us, and its times have no common divisor above a
// fraction of a nanosecond: no program can have a Boolean for each. But a good schedule in small times
// (small_times.hpp) is mostly a good one in real times: the same sends, in the same order, each as early as
// that lets it (retiming.hpp). Betas alone make the smallest programs; with latencies, schedules are found
// that wait for few of them.
//
// Small horizons are asked about from the bound on, and just below what the best schedule takes in small
// times (where latencies are small but count for more than they are, the bound says little), each with every
// group of symmetries, the largest first, and last without any; all that is not answered again with four
// times the time. What is found is asked about again on the same hops, with latencies; and what was found
// soon again with other seeds, because some hops allow for fewer latencies than others.
//   Two DGX-1 with shared NICs, all-reduce: 531 788 000 after 6 s with betas of 1, 2 and 4; on other hops 532
//   488 000 after 13 s, and on these 531 088 000 after 16 s, which is the bound (15 CPU s; best before, with
//   a minute of everything else: 552 059 520). Without presolve nothing in 10 s. DGX-2, all-gather: 175 015
//   040 after 2 s with betas of 1 and 8, 174 215 040, the bound, with betas of 5 and 40 and latencies of 1
//   (18 CPU s in all; 179 457 920 before). Two of CP-SAT's strategies, even if they share one core, find at
//   once what one does not find in 40 s. Without T11 no answer in slices of 6 s.

#include "models/small_search.hpp"

#include "models/encode/exchange.hpp"
#include "models/encode/time_indexed.hpp"
#include "models/remote/remote_backend.hpp"
#include "models/retiming.hpp"
#include "models/small_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tutti::models {
namespace {

constexpr std::array<std::int64_t, 3> kBetas{1, 5, 3};  ///< of the fastest link, in the order they are tried
constexpr std::int64_t kMostSmallTicks = 512;           ///< of a makespan
constexpr std::int64_t kLeastGain = 4;     ///< so many times fewer units than the instance has by itself
constexpr double kFirstShareOfSums = 0.4;  ///< of the time, for the first slice: there is one question or two
constexpr double kFirstShare = 0.05;       ///< for everything else
constexpr double kGrowth = 4;              ///< of slices
constexpr unsigned kTries = 8;             ///< with other seeds, at a question that has been answered
constexpr unsigned kLeastWorkers = 2;      ///< strategies of CP-SAT at a question without sums
constexpr Units64 kHorizonsAtEachEnd = 2;  ///< that are asked about in one turn

/// The instance in one set of small times.
struct Small {
    Small(const Instance& instance, std::int64_t fastest, const Stop& stop)
        : times(small_times(instance, fastest)),
          real(instance, times),
          quick(quickened(instance, times)),
          routing(quick, stop) {}

    std::vector<SmallTimesCertificate::Times> times;
    RealTimes real;
    Instance quick;
    Routing routing;
    std::vector<Quotient> quotients;  ///< the largest group first, the trivial one last
    Units64 low = 0;                  ///< below it a schedule would be shorter than the bound
    std::vector<std::pair<Units64, std::size_t>> answered;  ///< horizon, quotient: there is none
};

class SmallSearch {
  public:
    SmallSearch(const HorizonRequest& request,
                const std::function<bool(const Schedule&, const std::string& who)>& offer)
        : request_(request), offer_(offer), best_schedule_(request.incumbent) {}

    void run() {
        OpenedBackend opened = remote::open_stoppable("cpsat");
        if (!opened || !has_small_times(request_.instance)) return;
        backend_ = std::move(opened.backend);
        for (const std::int64_t fastest : kBetas) add(fastest);
        const auto left = request_.stop.remaining();
        const bool sums = !all_.empty() && all_.front()->routing.has_sums();
        double slice = left ? left->count() * (sums ? kFirstShareOfSums : kFirstShare)
                            : request_.options.slice_seconds * kGrowth;
        for (unsigned round = 0; !is_done(); ++round, slice *= kGrowth) {
            round_ = round;
            bool asked = false;
            // Last where a shorter schedule would be below the bound, if latencies counted for what they are.
            for (const bool below : {false, true}) {
                for (const auto& small : all_) {
                    if ((small->low >= high(*small)) == below) asked = turn(*small, slice) || asked;
                }
            }
            if (!asked) return;
        }
    }

  private:
    [[nodiscard]] bool is_done() const {
        return request_.stop.requested() || best_schedule_.makespan <= request_.bound.value || all_.empty();
    }

    void add(std::int64_t fastest) {
        if (request_.stop.requested()) return;
        auto small = std::make_unique<Small>(request_.instance, fastest, request_.stop);
        const Units64 unit = unit_of(request_.instance);
        std::int64_t ticks = 0;
        while (ticks <= kMostSmallTicks && small->real.of(ticks + 1) <= request_.bound.value) ++ticks;
        if (ticks > kMostSmallTicks || ticks * kLeastGain > request_.bound.value.count() / unit) return;
        if (small->routing.has_sums() && !has_exchanges(small->routing)) return;
        small->low = small->routing.units(Ticks(ticks));
        small->quotients = quotients_of(small->routing, request_.stop.within(Stop::Seconds(1)));
        small->quotients.push_back(no_quotient(small->routing));
        all_.push_back(std::move(small));
    }

    /// Some horizons of a set of small times, each with all groups. False: nothing is left to ask.
    bool turn(Small& small, double slice) {
        bool asked = false;
        for (const Units64 horizon : horizons(small)) {
            for (std::size_t q = 0; q < small.quotients.size() && !is_done(); ++q) {
                const std::pair question(horizon, q);
                if (horizon >= high(small)) break;
                if (std::ranges::find(small.answered, question) != small.answered.end()) continue;
                asked = true;
                const double own = slice / std::pow(kGrowth, static_cast<double>(q));
                if (own < request_.options.slice_seconds) continue;  // its turn comes
                if (ask(small, horizon, q, own)) small.answered.push_back(question);
            }
        }
        return asked;
    }

    /// The first ones that the bound allows, and the last ones that would be shorter than the incumbent.
    std::vector<Units64> horizons(Small& small) {
        std::vector<Units64> result;
        const Units64 end = high(small);
        for (Units64 h = small.low; h < std::min(end, small.low + kHorizonsAtEachEnd); ++h)
            result.push_back(h);
        for (Units64 h = end - 1; h >= (small.low < end ? small.low : 0) && h >= end - kHorizonsAtEachEnd;
             --h) {
            if (std::ranges::find(result, h) == result.end()) result.push_back(h);
        }
        return result;
    }

    /// What the incumbent takes in small times; with a form that it does not have, more is possible.
    [[nodiscard]] Units64 high(const Small& small) const {
        const auto quick = retimed(request_.instance, best_schedule_, small.quick);
        return quick ? small.routing.units(quick->makespan) : small.low;
    }

    /// Whether there is an answer.
    bool ask(Small& small, Units64 horizon, std::size_t q, double slice) {
        if (!small.routing.has_sums() &&
            time_indexed_starts(small.routing, small.quotients[q], horizon) > request_.options.model_starts)
            return true;
        for (tries_ = 0;; ++tries_) {
            const Reply reply = answer(small, horizon, q, slice, {});
            if (!reply.transfers.empty()) {
                use(small, horizon, reply.transfers, q, reply.seconds);
                for (const auto& other : all_) refine(*other, reply.transfers, q, slice);
            }
            // What has been found there may take longer in real times; another answer may not.
            slice -= reply.seconds;
            if (reply.transfers.empty() || tries_ + 1 == kTries || slice < reply.seconds || is_done())
                return reply.is_final;
        }
    }

    /// The same hops at other times, in small times with latencies: what has been found without waits for
    /// more of them than it must.
    void refine(Small& small, const std::vector<Transfer>& ways, std::size_t q, double slice) {
        while (!is_done() && q < small.quotients.size()) {
            const Units64 horizon = high(small) - 1;
            const Reply reply = answer(small, horizon, q, slice, ways);
            if (reply.transfers.empty()) return;
            const Ticks before = best_schedule_.makespan;
            use(small, horizon, reply.transfers, q, reply.seconds);
            if (best_schedule_.makespan >= before) return;
        }
    }

    struct Reply {
        bool is_final = false;  ///< nothing else will be said to this question
        std::vector<Transfer> transfers;
        double seconds = 0;
    };

    Reply answer(const Small& small, Units64 horizon, std::size_t q, double slice,
                 const std::vector<Transfer>& ways) {
        const bool sums = small.routing.has_sums();
        Asked asked{horizon, {}, request_.stop, request_.options.model_size};
        asked.pressed = true;
        asked.ways = ways;
        const Question question = sums ? exchange(small.routing, small.quotients[q], asked)
                                       : time_indexed(small.routing, small.quotients[q], asked);
        if (question.too_large || question.stopped) return {question.too_large, {}, 0};
        const Answer answer = solve(question.program, slice, sums);
        if (answer.has_solution()) return {true, question.read(answer.values), answer.seconds};
        if (answer.ended == Ended::Stopped && answer.seconds > 1)
            tell(small, horizon, q, "no answer yet", answer.seconds);
        if (answer.ended == Ended::Infeasible && answer.seconds > 1)
            tell(small, horizon, q, "none", answer.seconds);
        return {answer.ended == Ended::Infeasible || answer.ended == Ended::Failed, {}, answer.seconds};
    }

    /// Of sums, one thread for each of several seeds: luck counts for more there than what threads share.
    [[nodiscard]] Answer solve(const Program& program, double slice, bool sums) const {
        std::atomic<bool> answered = false;
        const Stop must_end = request_.stop.within(std::nullopt, &answered);
        const Stop stop = must_end.within(Stop::Seconds(slice));
        const unsigned threads = std::max(sums ? 1U : kLeastWorkers, request_.threads);
        const unsigned seeds = sums ? threads : 1;
        std::vector<std::future<Answer>> running;
        for (unsigned i = 0; i < seeds; ++i) {
            const SolveLimits limits{stop,
                                     threads / seeds,
                                     request_.seed + round_ + i + tries_ * threads,
                                     request_.memory_bytes,
                                     must_end,
                                     sums || round_ % 2 == 1};
            running.push_back(std::async(seeds > 1 ? std::launch::async : std::launch::deferred,
                                         [this, &program, &answered, limits] {
                                             Answer answer = backend_->solve(program, limits);
                                             if (answer.ended != Ended::Stopped) answered = true;
                                             return answer;
                                         }));
        }
        Answer best = running.front().get();
        for (std::size_t i = 1; i < running.size(); ++i) {
            Answer other = running[i].get();
            if (best.ended == Ended::Stopped || best.ended == Ended::Failed) best = std::move(other);
        }
        return best;
    }

    void use(Small& small, Units64 horizon, std::vector<Transfer> transfers, std::size_t q, double seconds) {
        const Schedule quick = schedule_of(small.routing, horizon, std::move(transfers));
        const auto real = retimed(small.quick, quick, request_.instance);
        tell(small, horizon, q,
             real ? fmt::format("{} in real times", real->makespan.count()) : "found, not in real times",
             seconds);
        if (!real || real->makespan >= best_schedule_.makespan || !offer_(*real, name(small))) return;
        best_schedule_ = *real;
    }

    [[nodiscard]] static std::string name(const Small& small) {
        return fmt::format("cpsat {} in small times", small.routing.has_sums() ? "exchange" : "pressed");
    }
    void tell(const Small& small, Units64 horizon, std::size_t q, const std::string& what,
              double seconds) const {
        if (!request_.story) return;
        const std::size_t order = small.quotients[q].order;
        request_.story(fmt::format("small    {}: {} ({}{}, {:.3f} s)", small.routing.ticks(horizon).count(),
                                   what, name(small), order > 1 ? fmt::format(", {} symmetries", order) : "",
                                   seconds));
    }

    const HorizonRequest& request_;
    const std::function<bool(const Schedule&, const std::string& who)>& offer_;
    Schedule best_schedule_;
    std::unique_ptr<Backend> backend_;
    std::vector<std::unique_ptr<Small>> all_;
    unsigned round_ = 0, tries_ = 0;
};

}  // namespace

void search_in_small_times(const HorizonRequest& request,
                           const std::function<bool(const Schedule&, const std::string& who)>& offer) {
    SmallSearch(request, offer).run();
}

}  // namespace tutti::models
