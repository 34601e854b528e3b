// Large neighbourhood search (Shaw 1998). To shorten a schedule by one unit, only the chunks that end after
// the new horizon must change, but they need room. So a few late chunks and a few others are taken out, and
// the time-indexed model routes them anew, by the new horizon, around everything that stays; late chunks that
// stay may end late. Each answer "feasible" leaves fewer chunks late; when none is, the schedule is one unit
// shorter, and it begins again.
//
// How many are taken out adapts: more after "infeasible", fewer when there was no answer in time, and where
// one is too many for that the questions get more time. Chunks that
// are not late are drawn at random, rather those that use the links of the late ones; routed anew they come
// back otherwise, which keeps the search from standing still. Without presolve CP-SAT answers such questions
// in tenths of a second: an all-reduce on a 4-cube (16 chunks, 16 ticks) came to 15 ticks in 30 questions, 20
// s on a busy core. Through switches that store it is slower by far.
//
// Times must be few units (model-units); through limited buffers chunks meet in more than links, so there is
// no search.

#include "models/neighbourhoods.hpp"

#include "models/encode/time_indexed.hpp"
#include "models/remote/remote_backend.hpp"

#include "core/rng.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::models {
namespace {

constexpr const char* kName = "cpsat neighbourhoods";
constexpr std::size_t kMostStarts = 60'000;  ///< of the commodities taken out, together
constexpr double kFirstSeconds = 1;          ///< for one question
constexpr double kMostSeconds = 16;
constexpr std::size_t kFirstSize = 3;

class Neighbourhoods {
  public:
    explicit Neighbourhoods(const HorizonRequest& request)
        : request_(request),
          routing_(request.instance, request.stop),
          none_(no_quotient(routing_)),
          rng_(request.seed) {
        result_.bound = request.bound;
        result_.schedule = request.incumbent;
    }

    HorizonResult run() {
        result_.obstacle = why_not();
        if (!result_.obstacle.empty() || request_.stop.requested()) return finished();
        OpenedBackend opened = remote::open_stoppable("cpsat");
        if (!opened) {
            result_.obstacle = "CP-SAT is not there";
            return finished();
        }
        backend_ = std::move(opened.backend);
        while (high() > low() && !request_.stop.requested()) {
            begin(high() - 1);
            if (!result_.obstacle.empty()) break;
            while (late_ > 0 && !request_.stop.requested()) {
                if (!change()) break;
            }
            if (late_ > 0 || !result_.obstacle.empty()) break;
            take();
        }
        return finished();
    }

  private:
    [[nodiscard]] Units64 high() const {
        return (result_.schedule.makespan.count() + routing_.unit() - 1) / routing_.unit();
    }
    [[nodiscard]] Units64 low() const {
        return (request_.bound.value.count() + routing_.unit() - 1) / routing_.unit();
    }
    [[nodiscard]] const Commodity& commodity(std::size_t c) const { return routing_.commodities()[c]; }

    [[nodiscard]] std::string why_not() const {
        if (routing_.has_limited_buffers()) return "switches have limited buffers";
        const Schedule known =
            schedule_of(routing_, high(), transfers_of(routing_, high(), result_.schedule));
        if (known.sends.size() != result_.schedule.sends.size())
            return "the schedule does what the models do not know";
        return {};
    }

    HorizonResult finished() {
        result_.stopped = request_.stop.requested();
        return std::move(result_);
    }

    /// The schedule with a horizon that it misses.
    void begin(Units64 horizon) {
        horizon_ = horizon;
        size_ = kFirstSize;
        seconds_ = kFirstSeconds;
        const std::size_t count = routing_.commodities().size();
        transfers_.assign(count, {});
        for (const Transfer& t : transfers_of(routing_, horizon, result_.schedule))
            transfers_[t.commodity].push_back(t);
        is_late_.assign(count, false);
        starts_.assign(count, 0);
        late_ = 0;
        for (std::size_t c = 0; c < count; ++c) {
            is_late_[c] = ends_late(c);
            if (is_late_[c]) ++late_;
            starts_[c] = starts_of(c);
            if (is_late_[c] && starts_[c] > kMostStarts) result_.obstacle = "a chunk alone is too large";
        }
    }

    [[nodiscard]] bool ends_late(std::size_t c) const {
        const Network& network = routing_.network_of(commodity(c));
        return std::ranges::any_of(transfers_[c], [&](const Transfer& t) {
            Units64 after = 0;
            for (const HopEnd& end : network.hops[t.hop].ends) after = std::max(after, end.after);
            return t.start < commodity(c).ready || t.start + after > horizon_ - commodity(c).spare;
        });
    }

    /// The variables that it would have.
    [[nodiscard]] std::size_t starts_of(std::size_t c) const {
        const Windows windows = windows_of(routing_, commodity(c), horizon_);
        const std::size_t factor = commodity(c).moves == Moves::Sum ? 2 + commodity(c).sources.size() : 1;
        std::size_t starts = 0;
        for (const Hop& hop : routing_.network_of(commodity(c)).hops) {
            const auto [first, last] = windows.starts(hop, horizon_ - commodity(c).spare);
            if (first <= last) starts += factor * static_cast<std::size_t>(last - first + 1);
        }
        return starts;
    }

    /// One or a few late ones and others, some of which use the same links.
    std::vector<std::size_t> pick() {
        std::vector<std::size_t> late, others;
        for (std::size_t c = 0; c < is_late_.size(); ++c) {
            if (!transfers_[c].empty()) (is_late_[c] ? late : others).push_back(c);
        }
        shuffle(late);
        shuffle(others);
        std::vector<std::size_t> picked(late.begin(),
                                        late.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(
                                                           late.size(), 1 + rng_.below(1 + size_ / 2))));
        if (rng_.below(2) == 0) {
            std::vector<bool> used(routing_.instance().topology().links().size());
            for (const std::size_t c : picked) each_link(c, [&](LinkId link) { used[link.index()] = true; });
            std::ranges::stable_sort(others, std::greater(), [&](std::size_t c) {
                std::size_t common = 0;
                each_link(c, [&](LinkId link) { common += used[link.index()] ? 1U : 0U; });
                return common;
            });
        }
        late.erase(late.begin(), late.begin() + std::ssize(picked));
        others.insert(others.end(), late.begin(), late.end());
        std::size_t starts = 0;
        for (const std::size_t c : picked) starts += starts_[c];
        for (const std::size_t c : others) {
            if (picked.size() >= size_) break;
            if (starts + starts_[c] > kMostStarts) continue;
            starts += starts_[c];
            picked.push_back(c);
        }
        return picked;
    }
    void shuffle(std::vector<std::size_t>& all) {
        for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[rng_.below(i)]);
    }
    template <class Visit>
    void each_link(std::size_t c, Visit visit) const {
        const Network& network = routing_.network_of(commodity(c));
        for (const Transfer& t : transfers_[c]) {
            for (const Leg& leg : network.hops[t.hop].legs) visit(leg.link);
        }
    }

    /// Routes some anew. False: nothing more can be tried.
    bool change() {
        const std::vector<std::size_t> picked = pick();
        Asked asked{.horizon = horizon_, .stop = request_.stop, .most_size = request_.options.model_size};
        asked.stays.assign(transfers_.size(), true);
        for (const std::size_t c : picked) asked.stays[c] = false;
        std::vector<Transfer> standing;
        for (std::size_t c = 0; c < transfers_.size(); ++c) {
            if (asked.stays[c]) standing.insert(standing.end(), transfers_[c].begin(), transfers_[c].end());
        }
        asked.standing = standing;
        const Question question = time_indexed(routing_, none_, asked);
        if (question.stopped) return false;
        if (question.too_large) return shrink();
        SolveLimits limits;
        limits.stop = request_.stop.within(Stop::Seconds(seconds_));
        limits.must_end = request_.stop;
        limits.threads = request_.threads;
        limits.seed = rng_.next();
        limits.memory_bytes = request_.memory_bytes;
        limits.presolve = seconds_ > kFirstSeconds;
        const Answer answer = backend_->solve(question.program, limits);
        if (answer.has_solution()) {
            accept(picked, question.read(answer.values));
            return true;
        }
        if (answer.ended == Ended::Failed) return false;
        if (answer.ended != Ended::Infeasible) return shrink();
        if (picked.size() == transfers_.size()) return false;  // nothing stays, and there is no schedule
        if (++refused_ % 4 == 0) ++size_;
        return true;
    }
    /// There was no answer. False: that will not change.
    bool shrink() {
        if (size_ > 1) {
            --size_;
        } else {
            seconds_ *= 2;
        }
        return seconds_ <= kMostSeconds;
    }

    void accept(const std::vector<std::size_t>& picked, const std::vector<Transfer>& transfers) {
        for (const std::size_t c : picked) {
            transfers_[c].clear();
            if (is_late_[c]) --late_;
            is_late_[c] = false;
        }
        for (const Transfer& t : transfers) transfers_[t.commodity].push_back(t);
    }

    void take() {
        std::vector<Transfer> all;
        for (const auto& own : transfers_) all.insert(all.end(), own.begin(), own.end());
        Schedule schedule = schedule_of(routing_, horizon_, std::move(all));
        request_.judge(schedule, kName);
        if (schedule.makespan >= result_.schedule.makespan) {
            throw InternalError(fmt::format("{} claims a schedule within {} ticks but its makespan is {}",
                                            kName, routing_.ticks(horizon_).count(),
                                            schedule.makespan.count()));
        }
        if (request_.story) request_.story(fmt::format("found    {} ({})", schedule.makespan.count(), kName));
        result_.schedule = std::move(schedule);
        result_.found_by = kName;
        if (request_.found) request_.found(result_.schedule.makespan, result_.bound.value);
    }

    const HorizonRequest& request_;
    Routing routing_;
    Quotient none_;
    Rng rng_;
    HorizonResult result_;
    std::unique_ptr<Backend> backend_;

    Units64 horizon_ = 0;
    std::vector<std::vector<Transfer>> transfers_;  ///< per commodity, for that horizon
    std::vector<bool> is_late_;                     ///< per commodity
    std::vector<std::size_t> starts_;               ///< per commodity
    std::size_t late_ = 0;
    std::size_t size_ = kFirstSize;  ///< how many are taken out
    double seconds_ = kFirstSeconds;
    std::size_t refused_ = 0;
};

}  // namespace

HorizonResult search_neighbourhoods(const HorizonRequest& request) {
    const Units64 units = request.incumbent.makespan.count() / unit_of(request.instance);
    if (units > static_cast<Units64>(request.options.model_units)) {
        HorizonResult result;
        result.bound = request.bound;
        result.schedule = request.incumbent;
        result.obstacle = "its times are too many units (--option model-units)";
        return result;
    }
    return Neighbourhoods(request).run();
}

}  // namespace tutti::models
