// Chunks that few NPUs have and many want: the root's port is not the bottleneck but the start, when only few
// have anything to send. Two constructions, of which the better one counts: exchanges along dimensions
// (dimension_exchange), which are optimal in rounds on a crossbar of 2^q NPUs, and pushes in time with random
// weights (push_spread), which suit any network and any latency.
//
// Reductions to one NPU are the same backwards, and are made first; everything else spreads forwards in the
// gaps and after it.

#include "heuristics/levels/broadcast.hpp"

#include "heuristics/levels/dimension_exchange.hpp"
#include "heuristics/levels/push_spread.hpp"

#include <algorithm>
#include <set>

namespace tutti::heuristics {
namespace {

using Direction = MessagePlacer::Direction;

constexpr std::size_t kMostNpus = 2'048;          ///< beyond them the table of pairs is too large
constexpr std::size_t kMostPushes = 4'000;        ///< with weights of their own
constexpr std::size_t kUsualPushes = 7;           ///< without random weights
constexpr std::size_t kMostVainPushes = 1'500;    ///< one after the other
constexpr std::uint64_t kMostWork = 600'000'000;  ///< choices that all pushes look at

bool is_sum(const Demand& demand) { return demand.reduction && demand.holders.size() > 1; }

class Broadcasts {
  public:
    Broadcasts(const Instance& instance, const Stop& stop)
        : instance_(instance), stop_(stop), cluster_(instance), rng_(1) {}

    std::optional<Schedule> run() {
        std::vector<LevelItem> sums, plain;
        Ticks release;
        for (std::size_t c = 0; c < instance_.chunks(); ++c) {
            const ChunkId chunk(c);
            const Demand demand = instance_.demand(chunk);
            if (is_sum(demand)) {
                sums.push_back({chunk, demand.receivers, Ticks(0), demand.holders});
                release = std::max(release, instance_.release(chunk));
            } else {
                plain.push_back({chunk, demand.holders, instance_.release(chunk), demand.receivers});
            }
        }
        const auto backwards =
            best_of(Direction::Backwards, sums, MessagePlacer(instance_, Direction::Backwards));
        if (!backwards) return std::nullopt;
        const auto forwards = best_of(Direction::Forwards, plain, backwards->mirrored(release));
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
                                         const MessagePlacer& base) {
        if (items.empty()) return base;
        std::optional<MessagePlacer> best;
        for (const bool far_first : {true, false}) {
            MessagePlacer placer = base;
            if (dimension_exchange(cluster_, direction, items, far_first, placer, stop_))
                (void)take(best, placer);
        }
        const PushPorts ports(cluster_, direction, items);
        std::uint64_t work = 0;
        std::size_t vain = 0;
        for (std::size_t i = 0; i < kMostPushes && vain < kMostVainPushes && work < kMostWork; ++i, ++vain) {
            if (stop_.requested()) break;
            const PushWeights weights = i < kUsualPushes ? usual_weights(ports, static_cast<std::int64_t>(i))
                                                         : random_weights(ports, rng_);
            MessagePlacer placer = base;
            const Ticks limit = best ? best->makespan() : Ticks::max();
            const bool done = push_spread(ports, items, weights, placer, rng_, stop_, limit, work);
            if (done && take(best, placer)) vain = 0;
            if (i == 0 && !best) break;  // somebody cannot be reached
        }
        return best;
    }

    const Instance& instance_;
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
    return Broadcasts(instance, stop).run();
}

}  // namespace tutti::heuristics
