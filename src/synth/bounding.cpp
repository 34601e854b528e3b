// Which bounds are worth their time. `latency`, `ingress`, `egress`, `volume` and the regular cuts take
// milliseconds. `cut`, `wave`, `trees`, `growth`, `sum`, `contributions`, `pairs`, `exits`, `deadlines` and
// the quick `flow` are bounded in their work: a few seconds together on any instance, tenths of a second up
// to some hundred NPUs, so they are computed wherever the others leave a gap. The linear programs can take
// for ever; what bounds them is the number of entries of their matrices, so that every machine computes the
// same ones. Once a bound meets the makespan that is known, it is the optimum, and no other can be larger.

#include "synth/bounding.hpp"

#include "core/expects.hpp"
#include "core/useful_rules.hpp"
#include "models/relaxation.hpp"
#include "models/remote/remote_backend.hpp"
#include "synth/judge.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::synth {
namespace {

/// Beyond this even counting the entries of a program takes long.
constexpr std::size_t kMostForPrograms = 300'000;
/// A bound may put so many programs of the largest size to the solver: it tries one horizon after the other.
constexpr std::size_t kProgramsOfABound = 8;

constexpr const char* kNoTime = "no time: the limit came first";
constexpr const char* kCutShort = "no time: the limit ended it early, and more time may prove more";
constexpr const char* kNotChecked = "too large: its certificate takes too long to check";
constexpr const char* kNotNeeded = "not needed: the bound is met";

/// Puts linear programs to HiGHS, if it is there and they are small enough.
template <class Ask>
std::optional<Bound> ask_linear(const Instance& instance, const SearchOptions& options, const Stop& stop,
                                std::string& why_not, const Ask& ask) {
    if (instance.chunks() * instance.topology().links().size() > kMostForPrograms) {
        why_not = fmt::format("too large: {} chunks on {} links are too many for linear programs",
                              instance.chunks(), instance.topology().links().size());
        return std::nullopt;
    }
    const models::OpenedBackend opened = models::remote::open_stoppable("highs");
    if (!opened) {
        why_not = fmt::format("no solver: HiGHS is not there ({})", opened.absence);
        return std::nullopt;
    }
    models::RelaxationLimits limits;
    limits.solve.stop = stop;
    limits.solve.must_end = stop;
    limits.entries = options.bound_entries;
    limits.all_entries = options.bound_entries * kProgramsOfABound;
    models::Relaxed relaxed = ask(*opened.backend, limits);
    if (relaxed.too_large) {
        why_not = fmt::format("too large: a linear program has more than {} entries (--option bound-entries)",
                              options.bound_entries);
    }
    return std::move(relaxed.bound);
}

std::unique_ptr<const Instance> useful_part(const Instance& instance) {
    auto useful = with_useful_rules(instance);
    return useful ? std::make_unique<const Instance>(*std::move(useful)) : nullptr;
}

}  // namespace

Bounding::Bounding(const Instance& instance, const SearchOptions& options)
    : useful_(useful_part(instance)),
      instance_(useful_ ? *useful_ : instance),
      options_(options),
      stages_{{"cut", &Bounding::cut},
              {"wave", &Bounding::wave},
              {"trees", &Bounding::trees},
              {"growth", &Bounding::growth},
              {"sum", &Bounding::sum},
              {"contributions", &Bounding::contributions},
              {"pairs", &Bounding::pairs},
              {"exits", &Bounding::exits},
              {"deadlines", &Bounding::deadlines},
              {"flow", &Bounding::flow},
              {"flow (linear program)", &Bounding::flow_program, false},
              {"time-expanded", &Bounding::time_expanded, false}} {}

void Bounding::begin(const Stop& stop) {
    expects(bounds_.empty());
    for (Bound& bound : bounds::Families(instance_).simple(stop)) enter(std::move(bound));
    if (stop.requested()) {
        for (const Bound& bound : bounds_) cut_short_.push_back({bound.kind, kCutShort});
    }
    check_best();
}

void Bounding::go_on(std::optional<Ticks> enough, const Stop& stop) { run_stages(enough, false, stop); }

void Bounding::go_on_quickly(std::optional<Ticks> enough, const Stop& stop) {
    run_stages(enough, true, stop);
}

void Bounding::run_stages(std::optional<Ticks> enough, bool only_quick, const Stop& stop) {
    expects(!bounds_.empty());
    const Ticks before = best().value;
    for (Stage& stage : stages_) {
        if (stage.done || (only_quick && !stage.is_quick)) continue;
        if (enough && best().value >= *enough) {
            stage.why_not = kNotNeeded;
        } else if (stop.requested()) {
            stage.why_not = kNoTime;
        } else {
            stage.why_not.clear();
            (this->*stage.run)(stage, stop);
            stage.done = !stop.requested();
            if (!stage.done) stage.why_not = kCutShort;
        }
    }
    families_.reset();
    if (best().value > before) check_best();
}

void Bounding::check_best() {
    while (!judge(instance_, best())) drop(bounds_.begin());
}

std::vector<Bound>::iterator Bounding::drop(std::vector<Bound>::iterator bound) {
    const auto stage = std::ranges::find(stages_, bound->kind, &Stage::kind);
    if (stage != stages_.end()) stage->why_not = kNotChecked;
    return bounds_.erase(bound);
}

Stop Bounding::share_of(const Stop& stop) const {
    const auto left = stop.remaining();
    return left ? stop.within(*left * options_.bound_share) : stop;
}

bounds::Families& Bounding::families() {
    if (!families_) families_.emplace(instance_);
    return *families_;
}

void Bounding::check_all() {
    for (auto bound = bounds_.begin(); bound != bounds_.end();)
        bound = judge(instance_, *bound) ? std::next(bound) : drop(bound);
}

std::vector<SkippedBound> Bounding::skipped() const {
    std::vector<SkippedBound> all = cut_short_;
    for (const Stage& stage : stages_) {
        if (!stage.why_not.empty()) all.push_back({stage.kind, stage.why_not});
    }
    return all;
}

void Bounding::enter(Bound bound) {
    const auto same = std::ranges::find(bounds_, bound.kind, &Bound::kind);
    if (same == bounds_.end()) {
        bounds_.push_back(std::move(bound));
    } else if (bound.value > same->value) {
        *same = std::move(bound);
    }
    std::ranges::stable_sort(bounds_, std::ranges::greater{}, &Bound::value);
}

void Bounding::enter_if_any(Stage& stage, std::optional<Bound> bound) {
    if (!bound) {
        stage.why_not = fmt::format("too large: it takes a search from each of {} NPUs over {} links",
                                    instance_.topology().npus(), instance_.topology().links().size());
    } else if (bound->value > Ticks(0)) {
        enter(std::move(*bound));
    }
}

void Bounding::cut(Stage& /*stage*/, const Stop& stop) { enter(families().cut(stop)); }
void Bounding::wave(Stage& stage, const Stop& stop) { enter_if_any(stage, families().wave(stop)); }
void Bounding::trees(Stage& stage, const Stop& stop) { enter_if_any(stage, families().trees(stop)); }
void Bounding::growth(Stage& stage, const Stop& stop) { enter_if_any(stage, families().growth(stop)); }
void Bounding::sum(Stage& stage, const Stop& stop) { enter_if_any(stage, families().sum(stop)); }
void Bounding::contributions(Stage& stage, const Stop& stop) {
    enter_if_any(stage, families().contributions(stop));
}
void Bounding::pairs(Stage& stage, const Stop& stop) { enter_if_any(stage, families().pairs(stop)); }
void Bounding::exits(Stage& stage, const Stop& stop) { enter_if_any(stage, families().exits(stop)); }
void Bounding::deadlines(Stage& stage, const Stop& stop) { enter_if_any(stage, families().deadlines(stop)); }
void Bounding::flow(Stage& /*stage*/, const Stop& stop) { enter(families().flow(stop)); }

void Bounding::flow_program(Stage& stage, const Stop& stop) {
    auto bound = ask_linear(instance_, options_, stop, stage.why_not,
                            [&](const models::Backend& backend, const models::RelaxationLimits& limits) {
                                return models::flow_bound(instance_, backend, limits);
                            });
    if (bound) enter(std::move(*bound));
}

void Bounding::time_expanded(Stage& stage, const Stop& stop) {
    auto bound = ask_linear(instance_, options_, stop, stage.why_not,
                            [&](const models::Backend& backend, const models::RelaxationLimits& limits) {
                                return models::time_expanded_bound(instance_, backend, best().value, limits);
                            });
    if (bound) enter(std::move(*bound));
    std::string why_not;
    bound = ask_linear(instance_, options_, stop, why_not,
                       [&](const models::Backend& backend, const models::RelaxationLimits& limits) {
                           return models::small_times_bound(instance_, backend, best().value, limits);
                       });
    if (bound) enter(std::move(*bound));
}

Bounding bounds_of(const Instance& instance, std::optional<Ticks> enough, const Stop& stop,
                   const SearchOptions& options) {
    Bounding bounding(instance, options);
    bounding.begin(stop);
    bounding.go_on(enough, stop);
    return bounding;
}

std::optional<Bound> checkable_proof(const Instance& instance, Ticks value, const Stop& stop,
                                     Stop::Seconds time) {
    const auto opened = models::remote::open_stoppable("highs");
    if (!opened) return std::nullopt;
    models::RelaxationLimits limits;
    limits.solve.must_end = stop;
    limits.solve.stop = stop.within(time);
    auto proof = models::time_expanded_bound(instance, *opened.backend, value - Ticks(1), limits).bound;
    if (!proof || proof->value < value) return std::nullopt;
    return proof;
}

}  // namespace tutti::synth
