// All-reduce in one flow instead of two phases.
//
// A reduce-scatter followed by an all-gather is the best all-reduce where every link is busy in both halves.
// On uneven networks it is not: the corners of a mesh limit the first half by what they can send and the
// second by what they can receive, while the opposite links idle. So for each chunk a tree that gathers and a
// tree that spreads are planned, all under common prices of the links, and then all are scheduled at once: a
// transfer that gathers waits for those below it, the first ones that spread wait for the root's sum. Each
// free link takes the most urgent transfer that waits for it.
//
// Urgency is first the batch, then the longest remaining path. With one batch all chunks gather at
// once and then spread at once, which is the two phases again; with many, early chunks are done while late
// ones begin, which keeps both directions busy but makes chunks of one batch too few to fill the links. So
// several numbers of batches are tried. A prototype on an 8x8 mesh with 16 chunks per NPU came to 628 steps
// where no two-phase schedule takes less than 1008.

#include "heuristics/trees/pipelined_all_reduce.hpp"

#include "heuristics/event_queue.hpp"
#include "heuristics/paths/hop_times.hpp"
#include "heuristics/paths/list_schedule.hpp"
#include "heuristics/trees/steiner_trees.hpp"

#include <algorithm>
#include <map>

namespace tutti::heuristics {
namespace {

struct Trees {
    TreePlan gather, spread;
};

/// Gathering and spreading trees are planned alternately, each at the prices that the others leave.
std::optional<Trees> plan(const SpreadProblem& gather, const SpreadProblem& spread, Rng& rng,
                          const Stop& stop) {
    Trees trees;
    std::vector<Ticks> taken;
    for (std::uint64_t round = 0; round < spread.options.pipeline_rounds; ++round) {
        auto first = steiner_trees(gather, rng, stop, taken);
        if (!first) return std::nullopt;
        auto second = steiner_trees(spread, rng, stop, link_loads(gather, *first));
        if (!second) return std::nullopt;
        taken = link_loads(spread, *second);
        trees = {std::move(*first), std::move(*second)};
    }
    return trees;
}

/// For each chunk its position among those with the same root: chunks of one position are spread evenly over
/// the network and make a good batch.
std::vector<std::uint32_t> positions(const SpreadProblem& spread) {
    std::map<NodeId, std::uint32_t> seen;
    std::vector<std::uint32_t> result;
    for (const Spread& each : spread.spreads) result.push_back(seen[each.sources.front()]++);
    return result;
}

class FlowScheduler {
  public:
    FlowScheduler(const SpreadProblem& gather, const SpreadProblem& spread, const Trees& trees)
        : gather_(gather),
          spread_(spread),
          trees_(trees),
          times_(spread),
          gathers_(trees.gather.hops.size()) {
        const std::size_t arcs = gathers_ + trees.spread.hops.size();
        chunk_.resize(arcs);
        tail_.resize(arcs);
        waits_for_.resize(arcs);
        children_.resize(arcs + spread.spreads.size());
        sums_.resize(spread.spreads.size());
        for (std::uint32_t i = 0; i < sums_.size(); ++i) set_up(i);
    }

    std::optional<PipelinedAllReduce> run(const std::vector<std::uint32_t>& batch, const Stop& stop) {
        waiting_.assign(spread_.graph.hops(), {});
        free_.assign(spread_.graph.hops(), 0);
        start_.assign(chunk_.size(), 0);
        auto left = waits_for_;
        auto sums = sums_;
        EventQueue<Event> events;
        for (std::uint32_t arc = 0; arc < gathers_; ++arc) {
            if (left[arc] == 0) events.push({ready(arc), arc, Event::Ready});
        }
        // A chunk that only the root holds has nothing to gather.
        for (std::uint32_t i = 0; i < sums.size(); ++i) {
            if (sums[i] > 0) continue;
            for (const std::uint32_t arc : children_[chunk_.size() + i])
                events.push({ready(arc), arc, Event::Ready});
        }
        std::vector<Event> now;
        std::vector<std::uint32_t> hops;
        std::int64_t makespan = 0;
        const auto release = [&](std::uint32_t arc, std::int64_t time) {
            auto& queue = waiting_[hop(arc).index()];
            queue.push_back({batch[chunk_[arc]], tail_[arc], arc});
            std::push_heap(queue.begin(), queue.end());
            if (free_[hop(arc).index()] <= time) hops.push_back(hop(arc).value());
        };
        for (std::uint64_t round = 0; !events.empty(); ++round) {
            if ((round & 255U) == 0 && stop.requested()) return std::nullopt;
            events.pop(now);
            const std::int64_t time = now.front().time;
            hops.clear();
            for (const Event& event : now) {
                switch (event.kind) {
                    case Event::Ready:
                        release(event.id, time);
                        break;
                    case Event::Free:
                        hops.push_back(event.id);
                        break;
                    case Event::Arrival:
                        if (event.id >= gathers_) {
                            for (const std::uint32_t next : children_[event.id]) release(next, time);
                        } else if (const std::uint32_t next = parent(event.id); next != TreePlan::kRoot) {
                            if (--left[next] == 0) release(next, time);
                        } else if (--sums[chunk_[event.id]] == 0) {
                            for (const std::uint32_t first : children_[chunk_.size() + chunk_[event.id]]) {
                                release(first, time);
                            }
                        }
                        break;
                }
            }
            for (const std::uint32_t id : hops) {
                auto& queue = waiting_[id];
                if (queue.empty() || free_[id] > time) continue;
                std::pop_heap(queue.begin(), queue.end());
                const std::uint32_t arc = queue.back().arc;
                queue.pop_back();
                const std::uint32_t kind = times_.kind(chunk_[arc]);
                start_[arc] = time;
                free_[id] = time + times_.busy(HopId(id), kind);
                const std::int64_t end = time + times_.transit(HopId(id), kind);
                makespan = std::max(makespan, end);
                events.push({free_[id], id, Event::Free});
                events.push({end, arc, Event::Arrival});
            }
        }
        return collected(makespan);
    }

  private:
    struct Event {
        enum Kind : std::uint8_t { Ready, Free, Arrival };
        std::int64_t time;
        std::uint32_t id;  ///< a hop that is free, or an arc
        Kind kind;
    };
    struct Waiting {
        std::uint32_t batch;
        std::int64_t tail;
        std::uint32_t arc;
        bool operator<(const Waiting& other) const {  // the largest is served first
            if (batch != other.batch) return batch > other.batch;
            if (tail != other.tail) return tail < other.tail;
            return arc > other.arc;
        }
    };

    // Arcs are numbered through: first those that gather, then those that spread.
    [[nodiscard]] HopId hop(std::uint32_t arc) const {
        return arc < gathers_ ? trees_.gather.hops[arc] : trees_.spread.hops[arc - gathers_];
    }
    [[nodiscard]] std::uint32_t parent(std::uint32_t arc) const { return trees_.gather.parents[arc]; }
    [[nodiscard]] std::int64_t ready(std::uint32_t arc) const {
        return times_.units(gather_.spreads[chunk_[arc]].ready);
    }

    void set_up(std::uint32_t i) {
        const std::uint32_t kind = times_.kind(i);
        const auto base = static_cast<std::uint32_t>(gathers_);
        std::int64_t after = 0;  // the sum
        for (std::uint32_t a = trees_.spread.begin[i + 1]; a-- > trees_.spread.begin[i];) {
            const std::uint32_t arc = base + a;
            chunk_[arc] = i;
            tail_[arc] += times_.transit(hop(arc), kind);
            const std::uint32_t above = trees_.spread.parents[a];
            if (above == TreePlan::kRoot) {
                children_[chunk_.size() + i].push_back(arc);
                after = std::max(after, tail_[arc]);
            } else {
                children_[base + above].push_back(arc);
                tail_[base + above] = std::max(tail_[base + above], tail_[arc]);
            }
        }
        for (std::uint32_t a = trees_.gather.begin[i]; a < trees_.gather.begin[i + 1]; ++a) {
            chunk_[a] = i;
            const std::uint32_t above = parent(a);
            tail_[a] = times_.transit(hop(a), kind) + (above == TreePlan::kRoot ? after : tail_[above]);
            ++(above == TreePlan::kRoot ? sums_[i] : waits_for_[above]);
        }
    }

    [[nodiscard]] PipelinedAllReduce collected(std::int64_t makespan) const {
        PipelinedAllReduce result;
        result.makespan = times_.ticks(makespan);
        for (std::uint32_t arc = 0; arc < chunk_.size(); ++arc) {
            (arc < gathers_ ? result.gather : result.spread)
                .push_back({hop(arc), spread_.spreads[chunk_[arc]].chunk, times_.ticks(start_[arc])});
        }
        return result;
    }

    const SpreadProblem& gather_;
    const SpreadProblem& spread_;
    const Trees& trees_;
    HopTimes times_;
    const std::size_t gathers_;
    std::vector<std::uint32_t> chunk_;      ///< by arc: which spread it belongs to
    std::vector<std::int64_t> tail_;        ///< by arc: from its start to the end of all that follows it
    std::vector<std::uint32_t> waits_for_;  ///< by arc that gathers: how many arcs below it
    std::vector<std::uint32_t> sums_;       ///< by chunk: how many arcs into its root
    std::vector<std::vector<std::uint32_t>>
        children_;  ///< by arc that spreads; then by chunk, those out of its root
    std::vector<std::vector<Waiting>> waiting_;  ///< by hop
    std::vector<std::int64_t> free_, start_;
};

}  // namespace

std::optional<PipelinedAllReduce> pipeline_all_reduce(const SpreadProblem& gather,
                                                      const SpreadProblem& spread, Rng& rng,
                                                      const Stop& stop) {
    const bool booked = gather.calendar.horizon() > Ticks(0) || spread.calendar.horizon() > Ticks(0);
    if (!spread.graph.is_direct() || booked || spread.spreads.empty()) return std::nullopt;
    const auto trees = plan(gather, spread, rng, stop);
    if (!trees) return std::nullopt;
    FlowScheduler scheduler(gather, spread, *trees);
    const auto position = positions(spread);
    const std::uint32_t most = *std::ranges::max_element(position) + 1;
    std::optional<PipelinedAllReduce> best;
    for (std::uint32_t batches = 1;; batches = std::min(batches * 2, most)) {
        std::vector<std::uint32_t> batch;
        for (const std::uint32_t p : position) batch.push_back(p * batches / most);
        auto tried = scheduler.run(batch, stop);
        if (tried && (!best || tried->makespan < best->makespan)) best = std::move(tried);
        if (batches == most || stop.requested() || (best && best->makespan <= spread.target)) return best;
    }
}

}  // namespace tutti::heuristics
