#include "heuristics/flood_run.hpp"

#include <algorithm>
#include <bit>

namespace tutti::heuristics {
namespace {

/// Hops served between two looks at the clock.
constexpr std::uint32_t kServedPerPoll = 4096;
/// Candidates whose heights are compared.
constexpr int kMaxCompared = 64;

/// Clears bits [begin, end) of a row. Returns how many were set.
std::size_t clear_range(Word* row, std::size_t begin, std::size_t end) {
    std::size_t cleared = 0;
    for (std::size_t w = begin / kWordBits; w * kWordBits < end; ++w) {
        Word mask = ~Word{0};
        if (w * kWordBits < begin) mask &= ~Word{0} << (begin % kWordBits);
        if ((w + 1) * kWordBits > end) mask &= (Word{1} << (end % kWordBits)) - 1;
        cleared += static_cast<std::size_t>(std::popcount(row[w] & mask));
        row[w] &= ~mask;
    }
    return cleared;
}

/// Calls f(begin, end) for each run of spreads with the same list of targets.
template <class F>
void for_equal_targets(const std::vector<Spread>& spreads, F&& f) {
    for (std::size_t i = 0; i < spreads.size();) {
        std::size_t end = i + 1;
        while (end < spreads.size() && spreads[end].targets.data() == spreads[i].targets.data() &&
               spreads[end].targets.size() == spreads[i].targets.size()) {
            ++end;
        }
        f(i, end);
        i = end;
    }
}

}  // namespace

FloodRun::FloodRun(const FloodTask& task, Rng& rng, const Stop& stop)
    : task_(task),
      net_(task.network),
      rng_(rng),
      stop_(stop),
      has_(net_.nodes(), task.problem.spreads.size()),
      claimed_(net_.nodes(), task.problem.spreads.size(), true),
      idle_(net_.hops(), 1),
      woken_(net_.hops(), 0),
      frees_(net_.lanes, 0),
      brings_(net_.lanes, 0),
      events_(net_.lanes) {
    for (std::size_t size = 0; size < net_.sizes(); ++size) {
        for (std::size_t h = 0; h < net_.hops(); ++h) {
            frees_[net_.times(size, h).free_lane] = 1;
            brings_[net_.times(size, h).arrival_lane] = 1;
        }
    }
    ready_.reserve(net_.hops());
    batch_.reserve(net_.hops());
    keys_.reserve(net_.hops());
    set_up_claims();
    set_up_releases();
    use_clusters_ = task.options.levels > 0 && !task.levels.empty();
    if (use_clusters_) set_up_clusters();
    if (task.options.deadline > Ticks(0)) {
        deadline_ = task.options.deadline;
        Ticks fastest = Ticks::max();
        for (std::size_t h = 0; h < net_.hops(); ++h) fastest = std::min(fastest, net_.times(0, h).transit);
        last_start_ = deadline_ - fastest;
    }
    solution_.transfers.reserve(missing_);
}

void FloodRun::set_up_claims() {
    const auto& spreads = task_.problem.spreads;
    for_equal_targets(spreads, [&](std::size_t begin, std::size_t end) {
        for (const NodeId target : spreads[begin].targets) {
            missing_ += clear_range(claimed_.row(target.index()), begin, end);
        }
    });
    for (std::size_t i = 0; i < spreads.size(); ++i) {
        for (const NodeId source : spreads[i].sources) {
            if (!claimed_.test(source.index(), i)) --missing_;
            claimed_.set(source.index(), i);
        }
    }
}

void FloodRun::set_up_releases() {
    const auto& spreads = task_.problem.spreads;
    for (std::size_t i = 0; i < spreads.size(); ++i) {
        const Ticks ready = std::max(spreads[i].ready, task_.problem.calendar.horizon());
        for (const NodeId source : spreads[i].sources) {
            releases_.push_back({ready, source.value(), static_cast<std::uint32_t>(i)});
        }
    }
    std::ranges::stable_sort(releases_, {}, &Release::tick);
    if (!releases_.empty()) now_ = releases_.front().tick;
}

void FloodRun::set_up_clusters() {
    const auto& spreads = task_.problem.spreads;
    target_ = static_cast<double>(task_.least.count());
    const std::size_t count = std::min(task_.options.levels, task_.levels.size());
    for (const ClusterLevel& level : std::span(task_.levels).first(count)) {
        LevelState& state = levels_.emplace_back(LevelState{BitRows(level.clusters(), spreads.size(), true),
                                                            std::vector<std::size_t>(level.clusters(), 0),
                                                            std::vector<std::uint8_t>(level.clusters(), 0)});
        for_equal_targets(spreads, [&](std::size_t begin, std::size_t end) {
            for (const NodeId target : spreads[begin].targets) {
                const std::uint32_t cluster = level.cluster_of[target.index()];
                state.missing[cluster] += clear_range(state.claimed.row(cluster), begin, end);
            }
        });
        for (std::size_t i = 0; i < spreads.size(); ++i) {
            for (const NodeId source : spreads[i].sources) {
                const std::uint32_t cluster = level.cluster_of[source.index()];
                if (!state.claimed.test(cluster, i)) --state.missing[cluster];
                state.claimed.set(cluster, i);
            }
        }
        for (std::size_t c = 0; c < level.clusters(); ++c) {
            const double least =
                static_cast<double>(now_.count()) + static_cast<double>(state.missing[c]) * level.period[c];
            target_ = std::max(target_, least);
        }
    }
}

std::optional<SpreadSolution> FloodRun::run() {
    while (missing_ > 0) {
        const bool releases = next_release_ < releases_.size();
        if (events_.empty() && !releases && !relax()) return std::nullopt;
        if (!events_.empty() || releases) {
            Ticks now = releases ? releases_[next_release_].tick : Ticks::max();
            if (!events_.empty()) now = std::min(now, events_.next_tick());
            advance(now);
            if (now > last_start_ && deadline_ != Ticks::max()) {
                deadline_ = Ticks::max();
                wake_all();
            }
        }
        if (!serve()) return std::nullopt;
    }
    return std::move(solution_);
}

/// All that happens at one tick.
void FloodRun::advance(Ticks now) {
    now_ = now;
    for (; next_release_ < releases_.size() && releases_[next_release_].tick == now; ++next_release_) {
        arrive(releases_[next_release_].node, releases_[next_release_].spread);
    }
    if (events_.empty() || events_.next_tick() != now) return;
    events_.take_tick([&](std::uint32_t lane, Event event) {
        if (brings_[lane] != 0) arrive(net_.to[event.hop], event.spread);
        if (frees_[lane] != 0) {
            idle_[event.hop] = 1;
            wake(event.hop);
        }
    });
}

void FloodRun::arrive(std::size_t node, std::size_t spread) {
    has_.set(node, spread);
    for (const std::uint32_t hop : net_.out(node)) {
        if (idle_[hop] != 0 && !claimed_.test(net_.to[hop], spread)) wake(hop);
    }
}

void FloodRun::wake(std::size_t hop) {
    if (woken_[hop] != 0) return;
    woken_[hop] = 1;
    ready_.push_back(static_cast<std::uint32_t>(hop));
}

void FloodRun::wake_all() {
    for (std::size_t h = 0; h < net_.hops(); ++h) {
        if (idle_[h] != 0) wake(h);
    }
}

/// When nothing moves any more: gives up the rules that may have forbidden the only way. Whether there is
/// anything left to try.
bool FloodRun::relax() {
    if (!use_clusters_ && deadline_ == Ticks::max()) return false;
    use_clusters_ = false;
    deadline_ = Ticks::max();
    wake_all();
    return true;
}

/// At random, but fastest first.
void FloodRun::order_ready() {
    if (net_.ranks == 1) {
        rng_.shuffle(batch_);
        return;
    }
    keys_.clear();
    for (const std::uint32_t hop : batch_) {
        const std::uint64_t rank = std::min<std::uint64_t>(net_.rank[hop], UINT16_MAX);
        keys_.push_back((rank << 48U) | (rng_.next() >> 48U << 32U) | hop);
    }
    std::ranges::sort(keys_);
    std::ranges::transform(keys_, batch_.begin(),
                           [](std::uint64_t key) { return static_cast<std::uint32_t>(key); });
}

/// False: stopped.
bool FloodRun::serve() {
    while (!ready_.empty()) {
        std::swap(ready_, batch_);
        order_ready();
        for (const std::uint32_t hop : batch_) {
            woken_[hop] = 0;
            if (++served_ % kServedPerPoll == 0 && stop_.requested()) return false;
            if (idle_[hop] == 0 || now_ + net_.times(0, hop).transit > deadline_) continue;
            if (const auto spread = choose(hop)) send(hop, *spread);
        }
        batch_.clear();
    }
    return true;
}

void FloodRun::send(std::size_t hop, std::size_t spread) {
    const FloodNetwork::Times& times = net_.times(net_.size_of[spread], hop);
    const std::uint32_t to = net_.to[hop];
    claimed_.set(to, spread);
    if (use_clusters_) claim_for_clusters(to, spread);
    --missing_;
    idle_[hop] = 0;
    const Ticks arrival = now_ + times.transit;
    const Event event{static_cast<std::uint32_t>(hop), static_cast<std::uint32_t>(spread)};
    events_.push(times.arrival_lane, arrival, event);
    if (times.free_lane != times.arrival_lane) events_.push(times.free_lane, now_ + times.busy, event);
    solution_.transfers.push_back({HopId(hop), task_.problem.spreads[spread].chunk, now_});
    solution_.makespan = std::max(solution_.makespan, arrival);
}

void FloodRun::claim_for_clusters(std::size_t node, std::size_t spread) {
    for (std::size_t l = 0; l < levels_.size(); ++l) {
        LevelState& state = levels_[l];
        const ClusterLevel& level = task_.levels[l];
        const std::uint32_t cluster = level.cluster_of[node];
        if (state.claimed.test(cluster, spread)) continue;
        state.claimed.set(cluster, spread);
        --state.missing[cluster];
        if (state.held[cluster] == 0 || is_tight(l, cluster)) continue;
        state.held[cluster] = 0;
        for (const std::uint32_t hop : level.entrances[cluster]) {
            if (idle_[hop] != 0) wake(hop);
        }
    }
}

bool FloodRun::is_tight(std::size_t level, std::size_t cluster) const {
    const std::size_t missing = levels_[level].missing[cluster];
    if (missing == 0) return false;
    return static_cast<double>(now_.count()) +
               static_cast<double>(missing) * task_.levels[level].period[cluster] >=
           task_.options.tightness * target_ -
               static_cast<double>(task_.levels[level].slack[cluster].count());
}

/// What the rule forbids the hop to bring, and the clusters around the one it leads into.
void FloodRun::look_at_clusters(std::size_t hop, RowList& barred, RowList& detours, RowList& around) {
    for (std::size_t l = 0; l < levels_.size(); ++l) {
        const ClusterLevel& level = task_.levels[l];
        if (!level.crosses(net_, hop)) continue;
        const std::uint32_t cluster = level.cluster_of[net_.to[hop]];
        if (!is_tight(l, cluster)) continue;
        levels_[l].held[cluster] = 1;
        barred.add(levels_[l].claimed.row(cluster));
        detours.add(task_.ways[l].detours(hop));
        if (around.empty()) {
            const auto& exits = level.exits[cluster];
            add_some(exits.size(), around, [&](std::size_t i) { return levels_[l].claimed.row(exits[i]); });
        }
    }
}

/// As many of `size` rows as are counted, from a random one on.
template <class RowAt>
void FloodRun::add_some(std::size_t size, RowList& rows, RowAt&& row_at) {
    const std::size_t start = size > RowList::kMax ? rng_.below(size) : 0;
    for (std::size_t i = 0; i < size && !rows.full(); ++i) {
        rows.add(row_at(start + i < size ? start + i : start + i - size));
    }
}

std::optional<std::size_t> FloodRun::choose(std::size_t hop) {
    const std::size_t node = net_.to[hop];
    RowList barred, detours, clusters_around;
    if (use_clusters_) look_at_clusters(hop, barred, detours, clusters_around);
    RowList around;
    const auto out = net_.out(node);
    add_some(out.size(), around, [&](std::size_t i) { return claimed_.row(net_.to[out[i]]); });

    const Word* has = has_.row(net_.from[hop]);
    const Word* claimed = claimed_.row(node);
    const std::size_t words = has_.words();
    const std::size_t windows = (words + Window::kMaxWords - 1) / Window::kMaxWords;
    const std::size_t start = windows > 1 ? rng_.below(windows) : 0;
    Choice choice;
    for (std::size_t k = 0; k < windows; ++k) {
        const std::size_t first = (start + k < windows ? start + k : start + k - windows) * Window::kMaxWords;
        const Window window{first, std::min(Window::kMaxWords, words - first)};
        if (!candidates(has, claimed, barred, window, choice)) continue;
        if (!detours.empty()) keep_rarest(detours, window, choice);
        if (!clusters_around.empty()) keep_rarest(clusters_around, window, choice);
        keep_rarest(around, window, choice);
        return task_.options.by_height ? highest_of(choice, window, node) : any_of(choice, window);
    }
    return std::nullopt;
}

/// Any bit that is set. Precondition: there is one.
std::size_t FloodRun::any_of(const Choice& choice, Window window) {
    const auto& chosen = choice.words;
    const std::size_t words = window.count;
    const std::uint64_t random = rng_.next();
    std::size_t word = static_cast<std::size_t>(((random >> 32U) * words) >> 32U);
    while (chosen[word] == 0) word = word + 1 < words ? word + 1 : 0;
    const int turn = static_cast<int>(random % kWordBits);
    const int bit = (std::countr_zero(std::rotr(chosen[word], turn)) + turn) % static_cast<int>(kWordBits);
    return (window.first + word) * kWordBits + static_cast<std::size_t>(bit);
}

/// The bit with the greatest height at the node, the first met from a random place on among equals.
std::size_t FloodRun::highest_of(const Choice& choice, Window window, std::size_t node) {
    const auto& chosen = choice.words;
    const std::size_t words = window.count;
    const std::uint64_t random = rng_.next();
    const std::size_t start = static_cast<std::size_t>(((random >> 32U) * words) >> 32U);
    const int turn = static_cast<int>(random % kWordBits);
    std::size_t best = 0;
    std::int64_t best_height = -1;
    int compared = 0;
    for (std::size_t k = 0; k < words && compared < kMaxCompared; ++k) {
        const std::size_t word = start + k < words ? start + k : start + k - words;
        for (Word bits = std::rotr(chosen[word], turn); bits != 0; bits &= bits - 1, ++compared) {
            const auto bit =
                static_cast<std::size_t>((std::countr_zero(bits) + turn) % static_cast<int>(kWordBits));
            const std::int64_t height = task_.heights->at((window.first + word) * kWordBits + bit, node);
            if (height <= best_height) continue;
            best_height = height;
            best = (window.first + word) * kWordBits + bit;
        }
    }
    return best;
}

}  // namespace tutti::heuristics
