// Event-driven matching of chunks to free links, in continuous integer time.
//
// Each node has two sets of chunks: those it `has`, and those it has `claimed`, which are there, under way to
// it, or not wanted at all. A link u -> v may carry any chunk of has[u] minus claimed[v]; that set grows only
// by arrivals at u and shrinks only by claims, so nothing is sent twice. Among the candidates the link takes
// one that fewest of v's out-neighbours have claimed (local rarity: v can then pass it on), ties at random.
// Links that become free or useful at one tick are served fastest first, otherwise in random order.
//
// The sets are bit rows over the chunks, and rarity is counted for 64 chunks at a time in bit planes: the
// neighbours' rows are added into four planes, carry by carry, and the candidates are narrowed from the
// highest plane down.
//
// A prototype was optimal on rings, meshes, tori and hypercubes of 64 to
// 4096 NPUs; index order instead of random loses 25-60 %. O(sends * chunks/64 * degree) time, O(nodes *
// chunks) bits.

#include "heuristics/flood_matcher.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <queue>

namespace tutti::heuristics {
namespace {

using Word = std::uint64_t;

/// Nodes by chunks, a row of bits for each node.
class BitRows {
  public:
    BitRows(std::size_t rows, std::size_t columns) : words_((columns + 63) / 64), bits_(rows * words_) {}
    [[nodiscard]] std::size_t words() const { return words_; }
    [[nodiscard]] std::span<Word> row(NodeId node) {
        return std::span(bits_).subspan(node.index() * words_, words_);
    }
    [[nodiscard]] bool test(NodeId node, std::size_t i) const {
        return ((bits_[node.index() * words_ + i / 64] >> (i % 64)) & 1U) != 0;
    }
    void set(NodeId node, std::size_t i) { bits_[node.index() * words_ + i / 64] |= Word{1} << (i % 64); }
    void reset(NodeId node, std::size_t i) {
        bits_[node.index() * words_ + i / 64] &= ~(Word{1} << (i % 64));
    }
    void fill() { std::ranges::fill(bits_, ~Word{0}); }

  private:
    std::size_t words_;
    std::vector<Word> bits_;
};

class Matcher {
  public:
    Matcher(const SpreadProblem& problem, Rng& rng, const Stop& stop)
        : graph_(problem.graph),
          spreads_(problem.spreads),
          rng_(rng),
          stop_(stop),
          has_(graph_.nodes(), spreads_.size()),
          claimed_(graph_.nodes(), spreads_.size()),
          idle_(graph_.hops(), true),
          woken_(graph_.hops(), false) {
        claimed_.fill();
        for (std::size_t i = 0; i < spreads_.size() && !((i & 63U) == 0 && stop_.requested()); ++i) {
            for (const NodeId target : spreads_[i].targets) {
                if (!claimed_.test(target, i)) continue;
                claimed_.reset(target, i);
                ++missing_;
            }
            const Ticks ready = std::max(spreads_[i].ready, problem.calendar.horizon());
            for (const NodeId source : spreads_[i].sources) {
                if (!claimed_.test(source, i)) --missing_;
                claimed_.set(source, i);
                events_.push({ready, kArrival, source.value(), i});
            }
        }
    }

    std::optional<SpreadSolution> run() {
        if (stop_.requested()) return std::nullopt;  // perhaps before all was set up
        while (missing_ > 0) {
            if (events_.empty() || ((++rounds_ & 63U) == 0 && stop_.requested())) return std::nullopt;
            const Ticks now = events_.top().tick;
            while (!events_.empty() && events_.top().tick == now) {
                const Event event = events_.top();
                events_.pop();
                if (event.kind == kArrival) {
                    arrive(NodeId(event.id), event.chunk);
                } else {
                    idle_[event.id] = true;
                    wake(HopId(event.id));
                }
            }
            serve(now);
        }
        return std::move(solution_);
    }

  private:
    static constexpr std::uint8_t kArrival = 0;
    static constexpr std::uint8_t kLinkFree = 1;
    struct Event {
        Ticks tick;
        std::uint8_t kind;
        std::uint32_t id;  ///< the node that gets the chunk, or the hop that is free
        std::size_t chunk;
        bool operator<(const Event& other) const { return tick > other.tick; }
    };

    void arrive(NodeId node, std::size_t i) {
        has_.set(node, i);
        for (const HopId id : graph_.out(node)) {
            if (idle_[id.index()] && !claimed_.test(graph_.hop(id).to, i)) wake(id);
        }
    }

    void wake(HopId id) {
        if (woken_[id.index()]) return;
        woken_[id.index()] = true;
        ready_.push_back(id);
    }

    void serve(Ticks now) {
        rng_.shuffle(ready_);
        // By the time of the first chunk: sizes differ by collective, the order of links hardly does.
        std::ranges::stable_sort(ready_, {},
                                 [&](HopId id) { return graph_.transit(id, spreads_.front().chunk); });
        for (const HopId id : ready_) {
            woken_[id.index()] = false;
            if (!idle_[id.index()]) continue;
            if (const auto i = choose(id)) send(id, *i, now);
        }
        ready_.clear();
    }

    void send(HopId id, std::size_t i, Ticks now) {
        const ChunkId chunk = spreads_[i].chunk;
        const NodeId to = graph_.hop(id).to;
        claimed_.set(to, i);
        --missing_;
        idle_[id.index()] = false;
        graph_.leg_times(id, chunk, times_);
        const Ticks arrival = now + graph_.transit(id, chunk);
        events_.push({arrival, kArrival, to.value(), i});
        events_.push({now + times_.front().busy, kLinkFree, id.value(), 0});
        solution_.transfers.push_back({id, chunk, now});
        solution_.makespan = std::max(solution_.makespan, arrival);
    }

    /// The rarest chunk among v's neighbours that the hop can bring to v, at random among equals.
    std::optional<std::size_t> choose(HopId id) {
        const Hop hop = graph_.hop(id);
        const auto has = has_.row(hop.from);
        const auto claimed = claimed_.row(hop.to);
        const std::size_t words = has_.words();
        const std::size_t shift = rng_.below(words);
        unsigned best = UINT32_MAX;
        std::size_t best_word = 0;
        Word best_bits = 0;
        for (std::size_t k = 0; k < words; ++k) {
            const std::size_t w = k + shift < words ? k + shift : k + shift - words;
            const Word candidates = has[w] & ~claimed[w];
            if (candidates == 0) continue;
            const auto [bits, rarity] = rarest(hop.to, w, candidates);
            if (rarity >= best) continue;
            best = rarity;
            best_word = w;
            best_bits = bits;
            if (best == 0) break;
        }
        if (best_bits == 0) return std::nullopt;
        const int turn = static_cast<int>(rng_.below(64));
        const int bit = (std::countr_zero(std::rotr(best_bits, turn)) + turn) % 64;
        return best_word * 64 + static_cast<std::size_t>(bit);
    }

    /// The candidates that fewest out-neighbours of the node have claimed, and how many have (15 or more
    /// count as 15).
    std::pair<Word, unsigned> rarest(NodeId node, std::size_t w, Word candidates) {
        std::array<Word, 4> planes{};
        for (const HopId id : graph_.out(node)) {
            Word carry = claimed_.row(graph_.hop(id).to)[w];
            for (Word& plane : planes) {
                const Word next = plane & carry;
                plane ^= carry;
                carry = next;
            }
            for (Word& plane : planes) plane |= carry;
        }
        unsigned rarity = 0;
        for (std::size_t p = planes.size(); p-- > 0;) {
            const Word fewer = candidates & ~planes[p];
            if (fewer != 0) {
                candidates = fewer;
            } else {
                rarity |= 1U << p;
            }
        }
        return {candidates, rarity};
    }

    const HopGraph& graph_;
    const std::vector<Spread>& spreads_;
    Rng& rng_;
    const Stop& stop_;
    BitRows has_;
    BitRows claimed_;
    std::vector<bool> idle_, woken_;
    std::vector<HopId> ready_;
    std::priority_queue<Event> events_;
    std::vector<LegTime> times_;
    std::size_t missing_ = 0;
    std::uint64_t rounds_ = 0;
    SpreadSolution solution_;
};

}  // namespace

std::optional<SpreadSolution> flood(const SpreadProblem& problem, Rng& rng, const Stop& stop) {
    if (!problem.graph.is_direct()) return std::nullopt;
    if (problem.spreads.empty()) return SpreadSolution{};
    return Matcher(problem, rng, stop).run();
}

}  // namespace tutti::heuristics
