// Clusters: rails, NVSwitch nodes on a fabric, fat trees. level_plan spreads chunks over two levels; here
// demands become such spreads.
//
// 1. Sums are made first: each chunk of a reduction has a root, the receivers in turn, and spreads from it to
//    all holders backwards in time. Mirrored, that is a reduction.
// 2. Everything else spreads forwards, in the gaps and after it: plain chunks, and sums with several
// receivers
//    from their root. The first part that a sum goes to is the one whose contribution comes last, because
//    both have the same waves, one backwards. So the root need not wait for that contribution: it sends the
//    sum of all others, which the receiver adds to its own. An all-reduce of N parts with g NPUs each, c
//    chunks per NPU, then takes 2 (N-1) c betas of the outer network, and the latencies and (g-1) betas of
//    the inner one before and after it.
//
// Which level separates "outer" from "inner" best is not clear in advance; there are few, so all are tried.

#include "heuristics/levels/two_levels.hpp"

#include "heuristics/levels/level_plan.hpp"

#include <algorithm>

namespace tutti::heuristics {
namespace {

using Direction = MessagePlacer::Direction;

constexpr std::size_t kMostPassed = 3;  ///< rounds; each takes the place of a near one

/// One instance, one level.
class TwoLevels {
  public:
    TwoLevels(Cluster& cluster, std::size_t level, bool flat, const Stop& stop)
        : cluster_(cluster), instance_(cluster.instance()), level_(level), flat_(flat), stop_(stop) {
        sort_demands();
    }

    [[nodiscard]] bool distributes_sums() const { return !spread_sums_.empty(); }

    /// With `early`, a sum is complete at its root early, except for what comes last from another part; else
    /// contributions of the root's own part may be the last ones.
    std::optional<Schedule> run(bool early) {
        MessagePlacer backwards(instance_, Direction::Backwards);
        LevelPlan sums(cluster_, level_, flat_, Direction::Backwards, backwards, stop_);
        if (!sums.spread(sums_, early).empty()) return std::nullopt;
        MessagePlacer forwards = backwards.mirrored(release_);
        contributions_.assign(sums_.size(), {});
        for (const RootMessage& message : sums.root_messages())
            add_contribution(message, backwards.makespan() + release_);
        std::vector<LevelItem> items = plain_;
        for (const std::uint32_t i : spread_sums_) items.push_back(distribution(i));
        LevelPlan plan(cluster_, level_, flat_, Direction::Forwards, forwards, stop_);
        if (!plan.spread(items, false).empty()) return std::nullopt;
        return forwards.schedule();
    }

    /// What run_one_way placed.
    [[nodiscard]] Schedule schedule_of(const MessagePlacer& placer) const {
        return plain_.empty() ? placer.mirrored(release_).schedule() : placer.schedule();
    }
    /// Without mirroring, where everything spreads in one direction. None: it does not, or it was stopped.
    std::optional<MessagePlacer> run_one_way(bool in_turns) {
        return one_way([&](LevelPlan& plan, const std::vector<LevelItem>& items) {
            return in_turns ? plan.spread_in_turns(items) : plan.spread(items, false);
        });
    }
    /// The same in mixed rounds, so many of which are passed on.
    std::optional<MessagePlacer> run_mixed(std::size_t passed) {
        return one_way([&](LevelPlan& plan, const std::vector<LevelItem>& items) {
            return plan.spread_mixed(items, passed);
        });
    }

  private:
    template <class Spread>
    std::optional<MessagePlacer> one_way(const Spread& spread) {
        if (distributes_sums() || sums_.empty() == plain_.empty()) return std::nullopt;
        const Direction direction = plain_.empty() ? Direction::Backwards : Direction::Forwards;
        MessagePlacer placer(instance_, direction);
        LevelPlan plan(cluster_, level_, flat_, direction, placer, stop_);
        if (!spread(plan, plain_.empty() ? sums_ : plain_).empty()) return std::nullopt;
        return placer;
    }
    /// What comes to the root of a sum.
    struct Contributions {
        std::optional<LastContributor> last = {};
        Ticks others{}, complete{};
        std::size_t count = 0;
    };

    void sort_demands() {
        std::vector<std::size_t> turns(instance_.collectives().size(), 0);
        for (std::size_t c = 0; c < instance_.chunks(); ++c) {
            const ChunkId chunk(c);
            const Demand demand = instance_.demand(chunk);
            if (!demand.reduction || demand.holders.size() == 1) {
                plain_.push_back({chunk, demand.holders, instance_.last_release(chunk), demand.receivers});
                continue;
            }
            // Receivers are roots in turn, so that none sums up more than its share.
            const std::size_t root = turns[demand.collective.index()]++ % demand.receivers.size();
            release_ = std::max(release_, instance_.last_release(chunk));
            if (demand.receivers.size() > 1) spread_sums_.push_back(static_cast<std::uint32_t>(sums_.size()));
            sums_.push_back({chunk, demand.receivers.subspan(root, 1), Ticks(0), demand.holders});
        }
    }

    /// `end`: where backward time is 0.
    void add_contribution(const RootMessage& message, Ticks end) {
        Contributions& known = contributions_[message.item];
        ++known.count;
        const Ticks come = end - message.span.start;
        if (!known.last || come > known.last->come) {
            known.others = known.complete;
            known.last = LastContributor{message.npu, Ticks(0), end - message.span.end, come};
            known.complete = come;
        } else {
            known.others = std::max(known.others, come);
        }
    }

    [[nodiscard]] LevelItem distribution(std::uint32_t sum) const {
        const LevelItem& item = sums_[sum];
        Contributions known = contributions_[sum];
        // A root that is no holder has nothing before its first contribution.
        const bool has_others = known.count > 1 || std::ranges::binary_search(
                                                       instance_.demand(item.chunk).holders, item.sources[0]);
        if (!has_others) known.last.reset();
        if (known.last) known.last->others = std::max(known.others, instance_.last_release(item.chunk));
        return {item.chunk, item.sources, known.complete, instance_.demand(item.chunk).receivers, known.last};
    }

    Cluster& cluster_;
    const Instance& instance_;
    const std::size_t level_;
    const bool flat_;
    const Stop& stop_;
    std::vector<LevelItem> plain_, sums_;
    std::vector<std::uint32_t> spread_sums_;    ///< those that go on to other receivers
    std::vector<Contributions> contributions_;  ///< by sum
    Ticks release_;
};

/// The best of what is known and of the variants at one level.
void try_level(Cluster& cluster, std::size_t level, bool flat, const Stop& stop,
               std::optional<Schedule>& best) {
    TwoLevels search(cluster, level, flat, stop);
    for (const bool early : {false, true}) {
        if (stop.requested() || (early && !search.distributes_sums())) break;
        auto found = search.run(early);
        if (found && (!best || found->makespan < best->makespan)) best = std::move(found);
    }
    const auto take = [&](const MessagePlacer& placed) {
        Schedule found = search.schedule_of(placed);
        if (!best || found.makespan < best->makespan) best = std::move(found);
    };
    for (std::size_t passed = 0; level == 0 && passed <= kMostPassed && !stop.requested(); ++passed) {
        const auto placed = search.run_mixed(passed);
        if (!placed) break;
        take(*placed);
    }
    if (level == 0 || stop.requested()) return;
    if (const auto placed = search.run_one_way(true)) take(*placed);
}

}  // namespace

std::string why_no_crossbar_rounds(const Instance& instance) {
    if (instance.topology().switches() == 0) return "the network has no switches";
    if (instance.chunks() == 0) return "nothing is to be sent";
    return {};
}

std::optional<Schedule> two_levels(const Instance& instance, const Stop& stop) {
    if (!why_no_crossbar_rounds(instance).empty()) return std::nullopt;
    Cluster cluster(instance);
    std::optional<Schedule> best;
    for (std::size_t level = cluster.levels().size(); level > 0; --level)
        try_level(cluster, level, false, stop, best);
    return best;
}

std::vector<MessagePlacer> spread_plans(const Instance& instance, const Stop& stop) {
    std::vector<MessagePlacer> plans;
    if (!why_no_crossbar_rounds(instance).empty()) return plans;
    Cluster cluster(instance);
    for (std::size_t level = 0; level <= cluster.levels().size() && !stop.requested(); ++level) {
        for (const bool in_turns : {false, true}) {
            if (in_turns && level == 0) continue;
            if (auto plan = TwoLevels(cluster, level, false, stop).run_one_way(in_turns))
                plans.push_back(std::move(*plan));
        }
    }
    return plans;
}

std::string why_no_two_levels(const Instance& instance) {
    if (std::string why = why_no_crossbar_rounds(instance); !why.empty()) return why;
    if (Cluster(instance).levels().empty()) return "the network has only one level";
    return {};
}

std::optional<Schedule> crossbar_rounds(const Instance& instance, const Stop& stop) {
    if (!why_no_crossbar_rounds(instance).empty()) return std::nullopt;
    Cluster cluster(instance);
    std::optional<Schedule> best;
    try_level(cluster, 0, false, stop, best);
    if (cluster.is_irregular()) try_level(cluster, 0, true, stop, best);
    return best;
}

}  // namespace tutti::heuristics
