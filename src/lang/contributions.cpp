// Exact values, found backwards. Only the verbs that a place depends on are run again, so a message about one
// wrong place of a large program is quick.

#include "lang/contributions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace tutti::lang {
namespace {

/// The verbs that the places depend on, in order.
std::vector<std::uint32_t> verbs_behind(const Trace& trace, std::set<Slot> open) {
    std::vector<std::uint32_t> found;
    for (std::size_t v = trace.verbs.size(); v-- > 0 && !open.empty();) {
        const Verb& verb = trace.verbs[v];
        bool used = false;
        for (std::uint32_t i = 0; i < verb.count; ++i) {
            const Slot to{verb.to.rank, verb.to.buffer, verb.to.index + i};
            if (!open.contains(to)) continue;
            if (verb.kind == Verb::Kind::Copy) open.erase(to);
            open.insert({verb.from.rank, verb.from.buffer, verb.from.index + i});
            used = true;
        }
        if (used) found.push_back(static_cast<std::uint32_t>(v));
    }
    std::ranges::reverse(found);
    return found;
}

/// Exact values of all places that were written by some verbs.
class Replay {
  public:
    Replay(const Trace& trace, const std::vector<std::uint32_t>& verbs) : trace_(trace) {
        for (const Initial& initial : initial_values(trace.shape)) values_[initial.slot][initial.value] = 1;
        for (const std::uint32_t v : verbs) run(trace.verbs[v]);
    }
    [[nodiscard]] const Counted& value(const Slot& slot) const {
        static const Counted kNothing;
        const auto found = values_.find(slot);
        return found == values_.end() ? kNothing : found->second;
    }
    /// The line that first counted something twice, and what.
    struct Twice {
        plan::Contribution contribution{};
        std::uint32_t place = 0;
    };
    [[nodiscard]] const std::optional<Twice>& twice() const { return twice_; }
    [[nodiscard]] const std::map<Slot, Counted>& all() const { return values_; }

  private:
    void run(const Verb& verb) {
        for (std::uint32_t i = 0; i < verb.count; ++i) {
            const Counted sent = value({verb.from.rank, verb.from.buffer, verb.from.index + i});
            Counted& held = values_[{verb.to.rank, verb.to.buffer, verb.to.index + i}];
            if (verb.kind == Verb::Kind::Copy) {
                held = sent;
                continue;
            }
            for (const auto& [contribution, count] : sent) {
                if ((held[contribution] += count) > 1 && !twice_) twice_ = {contribution, verb.place};
            }
        }
    }

    const Trace& trace_;
    std::map<Slot, Counted> values_;
    std::optional<Twice> twice_;
};

std::string listed(const std::vector<plan::Contribution>& contributions) {
    std::string text;
    for (std::size_t i = 0; i < contributions.size(); ++i) {
        if (i == 4) return text + fmt::format(" and {} more", contributions.size() - i);
        text += fmt::format("{}input[{}] of rank {}", i == 0 ? "" : ", ", contributions[i].chunk,
                            contributions[i].rank.value());
    }
    return text;
}

}  // namespace

Counted contributions_of(const Trace& trace, const Slot& slot) {
    const Slot place = resolved(trace.shape, slot);
    return Replay(trace, verbs_behind(trace, {place})).value(place);
}

std::string why_wrong(const Trace& trace, const Wanted& what) {
    const Slot& slot = what.slot;
    const Slot& place = slot;
    const std::vector<plan::Contribution> wanted = contributions(trace.shape, what);
    const Replay replay(trace, verbs_behind(trace, {place}));
    const Counted& found = replay.value(place);
    if (found.empty()) return fmt::format("{} holds nothing", text_of(trace, slot));
    const bool doubled = std::ranges::any_of(found, [](const auto& entry) { return entry.second > 1; });
    if (doubled && replay.twice()) {
        return fmt::format("{}: input[{}] of rank {} is counted twice, since {}", text_of(trace, slot),
                           replay.twice()->contribution.chunk, replay.twice()->contribution.rank.value(),
                           text_of(trace.places[replay.twice()->place]));
    }
    std::vector<plan::Contribution> missing, extra;
    for (const plan::Contribution& contribution : wanted) {
        if (!found.contains(contribution)) missing.push_back(contribution);
    }
    for (const auto& [contribution, count] : found) {
        if (std::ranges::find(wanted, contribution) == wanted.end()) extra.push_back(contribution);
    }
    std::string text = text_of(trace, slot) + ": ";
    if (!missing.empty()) text += "it lacks " + listed(missing);
    if (!extra.empty()) text += (missing.empty() ? "it holds " : ", and holds ") + listed(extra) + " instead";
    return text;
}

plan::Condition condition_of(const Trace& trace) {
    std::set<Slot> outputs;
    std::vector<std::pair<Slot, std::int64_t>> places;  // resolved, and the number in the output
    for (std::uint32_t r = 0; r < trace.shape.ranks; ++r) {
        for (std::uint32_t i = 0; i < output_chunks(trace.shape); ++i) {
            const Slot place = resolved(trace.shape, {r, kOutput, i});
            outputs.insert(place);
            places.emplace_back(place, i);
        }
    }
    const Replay replay(trace, verbs_behind(trace, outputs));
    plan::Condition condition;
    for (const auto& [place, number] : places) {
        const Counted& found = replay.value(place);
        const bool doubled = std::ranges::any_of(found, [](const auto& entry) { return entry.second > 1; });
        if (found.empty() || doubled) continue;
        auto& value = condition.outputs[Rank(place.rank)][number];
        for (const auto& [contribution, count] : found) value.push_back(contribution);
    }
    // Ranks whose inputs are not all defined say so.
    for (std::uint32_t r = 0; r < trace.shape.ranks; ++r) condition.inputs[Rank(r)] = {};
    for (const Initial& initial : trace.shape.initial) {
        if (initial.slot.buffer == kInput) {
            condition.inputs[Rank(initial.slot.rank)].push_back(initial.slot.index);
        }
    }
    return condition;
}

}  // namespace tutti::lang
