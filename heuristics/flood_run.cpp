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
    use_clusters_ = task.options.use_clusters && !task.levels.empty();
    if (use_clusters_) set_up_clusters();
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
    target_ = static_cast<double>(task_.problem.target.count());
    for (const ClusterLevel& level : task_.levels) {
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

/// When nothing moves any more: gives the rule up, which may have forbidden the only way. Whether there is
/// anything left to try.
bool FloodRun::relax() {
    if (!use_clusters_) return false;
    use_clusters_ = false;
    for (std::size_t h = 0; h < net_.hops(); ++h) wake(h);
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
            if (idle_[hop] == 0) continue;
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
           task_.options.tightness * target_;
}

std::size_t FloodRun::barred_rows(std::size_t hop, std::array<const Word*, kMaxLevels>& rows) {
    std::size_t count = 0;
    for (std::size_t l = 0; l < levels_.size(); ++l) {
        if (!task_.levels[l].crosses(net_, hop)) continue;
        const std::uint32_t cluster = task_.levels[l].cluster_of[net_.to[hop]];
        if (!is_tight(l, cluster)) continue;
        levels_[l].held[cluster] = 1;
        rows[count++] = levels_[l].claimed.row(cluster);
    }
    return count;
}

std::optional<std::size_t> FloodRun::choose(std::size_t hop) {
    const std::size_t node = net_.to[hop];
    std::array<const Word*, kMaxLevels> barred_from{}, barred{};
    const std::size_t bars = use_clusters_ ? barred_rows(hop, barred_from) : 0;
    const auto out = net_.out(node);
    const std::size_t counted = std::min(out.size(), kMaxNeighbours);
    const std::size_t turn = out.size() > counted ? rng_.below(out.size()) : 0;
    std::array<const Word*, kMaxNeighbours> rows_from{}, rows{};
    for (std::size_t i = 0; i < counted; ++i) {
        const std::size_t place = turn + i < out.size() ? turn + i : turn + i - out.size();
        rows_from[i] = claimed_.row(net_.to[out[place]]);
    }

    const Word* has = has_.row(net_.from[hop]);
    const Word* claimed = claimed_.row(node);
    const std::size_t words = has_.words();
    const std::size_t windows = (words + kWindowWords - 1) / kWindowWords;
    const std::size_t start = windows > 1 ? rng_.below(windows) : 0;
    alignas(kBlockWords * sizeof(Word)) std::array<Word, kWindowWords> chosen;
    for (std::size_t k = 0; k < windows; ++k) {
        const std::size_t window = start + k < windows ? start + k : start + k - windows;
        const std::size_t first = window * kWindowWords;
        const std::size_t width = std::min(kWindowWords, words - first);
        for (std::size_t i = 0; i < bars; ++i) barred[i] = barred_from[i] + first;
        for (std::size_t i = 0; i < counted; ++i) rows[i] = rows_from[i] + first;
        const RarestQuery query{has + first, claimed + first, std::span(barred).first(bars),
                                std::span(rows).first(counted), width};
        if (!rarest(query, chosen.data())) continue;
        const std::size_t bit = task_.options.by_height
                                    ? highest_of(chosen.data(), width, first * kWordBits, node)
                                    : any_of(chosen.data(), width);
        return first * kWordBits + bit;
    }
    return std::nullopt;
}

/// Any bit that is set. Precondition: there is one.
std::size_t FloodRun::any_of(const Word* chosen, std::size_t words) {
    const std::uint64_t random = rng_.next();
    std::size_t word = static_cast<std::size_t>(((random >> 32U) * words) >> 32U);
    while (chosen[word] == 0) word = word + 1 < words ? word + 1 : 0;
    const int turn = static_cast<int>(random % kWordBits);
    const int bit = (std::countr_zero(std::rotr(chosen[word], turn)) + turn) % static_cast<int>(kWordBits);
    return word * kWordBits + static_cast<std::size_t>(bit);
}

/// The bit with the greatest height at the node, the first met from a random place on among equals.
std::size_t FloodRun::highest_of(const Word* chosen, std::size_t words, std::size_t first, std::size_t node) {
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
            const std::int64_t height = task_.heights->at(first + word * kWordBits + bit, node);
            if (height <= best_height) continue;
            best_height = height;
            best = word * kWordBits + bit;
        }
    }
    return best;
}

}  // namespace tutti::heuristics
