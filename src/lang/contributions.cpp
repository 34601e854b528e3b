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

/// A chunk of an output, and its place.
struct Output {
    Slot place{};
    std::int64_t number = 0;
};
std::vector<Output> outputs_of(const Shape& shape) {
    std::vector<Output> outputs;
    for (std::uint32_t r = 0; r < shape.ranks; ++r) {
        for (std::uint32_t i = 0; i < output_chunks(shape); ++i) {
            outputs.push_back({resolved(shape, {r, kOutput, i}), i});
        }
    }
    return outputs;
}
std::set<Slot> places_of(const std::vector<Output>& outputs) {
    std::set<Slot> places;
    for (const Output& output : outputs) places.insert(output.place);
    return places;
}

bool is_doubled(const Counted& value) {
    return std::ranges::any_of(value, [](const auto& entry) { return entry.second > 1; });
}

Wrong twice_in(const Trace& trace, const Slot& slot, const Replay::Twice& twice) {
    const ProgramPlace& place = trace.places[twice.place];
    std::string words = fmt::format("{}: input[{}] of rank {} is counted twice", text_of(trace, slot),
                                    twice.contribution.chunk, twice.contribution.rank.value());
    if (place.file.empty()) return {words, ""};
    return {fmt::format("{}, since {}", words, text_of(place)), text_of(place)};
}

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

Wrong why_wrong(const Trace& trace, const Wanted& what) {
    const Slot& slot = what.slot;
    const Slot& place = slot;
    const std::vector<plan::Contribution> wanted = contributions(trace.shape, what);
    const Replay replay(trace, verbs_behind(trace, {place}));
    const Counted& found = replay.value(place);
    if (found.empty()) return {text_of(trace, slot) + " holds nothing", ""};
    if (is_doubled(found) && replay.twice()) return twice_in(trace, slot, *replay.twice());
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
    return {text, ""};
}

std::optional<Wrong> counted_twice(const Trace& trace) {
    const std::vector<Output> outputs = outputs_of(trace.shape);
    const Replay all(trace, verbs_behind(trace, places_of(outputs)));
    for (const Output& output : outputs) {
        if (!is_doubled(all.value(output.place))) continue;
        const Replay one(trace, verbs_behind(trace, {output.place}));
        return twice_in(trace, output.place, *one.twice());
    }
    return std::nullopt;
}

plan::Condition condition_of(const Trace& trace) {
    const std::vector<Output> outputs = outputs_of(trace.shape);
    const Replay replay(trace, verbs_behind(trace, places_of(outputs)));
    plan::Condition condition;
    for (const auto& [place, number] : outputs) {
        const Counted& found = replay.value(place);
        if (found.empty() || is_doubled(found)) continue;
        auto& value = condition.outputs[Rank(place.rank)][number];
        for (const auto& [contribution, count] : found) value.push_back(contribution);
    }
    // Ranks whose inputs are not all defined say so.
    for (std::uint32_t r = 0; r < trace.shape.ranks; ++r) condition.inputs[Rank(r)] = {};
    for (const Initial& initial : initial_values(trace.shape)) {
        if (initial.slot.buffer == kInput) {
            condition.inputs[Rank(initial.slot.rank)].push_back(initial.slot.index);
        }
    }
    return condition;
}

}  // namespace tutti::lang
