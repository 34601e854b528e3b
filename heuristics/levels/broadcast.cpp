// Chunks that few NPUs have and many want: the root's port is not the bottleneck but the start, when only few
// have anything to send. Two constructions, of which the better one counts: the optimal rounds of a crossbar
// (block_broadcast), and pushes in time (push_spread), which suit any network and any latency. The weights of
// the pushes are searched: two of three are drawn at random, the others change the best ones known in one
// place; three of four begin like the best one up to a random tick. (One of two, and waiting in every second
// run, took a dragonfly of 144 from 44 to 47 ticks.)
//
// Reductions to one NPU are the same backwards, and are made first; everything else spreads forwards in the
// gaps and after it.

#include "heuristics/levels/broadcast.hpp"

#include "heuristics/levels/block_broadcast.hpp"
#include "heuristics/levels/push_spread.hpp"

#include <algorithm>
#include <limits>
#include <set>

namespace tutti::heuristics {
namespace {

using Direction = MessagePlacer::Direction;

constexpr std::size_t kMostNpus = 2'048;        ///< beyond them the table of pairs is too large
constexpr std::size_t kMostPushes = 8'000;      ///< with weights of their own
constexpr std::int64_t kLeastNoise = 2;         ///< so that a push that begins like another goes on otherwise
constexpr std::size_t kUsualPushes = 7;         ///< without random weights
constexpr std::size_t kMostVainPushes = 3'000;  ///< one after the other
constexpr std::uint64_t kMostWork = 600'000'000;  ///< choices that all pushes look at

bool is_sum(const Demand& demand) { return demand.reduction && demand.holders.size() > 1; }

/// When the pushes end.
struct PushEffort {
    std::uint64_t seed = 1;
    std::size_t pushes = kMostPushes;
    std::size_t vain = kMostVainPushes;
    std::uint64_t work = kMostWork;
    Ticks target{};
};

class Broadcasts {
  public:
    Broadcasts(const Instance& instance, const PushEffort& effort, const Stop& stop)
        : instance_(instance), effort_(effort), stop_(stop), cluster_(instance), rng_(effort.seed) {}

    std::optional<MessagePlacer> spread(std::span<const LevelItem> items, const MessagePlacer& base) {
        return best_of(Direction::Forwards, items, base, stop_);
    }

    std::optional<Schedule> run() {
        std::vector<LevelItem> sums, plain;
        Ticks release;
        for (std::size_t c = 0; c < instance_.chunks(); ++c) {
            const ChunkId chunk(c);
            const Demand demand = instance_.demand(chunk);
            if (is_sum(demand)) {
                sums.push_back({chunk, demand.receivers, Ticks(0), demand.holders});
                release = std::max(release, instance_.last_release(chunk));
            } else {
                plain.push_back({chunk, demand.holders, instance_.last_release(chunk), demand.receivers});
            }
        }
        const auto left = stop_.remaining();
        const Stop first = left && !plain.empty() ? stop_.within(*left / 2) : stop_;
        const auto backwards =
            best_of(Direction::Backwards, sums, MessagePlacer(instance_, Direction::Backwards), first);
        if (!backwards) return std::nullopt;
        const auto forwards = best_of(Direction::Forwards, plain, backwards->mirrored(release), stop_);
        return forwards ? std::optional(forwards->schedule()) : std::nullopt;
    }

  private:
    /// Whether it is better.
    static bool take(std::optional<MessagePlacer>& best, MessagePlacer& tried) {
        if (best && tried.makespan() >= best->makespan()) return false;
        best.emplace(std::move(tried));
        return true;
    }

    /// The items on top of what is placed in `base`.
    std::optional<MessagePlacer> best_of(Direction direction, std::span<const LevelItem> items,
                                         const MessagePlacer& base, const Stop& stop) {
        if (items.empty()) return base;
        std::optional<MessagePlacer> best;
        for (const BlockOrder order : {BlockOrder::FarCube, BlockOrder::NearCube, BlockOrder::Circulant}) {
            MessagePlacer placer = base;
            if (block_broadcast(cluster_, direction, items, order, placer, stop)) (void)take(best, placer);
        }
        push(direction, items, base, stop, best);
        return best;
    }

    /// The best push until now.
    struct BestPush {
        PushWeights weights;
        std::vector<Pushed> messages;  ///< empty: there is none
        Ticks makespan = Ticks::max();
        std::int64_t lateness = 0;
    };

    /// Improves `best` by pushes.
    void push(Direction direction, std::span<const LevelItem> items, const MessagePlacer& base,
              const Stop& stop, std::optional<MessagePlacer>& best) {
        const PushPorts ports(cluster_, direction, items);
        PushResult result;
        BestPush known{usual_weights(ports, 0), {}};
        for (std::size_t i = 0, vain = 0; i < effort_.pushes && vain < effort_.vain; ++i, ++vain) {
            if (stop.requested() || result.work >= effort_.work) break;
            if (best && best->makespan() <= effort_.target) break;
            MessagePlacer placer = base;
            PushLimits limits{stop, best ? best->makespan() : Ticks::max(), known.messages};
            PushWeights weights = next_weights(ports, i, known.weights);
            if (i >= kUsualPushes && !known.messages.empty() && rng_.below(4) > 0) {
                limits.from = drawn_before(known.makespan);
                if (rng_.below(2) == 0) weights = known.weights;
                weights.noise = std::max(weights.noise, kLeastNoise);
            }
            if (push_spread(ports, items, weights, limits, placer, rng_, result)) {
                keep(weights, placer.makespan(), result.messages, known);
                if (take(best, placer)) vain = 0;
            }
            if (i == 0 && !best) break;  // somebody cannot be reached
        }
    }
    Ticks drawn_before(Ticks end) {
        return Ticks(static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(end.count()) + 1)));
    }

    /// Of equal makespans the one with fewer messages in the last quarter is nearer to a shorter one.
    static void keep(const PushWeights& weights, Ticks makespan, std::vector<Pushed>& messages,
                     BestPush& known) {
        std::int64_t lateness = 0;
        const Ticks quarter(makespan.count() / 4);
        for (const Pushed& message : messages) {
            const Ticks late = message.end + quarter - std::min(makespan, message.end + quarter);
            lateness += late.count();
        }
        if (std::pair(makespan, lateness) > std::pair(known.makespan, known.lateness)) return;
        known.weights = weights;
        known.messages.swap(messages);
        known.makespan = makespan;
        known.lateness = lateness;
    }
    PushWeights next_weights(const PushPorts& ports, std::size_t push, const PushWeights& best) {
        if (push < kUsualPushes) return usual_weights(ports, static_cast<std::int64_t>(push));
        return rng_.below(3) > 0 ? random_weights(ports, rng_) : changed_weights(ports, best, rng_);
    }

    const Instance& instance_;
    const PushEffort effort_;
    const Stop& stop_;
    Cluster cluster_;
    Rng rng_;
};

}  // namespace

std::string why_no_broadcast_rounds(const Instance& instance) {
    if (instance.topology().switches() == 0) return "the network has no switches";
    std::set<NodeId> roots, others;
    for (std::size_t c = 0; c < instance.chunks(); ++c) {
        const Demand demand = instance.demand(ChunkId(c));
        const auto ends = is_sum(demand) ? demand.receivers : demand.holders;
        const auto rest = is_sum(demand) ? demand.holders : demand.receivers;
        if (is_sum(demand) && ends.size() > 1) return "a sum has several receivers";
        roots.insert(ends.begin(), ends.end());
        if (rest.size() > 1) others.insert(rest.begin(), rest.end());
    }
    if (others.empty()) return "every chunk has one receiver";
    if (2 * roots.size() > others.size()) return "there are too many roots";
    if (others.size() > kMostNpus) return "there are too many NPUs";
    return {};
}

std::optional<Schedule> broadcast_rounds(const Instance& instance, const Stop& stop) {
    if (!why_no_broadcast_rounds(instance).empty()) return std::nullopt;
    return Broadcasts(instance, {}, stop).run();
}

std::optional<MessagePlacer> broadcast(std::span<const LevelItem> items, const MessagePlacer& base,
                                       const Instance& instance, const Stop& stop) {
    return Broadcasts(instance, {}, stop).spread(items, base);
}

std::optional<Schedule> search_broadcasts(const Instance& instance, Ticks target, std::uint64_t seed,
                                          const Stop& stop) {
    if (!why_no_broadcast_rounds(instance).empty()) return std::nullopt;
    constexpr auto kNoLimit = std::numeric_limits<std::uint64_t>::max();
    return Broadcasts(instance, {seed, kNoLimit, kNoLimit, kNoLimit, target}, stop).run();
}

}  // namespace tutti::heuristics
