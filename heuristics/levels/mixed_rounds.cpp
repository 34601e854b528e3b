// Near rounds between far ones, where latency counts.
//
// On a crossbar every NPU sends one message in each round, and receives one. If far messages take D more
// rounds than near ones to come, then near rounds that follow far ones must wait: what is sent near from now
// on would come together with what was sent far D rounds ago. Far rounds that follow near ones leave D
// rounds in which nothing comes. Either way D rounds are lost. But if every D-th round is near, then
//
//     far rounds start at 0 ... D-2, D ... 2D-2, ... and come (near + D) later, that is never at D-1 (mod D),
//     near rounds start at D-1, 2D-1, ...            and come at near + D-1 (mod D)
//
// so that nobody waits. There are often too few near rounds for that, and the far ones end last. Then some
// far rounds are left out: who got the chunk in the first far round passes it on to the near ones, in the
// places of more near rounds, after the last far ones have started and before they come.
//
// An all-gather of 16 NPUs, one under each leaf of a fat tree (15 rounds, D = 4): 26 ticks with near rounds
// first or last, 25 with mixed rounds and one round passed on, which is its bound (`deadlines`). A
// reduce-scatter is the same backwards. Complexity: that of the rounds.

#include "heuristics/levels/level_plan.hpp"

#include "core/expects.hpp"

#include <algorithm>

namespace tutti::heuristics {
namespace {

constexpr std::size_t kMostMixed =
    50'000;  ///< messages: every number of rounds passed on is a plan of its own

}  // namespace

std::vector<LevelPlan::Entry> LevelPlan::mix_rounds(std::size_t passed) {
    struct Batch {
        Ticks time;
        std::size_t begin, end;  ///< in entries_
    };
    if (entries_.size() > kMostMixed) entries_.clear();
    std::vector<Batch> batches;
    Ticks pace;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        const Entry& entry = entries_[i];
        const auto ends = way(source_for(entry.item, entry.part), entry.targets.front());
        if (!ends || entry.is_late) {
            entries_.clear();
            return {};
        }
        pace = std::max(pace, instance_.beta(ends->out, items_[entry.item].chunk));
        if (i == 0 || entry.round != entries_[i - 1].round || entry.turn != entries_[i - 1].turn)
            batches.push_back({ends->time, i, i});
        batches.back().time = std::max(batches.back().time, ends->time);
        batches.back().end = i + 1;
    }
    std::vector<Batch> near, far;
    const Ticks least = batches.empty() ? Ticks(0) : std::ranges::min(batches, {}, &Batch::time).time;
    Ticks least_far = Ticks::max();
    for (const Batch& batch : batches) {
        (batch.time == least ? near : far).push_back(batch);
        if (batch.time != least) least_far = std::min(least_far, batch.time);
    }
    // The chunks of the first far round are those that are passed on.
    const auto is_first = [&](const Batch& batch) {
        return entries_[batch.begin].round == entries_[far.front().begin].round;
    };
    const std::size_t first =
        far.empty() ? 0 : static_cast<std::size_t>(std::ranges::count_if(far, is_first));
    const std::int64_t period = far.empty() ? 0 : (least_far - least).count() / pace.count();
    std::vector<Entry> mixed, left_out;
    if (period >= 2 && first + passed < far.size()) {
        const auto append = [&](std::vector<Entry>& to, const Batch& batch) {
            to.insert(to.end(), entries_.begin() + static_cast<std::ptrdiff_t>(batch.begin),
                      entries_.begin() + static_cast<std::ptrdiff_t>(batch.end));
        };
        std::size_t next_near = 0;
        std::int64_t since_near = 0;
        for (std::size_t i = 0; i < far.size(); ++i) {
            if (i >= first && i < first + passed) {
                append(left_out, far[i]);
                continue;
            }
            append(mixed, far[i]);
            if (++since_near < period - 1 || next_near == near.size()) continue;
            append(mixed, near[next_near++]);
            since_near = 0;
        }
        for (; next_near < near.size(); ++next_near) append(mixed, near[next_near]);
    }
    entries_ = std::move(mixed);
    return left_out;
}

/// From whoever is nearest and has had it longest.
void LevelPlan::pass_on(const Entry& entry) {
    const NodeId to = entry.targets.front();
    NodeId from = source_for(entry.item, entry.part);
    Slot slot = source_slot_[entry.item];
    std::pair<Ticks, Ticks> least{Ticks::max(), Ticks::max()};
    for (const NodeId other : items_[entry.item].targets) {
        const auto had = fed_.find({entry.item, other});
        if (had == fed_.end() || other == to) continue;
        const auto ends = way(other, to);
        if (!ends || std::pair(ends->time, since_[had->second]) >= least) continue;
        least = {ends->time, since_[had->second]};
        from = other;
        slot = had->second;
    }
    inner_.push_back({since_[slot], entry.round, entry.item, slot, from, to});
}

std::string LevelPlan::spread_mixed(std::span<const LevelItem> items, std::size_t passed) {
    expects(level_ == 0);
    keeps_all_ = true;
    begin(items);
    const std::vector<Entry> left_out = mix_rounds(passed);
    if (entries_.empty()) return "all rounds are equally far";
    if (!enter_parts(false, false)) return why_not_.empty() ? "stopped" : why_not_;
    for (const Entry& entry : left_out) pass_on(entry);
    if (!place_inner()) return why_not_.empty() ? "stopped" : why_not_;
    return {};
}

}  // namespace tutti::heuristics
