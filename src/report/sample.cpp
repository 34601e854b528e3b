// A sample has to be representative. Chunks of one group start in some order, and neighbours in it behave
// similarly; so each group's chunks are sorted by start, and taken in golden-ratio steps: the next one is
// 0.618 of the list further on, which spreads every prefix evenly. (Halves, quarters and eighths do that too,
// but on a 32 x 32 torus they took chunks of three columns.) Groups are visited in the same order, because
// there may be more groups than can be shown.

#include "report/sample.hpp"

#include "core/expects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numbers>
#include <numeric>

namespace tutti::report {
namespace {

/// 0 … count-1, each once, in golden steps.
class Spread {
  public:
    explicit Spread(std::size_t count)
        : count_(count), step_(static_cast<std::size_t>(static_cast<double>(count) / std::numbers::phi)) {
        while (step_ > 1 && std::gcd(step_, count_) != 1) --step_;
        step_ = std::max<std::size_t>(step_, 1);
    }
    /// Count when there is no more.
    std::size_t next() { return turn_ < count_ ? turn_++ * step_ % count_ : count_; }

  private:
    std::size_t count_, step_, turn_ = 0;
};

/// The chunks of a group that move, by start.
struct Line {
    std::vector<std::uint32_t> chunks;
    Spread spread{0};
};

std::vector<Line> lines_of(const Instance& instance, const Tally& tally) {
    std::vector<Line> lines(instance.groups().size());
    for (std::uint32_t chunk = 0; chunk < instance.chunks(); ++chunk) {
        if (tally.chunk_sends[chunk] == 0) continue;
        lines[instance.collective_of(ChunkId(chunk)).group.index()].chunks.push_back(chunk);
    }
    std::erase_if(lines, [](const Line& line) { return line.chunks.empty(); });
    for (Line& line : lines) {
        std::ranges::stable_sort(line.chunks, {},
                                 [&](std::uint32_t chunk) { return tally.chunk_start[chunk]; });
        line.spread = Spread(line.chunks.size());
    }
    std::vector<Line> turns;
    Spread order(lines.size());
    for (std::size_t i = order.next(); i < lines.size(); i = order.next())
        turns.push_back(std::move(lines[i]));
    return turns;
}

/// Nothing fits whole: the beginning of the smallest chunk.
Sample beginning_of_one(const Tally& tally, std::uint64_t most) {
    std::size_t smallest = tally.chunk_sends.size();
    for (std::size_t chunk = 0; chunk < tally.chunk_sends.size(); ++chunk) {
        if (tally.chunk_sends[chunk] == 0) continue;
        if (smallest == tally.chunk_sends.size() || tally.chunk_sends[chunk] < tally.chunk_sends[smallest]) {
            smallest = chunk;
        }
    }
    Sample sample{false, std::vector<bool>(tally.chunk_sends.size()), most, {}};
    sample.chunks[smallest] = true;
    sample.note = fmt::format("{} of {} sends are shown: the first ones of chunk {}, which has {}",
                              grouped_digits(most), grouped_digits(tally.sends), smallest,
                              grouped_digits(tally.chunk_sends[smallest]));
    return sample;
}

}  // namespace

std::string grouped_digits(std::uint64_t number) {
    std::string digits = std::to_string(number);
    for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, " ");
    return digits;
}

Sample sample_of(const Instance& instance, const Tally& tally, std::uint64_t most) {
    expects(most > 0);
    if (tally.sends <= most) return {true, {}, tally.sends, {}};
    std::uint64_t moving = 0;
    std::uint32_t least = std::numeric_limits<std::uint32_t>::max();
    for (const std::uint32_t sends : tally.chunk_sends) {
        if (sends == 0) continue;
        ++moving;
        least = std::min(least, sends);
    }
    if (least > most) return beginning_of_one(tally, most);

    Sample sample{false, std::vector<bool>(instance.chunks()), 0, {}};
    std::uint64_t taken = 0;
    auto lines = lines_of(instance, tally);
    for (std::size_t left = lines.size(); left > 0 && sample.sends + least <= most;) {
        left = 0;
        for (Line& line : lines) {
            const std::size_t next = line.spread.next();
            if (next >= line.chunks.size()) continue;
            ++left;
            const std::uint32_t chunk = line.chunks[next];
            if (sample.sends + tally.chunk_sends[chunk] > most) continue;
            sample.chunks[chunk] = true;
            sample.sends += tally.chunk_sends[chunk];
            ++taken;
        }
    }
    sample.note =
        fmt::format("{} of {} sends are shown: all sends of {} of {} chunks", grouped_digits(sample.sends),
                    grouped_digits(tally.sends), grouped_digits(taken), grouped_digits(moving));
    return sample;
}

}  // namespace tutti::report
