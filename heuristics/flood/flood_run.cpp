#include "heuristics/flood/flood_run.hpp"

#include "core/expects.hpp"

#include <algorithm>
#include <bit>

namespace tutti::heuristics {
namespace {

/// Hops served between two polls of the stop.
constexpr std::uint32_t kServedPerPoll = 4096;
/// How many hops ahead rows are prefetched, where they do not fit the nearest caches.
constexpr std::size_t kAhead = 4;
/// Candidates whose heights are compared.
constexpr int kMaxCompared = 64;

/// Clears bits [begin, end) of a row. Returns how many were set.
std::size_t clear_range(BitRows& rows, std::size_t r, std::size_t begin, std::size_t end) {
    std::size_t cleared = 0;
    for (std::size_t w = begin / kWordBits; w * kWordBits < end; ++w) {
        Word mask = ~Word{0};
        if (w * kWordBits < begin) mask &= ~Word{0} << (begin % kWordBits);
        if ((w + 1) * kWordBits > end) mask &= (Word{1} << (end % kWordBits)) - 1;
        Word& word = rows.word(r, w);
        cleared += static_cast<std::size_t>(std::popcount(word & mask));
        word &= ~mask;
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
      states_(net_.hops(), State::Idle) {
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
            missing_ += clear_range(claimed_, target.index(), begin, end);
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
    Ticks first = Ticks::max();
    for (std::size_t i = 0; i < spreads.size(); ++i) {
        const Ticks ready = std::max(spreads[i].ready, task_.problem.calendar.horizon());
        first = std::min(first, ready);
        for (const NodeId source : spreads[i].sources) {
            events_.push({ready.count(), source.value() << kFlags, static_cast<std::uint32_t>(i)});
        }
    }
    if (!events_.empty()) now_ = first;
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
                state.missing[cluster] += clear_range(state.claimed, cluster, begin, end);
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
        if (events_.empty()) {
            if (!relax()) return std::nullopt;
        } else {
            advance();
            if (now_ > last_start_ && deadline_ != Ticks::max()) {
                deadline_ = Ticks::max();
                wake_all();
            }
        }
        if (!serve()) return std::nullopt;
    }
    return std::move(solution_);
}

/// Processes all events of one tick.
void FloodRun::advance() {
    events_.pop(happening_);
    now_ = Ticks(happening_.front().time);
    if (!net_.lanes_fall && happening_.size() > 1) order_by_lane();
    for (const Event& event : happening_) {
        const std::uint32_t place = event.what >> kFlags;
        if ((event.what & (kBrings | kFrees)) == 0) arrive(place, event.spread);
        if ((event.what & kBrings) != 0) arrive(net_.to(place), event.spread);
        if ((event.what & kFrees) != 0) {
            states_[place] = State::Idle;
            wake(place);
        }
    }
}

/// FloodNetwork's and one more; releases come first.
std::uint32_t FloodRun::lane(const Event& event) const {
    const std::uint32_t flags = event.what & (kBrings | kFrees);
    if (flags == 0) return 0;
    const FloodNetwork::Times& times = net_.times(net_.size_of[event.spread], event.what >> kFlags);
    return 1 + ((flags & kBrings) != 0 ? times.arrival_lane : times.free_lane);
}

/// Sorts the events of a tick by lane, those of one lane in the order of their causes.
void FloodRun::order_by_lane() {
    lanes_.clear();
    for (const Event& event : happening_) lanes_.push_back(lane(event));
    if (std::ranges::is_sorted(lanes_)) return;
    if (net_.lanes >= happening_.size()) {
        std::ranges::stable_sort(happening_, {}, [&](const Event& event) { return lane(event); });
        return;
    }
    lane_end_.assign(net_.lanes + 2, 0);
    for (const std::uint32_t l : lanes_) ++lane_end_[l + 1];
    for (std::size_t l = 1; l < lane_end_.size(); ++l) lane_end_[l] += lane_end_[l - 1];
    sorted_.resize(happening_.size());
    for (std::size_t i = 0; i < lanes_.size(); ++i) sorted_[lane_end_[lanes_[i]]++] = happening_[i];
    std::swap(happening_, sorted_);
}

void FloodRun::arrive(std::size_t node, std::size_t spread) {
    has_.set(node, spread);
    for (const auto& [to, hop] : net_.out(node)) {
        if (states_[hop.index()] == State::Idle && !claimed_.test(to.index(), spread)) wake(hop.index());
    }
}

void FloodRun::wake(std::size_t hop) {
    if (states_[hop] != State::Idle) return;
    states_[hop] = State::Woken;
    ready_.push_back(static_cast<std::uint32_t>(hop));
}

void FloodRun::wake_all() {
    for (std::size_t h = 0; h < net_.hops(); ++h) wake(h);
}

/// When nothing moves any more: drops the rules that may have forbidden the only path. Whether there is
/// anything left to try.
bool FloodRun::relax() {
    if (!use_clusters_ && deadline_ == Ticks::max()) return false;
    use_clusters_ = false;
    deadline_ = Ticks::max();
    wake_all();
    return true;
}

/// Fastest first, otherwise random.
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

/// Prefetches the rows that the hop will read.
void FloodRun::prefetch(std::size_t hop) const {
    __builtin_prefetch(has_.window(net_.from(hop), first_window_));
    __builtin_prefetch(claimed_.window(net_.to(hop), first_window_));
    for (const HopEnd& next : net_.out(net_.to(hop))) {
        __builtin_prefetch(claimed_.window(next.node.index(), first_window_));
    }
}

/// False: stopped.
bool FloodRun::serve() {
    if (has_.windows() > 1) first_window_ = rng_.below(has_.windows());
    const bool is_large = has_.windows() > 1;
    const bool has_deadline = deadline_ != Ticks::max();
    while (!ready_.empty()) {
        std::swap(ready_, batch_);
        order_ready();
        for (std::size_t i = 0; i < batch_.size(); ++i) {
            if (is_large && i + kAhead < batch_.size()) prefetch(batch_[i + kAhead]);
            const std::uint32_t hop = batch_[i];
            states_[hop] = State::Idle;
            if (++served_ % kServedPerPoll == 0 && stop_.requested()) return false;
            if (has_deadline && now_ + net_.times(0, hop).transit > deadline_) continue;
            if (const auto spread = choose(hop)) send(hop, *spread);
        }
        batch_.clear();
    }
    return true;
}

void FloodRun::send(std::size_t hop, std::size_t spread) {
    const FloodNetwork::Times& times = net_.times(net_.size_of[spread], hop);
    const std::uint32_t to = net_.to(hop);
    states_[hop] = State::Busy;  // before the claims, which must not wake this hop
    claimed_.set(to, spread);
    if (use_clusters_) claim_for_clusters(to, spread);
    --missing_;
    const Ticks arrival = now_ + times.transit;
    const auto what = static_cast<std::uint32_t>(hop) << kFlags;
    const auto bit = static_cast<std::uint32_t>(spread);
    if (times.transit == times.busy) {
        events_.push({arrival.count(), what | kBrings | kFrees, bit});
    } else {
        events_.push({arrival.count(), what | kBrings, bit});
        events_.push({(now_ + times.busy).count(), what | kFrees, bit});
    }
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
        for (const std::uint32_t hop : level.entrances[cluster]) wake(hop);
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

/// The levels whose rule applies to the hop now, as a bit set.
unsigned FloodRun::tight_levels(std::size_t hop) {
    unsigned tight = 0;
    for (std::size_t l = 0; l < levels_.size(); ++l) {
        if (!task_.levels[l].crosses(net_, hop)) continue;
        const std::uint32_t cluster = task_.levels[l].cluster_of[net_.to(hop)];
        if (!is_tight(l, cluster)) continue;
        levels_[l].held[cluster] = 1;
        tight |= 1U << l;
    }
    return tight;
}

/// As many of `size` rows as are counted, from a random one on.
template <class RowAt>
void FloodRun::add_some(std::size_t size, RowList& rows, RowAt&& row_at) {
    const std::size_t start = size > RowList::kMax ? rng_.below(size) : 0;
    for (std::size_t i = 0; i < size && !rows.full(); ++i) {
        rows.add(row_at(start + i < size ? start + i : start + i - size));
    }
}

/// The chunks of one window that the hop may carry. Whether there are any.
bool FloodRun::look(std::size_t hop, unsigned tight, std::size_t window, Choice& choice) {
    const std::size_t node = net_.to(hop);
    RowList barred;
    for (unsigned rest = tight; rest != 0; rest &= rest - 1) {
        const auto l = static_cast<std::size_t>(std::countr_zero(rest));
        barred.add(levels_[l].claimed.window(task_.levels[l].cluster_of[node], window));
    }
    const std::size_t words = has_.window_words();
    if (!candidates(has_.window(net_.from(hop), window), claimed_.window(node, window), barred, words,
                    choice)) {
        return false;
    }
    if (tight != 0) {
        // The coarsest level first: no detours, then chunks that neighbouring clusters lack.
        const auto l = static_cast<std::size_t>(std::countr_zero(tight));
        RowList detours, clusters;
        detours.add(task_.detours[l].detours().window(task_.detours[l].crossing(hop), window));
        keep_rarest(detours, choice);
        const auto& exits = task_.levels[l].exits[task_.levels[l].cluster_of[node]];
        add_some(exits.size(), clusters,
                 [&](std::size_t i) { return levels_[l].claimed.window(exits[i], window); });
        keep_rarest(clusters, choice);
    }
    RowList around;
    const auto out = net_.out(node);
    add_some(out.size(), around, [&](std::size_t i) { return claimed_.window(out[i].node.index(), window); });
    keep_rarest(around, choice);
    return true;
}

std::optional<std::size_t> FloodRun::choose(std::size_t hop) {
    const unsigned tight = use_clusters_ ? tight_levels(hop) : 0;
    Choice choice;
    const std::size_t windows = has_.windows();
    for (std::size_t k = 0; k < windows; ++k) {
        const std::size_t window =
            first_window_ + k < windows ? first_window_ + k : first_window_ + k - windows;
        if (!look(hop, tight, window, choice)) continue;
        const std::size_t first = window * has_.window_words() * kWordBits;
        return first + (task_.options.by_height ? highest_of(choice, first, net_.to(hop)) : any_of(choice));
    }
    return std::nullopt;
}

/// Any bit that is set. Precondition: there is one.
std::size_t FloodRun::any_of(const Choice& choice) {
    expects(full_words(choice) != 0);
    const std::uint64_t random = rng_.next();
    const auto turn_words = static_cast<int>(random / kWordBits % kWindowWords);
    const auto turn_bits = static_cast<int>(random % kWordBits);
    const std::uint16_t full = std::rotr(full_words(choice), turn_words);
    const auto word = static_cast<std::size_t>(std::countr_zero(full) + turn_words) % kWindowWords;
    const Word bits = std::rotr(choice.words[word], turn_bits);
    const auto bit = static_cast<std::size_t>(std::countr_zero(bits) + turn_bits) % kWordBits;
    return word * kWordBits + bit;
}

/// The bit with the greatest height at the node; among equals the first from a random position on.
std::size_t FloodRun::highest_of(const Choice& choice, std::size_t first, std::size_t node) {
    const auto& chosen = choice.words;
    const std::size_t words = choice.count;
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
