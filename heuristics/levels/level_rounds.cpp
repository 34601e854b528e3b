// Hierarchical all-reduce in rounds, for sizes at which schedules cannot be held.
//
// Number the members so that the digits of a number are levels of the network: the place on the leaf switch,
// the leaf in the pod, and so on. Each chunk has a root, equally many for every member. The reduction goes
// digit by digit, the nearest first: in phase d an NPU sends, for each other value of digit d, the parts of
// the sums whose roots have that value, to the NPU that differs from it in digit d only. After phase d it has
// the parts of the chunks whose roots agree with it in the digits up to d. So each phase sends less than the
// one before, by the size of a level: on a fat tree nearly everything stays on the leaf switch, and the ports
// of NPUs carry 2 (n - 1) chunks each, which no all-reduce can beat. The distribution is the same backwards,
// the farthest digit first. (Two levels of it are in every communication library; recursive halving is the
// case of binary digits.)
//
// Sends. An all-reduce of n chunks among n NPUs takes 2 n (n - 1) messages whatever it does, but messages on
// a leaf are two links, across a tree of four levels eight. Here most are the former: 77 million sends for
// 4 096 NPUs, where straight messages would be 260 million.
//
// A phase consists of rounds, one for each difference s of the digit: everybody sends to the member s
// further. That is a permutation, and a fat tree carries it without conflicts (round_pattern). A round is
// repeated for all chunks that it has to move, each time `period` later: only the chunks differ. So a
// schedule is a list of runs (pattern, start, period, count), and sends are made when they are asked for, a
// few nanoseconds each.
//
// Invariants. Runs of one task start one after the other, after the links of their patterns are free; a phase
// begins when everything of the one before has arrived. Two copies of a chunk never leave a switch at one
// tick: within a pattern the calendar sees to it, between runs `meets_earlier`.
//
// Collectives of one shape (the groups of a mesh of ranks) are one task: their rounds are routed together.
// Tasks are planned one after the other; those that use different links run at once.
//
// Measured (4 096 NPUs behind a fat tree of four levels, all-reduce, storing switches): planned in 1 s, then
// 25 million sends a second with verification.

#include "heuristics/levels/level_rounds.hpp"

#include "core/expects.hpp"

#include <algorithm>
#include <map>

namespace tutti::heuristics {
namespace {

constexpr std::size_t kSendsAtOnce = 4096;
constexpr std::size_t kMostEntries = std::size_t{1} << 24;  ///< of all patterns: some 600 MB
constexpr std::uint32_t kLargeRadix = 64;  ///< larger digits are split, because each value is a pattern

/// n as a product of factors that are as equal as possible and not much larger than kLargeRadix, if it has
/// such.
void split_radix(std::uint32_t radix, std::vector<std::uint32_t>& radices) {
    if (radix > kLargeRadix) {
        std::uint32_t factor = 1;
        for (std::uint32_t f = 2; std::uint64_t{f} * f <= radix; ++f) {
            if (radix % f == 0) factor = f;
        }
        if (factor > 1) {
            split_radix(factor, radices);
            split_radix(radix / factor, radices);
            return;
        }
    }
    if (radix > 1) radices.push_back(radix);
}

/// The number of members that each part holds, if that is the same everywhere; else 0.
std::uint32_t common_size(std::span<const NodeId> order, const Partition& parts) {
    std::map<std::uint32_t, std::uint32_t> sizes;
    for (const NodeId npu : order) ++sizes[parts[npu.index()]];
    const std::uint32_t size = sizes.begin()->second;
    return std::ranges::all_of(sizes, [&](const auto& entry) { return entry.second == size; }) ? size : 0;
}

std::vector<std::uint32_t> radices_of(std::span<const NodeId> order, std::span<const Partition> levels) {
    std::vector<std::uint32_t> radices;
    std::uint32_t below = 1;
    for (const Partition& parts : levels) {
        const std::uint32_t size = common_size(order, parts);
        if (size == 0 || size % below != 0) continue;
        split_radix(size / below, radices);
        below = size;
    }
    split_radix(static_cast<std::uint32_t>(order.size()) / below, radices);
    return radices;
}

bool is_whole(std::span<const NodeId> set, std::span<const NodeId> sorted_members) {
    return std::ranges::equal(set, sorted_members);
}

}  // namespace

LevelRounds::LevelRounds(const Instance& instance, const Stop& stop)
    : instance_(instance), stop_(stop), free_(instance.topology().links().size()) {
    why_none_ = plan();
    cluster_.reset();
    if (!why_none_.empty()) return;
    for (std::uint32_t run = 0; run < runs_.size(); ++run) cursors_.push({runs_[run].start, run, 0, 0});
}

std::string LevelRounds::plan() {
    if (instance_.topology().switches() == 0) return "the network has no switches";
    if (instance_.chunks() == 0) return "nothing is to be sent";
    if (instance_.demands().sizes().size() > 1) return "chunks have different sizes";
    cluster_.emplace(instance_);
    std::vector<std::vector<ChunkId>> chunks(instance_.collectives().size());
    for (std::size_t c = 0; c < instance_.chunks(); ++c)
        chunks[instance_.demands().collective(ChunkId(c)).index()].emplace_back(c);
    for (std::size_t i = 0; i < chunks.size(); ++i) {
        if (chunks[i].empty()) continue;
        if (std::string why = add_task(CollectiveId(i), chunks[i]); !why.empty()) return why;
        join_last_task();
    }
    for (std::uint32_t task = 0; task < tasks_.size(); ++task) {
        if (std::string why = plan_task(task); !why.empty()) return why;
        if (stop_.requested()) return "stopped";
    }
    return {};
}

std::string LevelRounds::add_task(CollectiveId collective, std::span<const ChunkId> chunks) {
    const auto& numbering = cluster_->numbering(chunks.front());
    const auto& members = instance_.group_of(chunks.front()).members;
    std::vector<NodeId> sorted(members.begin(), members.end());
    std::ranges::sort(sorted);
    Task& task = tasks_.emplace_back();
    task.release = last_release(instance_.collective(collective));
    task.members = sorted;
    std::ranges::sort(task.members, {}, [&](NodeId npu) { return numbering.position(npu); });
    task.size = static_cast<std::uint32_t>(sorted.size());
    task.radices = radices_of(task.members, cluster_->levels());
    const Demand first = instance_.demand(chunks.front());
    task.reduces = first.reduction && first.holders.size() > 1;
    task.distributes = first.receivers.size() > 1;
    task.per_root = static_cast<std::uint32_t>(chunks.size() / sorted.size());
    if (chunks.size() % sorted.size() != 0 || task.per_root == 0) return "chunks have no equal shares";

    constexpr std::string_view kOther = "there is more than all-gather, reduce-scatter and all-reduce";
    task.by_root.resize(chunks.size());
    std::vector<std::uint32_t> filled(sorted.size(), 0);
    std::uint32_t turn = 0;
    // Chunks mostly share their sets.
    const NodeId* known[2] = {nullptr, nullptr};
    const auto names_all = [&](std::span<const NodeId> set, std::size_t side) {
        if (set.data() == known[side]) return true;
        if (!is_whole(set, sorted)) return false;
        known[side] = set.data();
        return true;
    };
    for (const ChunkId chunk : chunks) {
        const Demand demand = instance_.demand(chunk);
        const bool reduces = demand.reduction && demand.holders.size() > 1;
        if (reduces != task.reduces || (demand.receivers.size() > 1) != task.distributes)
            return std::string(kOther);
        if (reduces ? !names_all(demand.holders, 0) : demand.holders.size() != 1) return std::string(kOther);
        if (task.distributes ? !names_all(demand.receivers, 1) : !reduces) return std::string(kOther);
        std::uint32_t root = turn++ % static_cast<std::uint32_t>(sorted.size());
        if (!reduces || !task.distributes) {
            const NodeId npu = reduces ? demand.receivers.front() : demand.holders.front();
            if (!numbering.is_member(npu)) return std::string(kOther);
            root = numbering.position(npu);
        }
        if (filled[root] == task.per_root) return "chunks have no equal shares";
        task.by_root[root * task.per_root + filled[root]++] = chunk;
    }
    return {};
}

void LevelRounds::join_last_task() {
    const auto shape = [](const Task& task) {
        return std::tie(task.size, task.radices, task.per_root, task.reduces, task.distributes, task.release);
    };
    const Task& last = tasks_.back();
    for (Task& task : std::span(tasks_).first(tasks_.size() - 1)) {
        if (shape(task) != shape(last)) continue;
        task.members.insert(task.members.end(), last.members.begin(), last.members.end());
        task.by_root.insert(task.by_root.end(), last.by_root.begin(), last.by_root.end());
        tasks_.pop_back();
        return;
    }
}

std::string LevelRounds::plan_task(std::uint32_t number) {
    const std::size_t digits = tasks_[number].radices.size();
    Ticks ready = tasks_[number].release;
    std::string why;
    for (std::size_t d = 0; d < digits && tasks_[number].reduces && why.empty(); ++d)
        why = plan_phase(number, d, Op::Reduce, ready);
    for (std::size_t d = digits; d > 0 && tasks_[number].distributes && why.empty(); --d)
        why = plan_phase(number, d - 1, Op::Copy, ready);
    makespan_ = std::max(makespan_, tasks_[number].radices.empty() ? Ticks(0) : ready);
    return why;
}

std::string LevelRounds::plan_phase(std::uint32_t number, std::size_t digit, Op op, Ticks& ready) {
    const Task& task = tasks_[number];
    const auto members = static_cast<std::uint32_t>(task.members.size());
    std::uint32_t below = 1;
    for (std::size_t d = 0; d < digit; ++d) below *= task.radices[d];
    const std::uint32_t radix = task.radices[digit], stride = below * radix;
    const std::size_t first_run = runs_.size();
    Ticks period;
    for (std::uint32_t s = 1; s < radix; ++s) {
        std::vector<RoundPattern::Message> messages;
        for (std::uint32_t from = 0; from < members; ++from) {
            const std::uint32_t place = from % task.size, value = place / below % radix;
            const std::uint32_t to = from - value * below + (value + s) % radix * below;
            // The chunks of these roots agree with it in the digits up to this one.
            const std::uint32_t low = (op == Op::Reduce ? to : from) % task.size % stride;
            messages.push_back({task.members[from], task.members[to], from - place + low});
        }
        auto pattern = round_pattern(*cluster_, task.by_root.front(), messages);
        if (!pattern) return "two NPUs have no path through switches";
        entries_ += pattern->entries.size();
        if (entries_ > kMostEntries) return "there are too many rounds";
        if (stop_.requested()) return "stopped";
        period = std::max(period, pattern->period);
        runs_.push_back({number, static_cast<std::uint32_t>(patterns_.size()),
                         task.size / stride * task.per_root, stride, Ticks(0), Ticks(0), op});
        patterns_.push_back(std::move(*pattern));
    }
    Ticks start = ready;
    for (std::size_t r = first_run; r < runs_.size(); ++r) {
        Run& run = runs_[r];
        const RoundPattern& pattern = patterns_[run.pattern];
        run.period = period;
        run.start = when_free(pattern, start);
        while (meets_earlier(run, first_run)) run.start += Ticks(1);
        const Ticks last = run.start + period * (run.count - 1);
        for (const RoundPattern::Use& use : pattern.uses) free_[use.link.index()] = last + use.end;
        ready = std::max(ready, last + pattern.duration);
        start = run.start;
    }
    return {};
}

Ticks LevelRounds::when_free(const RoundPattern& pattern, Ticks start) const {
    for (const RoundPattern::Use& use : pattern.uses)
        start = std::max(start, free_[use.link.index()] - use.first);
    return start;
}

bool LevelRounds::meets_earlier(const Run& run, std::size_t first_run) const {
    // All runs of a phase have one period, so the lag is the same for all chunks.
    const auto self = static_cast<std::size_t>(&run - runs_.data());
    for (std::size_t r = self; r-- > first_run;) {
        const RoundPattern& earlier = patterns_[runs_[r].pattern];
        const Ticks lag = run.start - runs_[r].start;
        if (lag < earlier.duration && earlier.meets(patterns_[run.pattern], lag)) return true;
    }
    return false;
}

std::span<const Send> LevelRounds::next() {
    given_ += sends_.size();
    sends_.clear();
    while (sends_.size() < kSendsAtOnce && !cursors_.empty() && !stop_.requested()) {
        const Ticks now = cursors_.top().time;
        tick_.clear();
        ends_.assign(1, 0);
        while (!cursors_.empty() && cursors_.top().time == now) {
            const Cursor cursor = cursors_.top();
            cursors_.pop();
            give(cursor);
            ends_.push_back(tick_.size());
        }
        merge_tick();
        sends_.insert(sends_.end(), tick_.begin(), tick_.end());
    }
    return sends_;
}

/// The sends of one tick come pattern by pattern, each in order of links.
void LevelRounds::merge_tick() {
    const auto link_of = [](const Send& send) { return send.link; };
    while (ends_.size() > 2) {
        merged_.clear();
        std::size_t kept = 1;
        for (std::size_t i = 0; i + 1 < ends_.size(); i += 2) {
            const auto at = [&](std::size_t end) {
                return tick_.begin() + static_cast<std::ptrdiff_t>(ends_[std::min(end, ends_.size() - 1)]);
            };
            std::ranges::merge(std::span(at(i), at(i + 1)), std::span(at(i + 1), at(i + 2)),
                               std::back_inserter(merged_), {}, link_of, link_of);
            ends_[kept++] = merged_.size();
        }
        ends_.resize(kept);
        tick_.swap(merged_);
    }
}

void LevelRounds::give(const Cursor& cursor) {
    const Run& run = runs_[cursor.run];
    const Task& task = tasks_[run.task];
    const RoundPattern& pattern = patterns_[run.pattern];
    // The roots that differ in higher digits, then the chunks of a root.
    const std::uint32_t root = cursor.turn / task.per_root * run.stride;
    const ChunkId* const chunks = &task.by_root[root * task.per_root + cursor.turn % task.per_root];
    const std::size_t begin = pattern.groups[cursor.group], end = pattern.groups[cursor.group + 1];
    for (std::size_t i = begin; i < end; ++i) {
        const RoundPattern::Entry& entry = pattern.entries[i];
        tick_.push_back(
            {chunks[entry.kind * task.per_root], entry.link, cursor.time, entry.is_last ? run.op : Op::Copy});
    }
    const Ticks begun = cursor.time - pattern.entries[begin].offset;
    if (cursor.group + 2 < pattern.groups.size())
        cursors_.push({begun + pattern.entries[end].offset, cursor.run, cursor.turn, cursor.group + 1});
    if (cursor.group == 0 && cursor.turn + 1 < run.count)
        cursors_.push({cursor.time + run.period, cursor.run, cursor.turn + 1, 0});
}

std::optional<Schedule> level_rounds(const Instance& instance, const Stop& stop) {
    LevelRounds rounds(instance, stop);
    Schedule schedule{instance.name(), Ticks(0), {}};
    for (auto sends = rounds.next(); !sends.empty(); sends = rounds.next())
        schedule.sends.insert(schedule.sends.end(), sends.begin(), sends.end());
    if (!rounds.is_complete()) return std::nullopt;
    schedule.makespan = rounds.makespan();
    put_in_order(schedule, instance.topology().links().size());
    return schedule;
}

std::string why_no_level_rounds(const Instance& instance) {
    const LevelRounds rounds(instance, {});
    return rounds.why_none();
}

}  // namespace tutti::heuristics
