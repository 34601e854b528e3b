#include "compile/execution/draft.hpp"

#include <algorithm>
#include <map>
#include <tuple>

// Two chunks take the same paths if each rank does the same with them in the same order: the times may
// differ, as they do where a link takes one chunk after the other, and so may the order of sends of the same
// value. Chunks are independent, so any of them may determine the times for all; the first does.

namespace tutti::compile::execution {
namespace {

/// What a rank does: whether it receives, from or to whom, and what with it.
using Step = std::tuple<bool, std::uint32_t, Op>;
using Story = std::map<std::uint32_t, std::vector<Step>>;

class Ways {
  public:
    explicit Ways(const Draft& draft) : draft_(draft), of_chunk_(draft.part.chunks) {
        for (std::uint32_t i = 0; i < draft.part.messages.size(); ++i) {
            of_chunk_[draft.part.messages[i].chunk].push_back(i);
        }
    }

    [[nodiscard]] const std::vector<std::uint32_t>& messages(std::uint32_t chunk) const {
        return of_chunk_[chunk];
    }

    /// What each rank does with a chunk, in order; neighbouring sends by their receivers.
    [[nodiscard]] Story story(std::uint32_t chunk) const {
        std::vector<RankMessage> messages;
        for (const std::uint32_t i : of_chunk_[chunk]) messages.push_back(draft_.part.messages[i]);
        Story story;
        for (const Event& event : events_of(messages)) {
            const RankMessage& message = messages[event.message];
            if (event.arrives) {
                story[message.to].emplace_back(true, message.from, message.op);
            } else {
                story[message.from].emplace_back(false, message.to, message.op);
            }
        }
        for (auto& [rank, steps] : story) {
            for (auto begin = steps.begin(); begin != steps.end();) {
                const auto arrives = [](const Step& step) { return std::get<0>(step); };
                const auto end = std::find_if(begin, steps.end(), arrives);
                std::sort(begin, end);
                begin = end == steps.end() ? end : end + 1;
            }
        }
        return story;
    }

    /// Whether the second chunk lies behind the first one, wherever either lies in an input or an output.
    [[nodiscard]] bool side_by_side(std::uint32_t first, std::uint32_t second) const {
        const auto follows = [](const auto& a, const auto& b) {
            return a.has_value() == b.has_value() && (!a || *a + 1 == *b);
        };
        for (std::uint32_t rank = 0; rank < draft_.part.ranks; ++rank) {
            if (!follows(draft_.places.input(rank, first), draft_.places.input(rank, second)) ||
                !follows(draft_.places.output(rank, first), draft_.places.output(rank, second))) {
                return false;
            }
        }
        return true;
    }

  private:
    const Draft& draft_;
    std::vector<std::vector<std::uint32_t>> of_chunk_;
};

}  // namespace

void form_units(Draft& draft) {
    const Ways ways(draft);
    Story story;
    for (std::uint32_t chunk = 0; chunk < draft.part.chunks; ++chunk) {
        Story next = ways.story(chunk);
        if (!draft.units.empty() && next == story && ways.side_by_side(chunk - 1, chunk)) {
            ++draft.units.back().count;
            continue;
        }
        story = std::move(next);
        draft.units.push_back({chunk, 1, ways.messages(chunk)});
    }
}

std::optional<Spot> Draft::start(std::uint32_t rank, std::uint32_t chunk) const {
    const auto input = places.input(rank, chunk);
    if (!input) return std::nullopt;
    // In place, a chunk that is both input and output of a rank lies at one place.
    if (in_place && !shares_places()) {
        if (const auto output = end(rank, chunk)) return output;
    }
    return Spot{plan::Buffer::Input, *input};
}

std::optional<Spot> Draft::end(std::uint32_t rank, std::uint32_t chunk) const {
    const auto output = places.output(rank, chunk);
    if (!output) return std::nullopt;
    return Spot{plan::Buffer::Output, *output};
}

}  // namespace tutti::compile::execution
