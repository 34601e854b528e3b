// Event-driven matching of chunks to ports, for networks with switches.
//
// As in flood_matcher each holder (an NPU, or a switch that copies) has two sets of chunks: those it `has`,
// and those `claimed` for it (switch_holdings). Here a free **port** of a holder v pulls: it goes through the
// holders u that have a path to it and takes a chunk of has[u] minus claimed[v] from the first whose links
// are free now. The whole path is booked at once (switch_path_search). A storing switch may keep the chunk
// until its onward link is free, for less than one transfer's time; bufferless switches are passed in one
// rigid hop (hop_graph).
//
// - **Rotation and back-off.** Which source a port tries first, and when a port that found nothing tries
// again:
//   switch_ports.
// - **Clusters.** A pull from outside a cluster (switch_clusters) takes only chunks that the whole cluster
//   lacks; the rest comes from inside. Without that rule a rail cluster moves 1.5 times the traffic through
//   its NICs. Far pulls are tried before near ones, so that links between clusters are never idle while there
//   are missing chunks. Only where the links into the cluster have slack (switch_pace) may a port pull a
//   second copy. Whether that is ever allowed is random per run: neither is better everywhere.
// - **Rarity.** Which chunk is taken: switch_choice.
// - **Fresh chunks.** Where few sources have the chunks (a broadcast), their links must not wait for a pull:
//   chunks that no other holder has claimed yet are pushed first.
//
// A pull whose first link is free now may use the last link later; near pulls that start later then fill the
// gaps that far pulls leave.
//
// Switches that copy pull every chunk; copies that no holder took from them are removed at the end.
//
// O(pulls * (sources tried * chunks/64 + paths tried)) time, O(holders * chunks) bits.

#include "heuristics/switches/switch_flood.hpp"

#include "heuristics/event_queue.hpp"
#include "heuristics/switches/switch_choice.hpp"
#include "heuristics/switches/switch_pace.hpp"
#include "heuristics/switches/switch_path_search.hpp"

#include <algorithm>

namespace tutti::heuristics {
namespace {

/// How many sources a port tries at a time.
constexpr std::size_t kSourcesTried = 16;
constexpr std::size_t kMaxBits = std::size_t{1} << 33;

Ticks first_ready(const std::vector<Spread>& spreads) {
    return std::ranges::min_element(spreads, {}, &Spread::ready)->ready;
}

class SwitchFlood {
  public:
    SwitchFlood(const SpreadProblem& problem, Rng& rng, const Stop& stop)
        : graph_(problem.graph),
          spreads_(problem.spreads),
          rng_(rng),
          stop_(stop),
          calendar_(problem.calendar),
          clusters_(graph_, spreads_.front().chunk),
          paths_(graph_, clusters_),
          search_(graph_, paths_, calendar_, rng),
          holdings_(problem, clusters_, paths_),
          ports_(graph_, paths_, clusters_, spreads_.front().chunk),
          pace_(problem, clusters_, paths_, holdings_, ports_, first_ready(spreads_)),
          choice_(holdings_, rng.below(2) == 0, rng),
          always_strict_(rng.below(4) == 0) {
        for (std::uint32_t i = 0; i < spreads_.size(); ++i) {
            for (const NodeId source : spreads_[i].sources) {
                events_.push({spreads_[i].ready.count(), source.value(), i});
                ++in_flight_;
            }
        }
        std::vector<std::uint32_t> order(ports_.size());
        for (std::uint32_t p = 0; p < ports_.size(); ++p) order[p] = p;
        rng_.shuffle(order);
        const Ticks begin = first_ready(spreads_);
        for (const std::uint32_t p : order) {
            if (!holdings_.wants_chunks(holder(p))) continue;
            ports_.wake_at(p, begin);
            events_.push({begin.count(), p, kTry});
        }
    }

    std::optional<SpreadSolution> run() {
        while (holdings_.missing() > 0) {
            if (events_.empty() || ((++rounds_ & 15U) == 0 && stop_.requested())) return std::nullopt;
            events_.pop(batch_);
            const Ticks now(batch_.front().time);
            ready_.clear();
            bool any_arrived = false;
            for (const auto& [time, place, spread] : batch_) {
                if (spread == kTry) {
                    if (ports_.take_due(place, now)) ready_.push_back(place);
                } else {
                    holdings_.arrive(NodeId(place), spread);
                    --in_flight_;
                    any_arrived = true;
                }
            }
            if (any_arrived) ports_.wake(now, ready_);
            if (!serve(now) && in_flight_ == 0 && now >= calendar_.horizon()) {
                if (!serve_all(now, true) && !serve_all(now, false)) return std::nullopt;
            }
        }
        leave_out_unused();
        return std::move(solution_);
    }

  private:
    static constexpr std::uint32_t kTry = UINT32_MAX;
    struct Event {
        std::int64_t time;
        std::uint32_t place;   ///< the node where a chunk arrives, or a port that tries again
        std::uint32_t spread;  ///< of the chunk, or kTry
    };
    struct Pull {
        NodeId from, to;
        std::uint32_t spread, first, transfers;  ///< where its transfers are
    };

    [[nodiscard]] NodeId holder(std::uint32_t p) const { return paths_.ports()[p].holder; }

    /// Serves all ports that are due, far pulls first. Whether any pulled.
    bool serve(Ticks now) {
        rng_.shuffle(ready_);
        bool any = false;
        if (holdings_.fresh_sources_at_most() * 4 <= holdings_.targets()) any = send_fresh(now);
        for (std::size_t l = clusters_.levels(); l > 0; --l) {
            for (const std::uint32_t p : ready_) {
                if (!pace_.is_far_first(l - 1, holder(p), now)) continue;
                any = pull(p, l, now, l, kSourcesTried) || any;
            }
        }
        for (std::size_t l = 0; l <= clusters_.levels(); ++l) {
            for (const std::uint32_t p : ready_) {
                if (l > 0 && pace_.is_far_first(l - 1, holder(p), now)) continue;
                any = pull(p, l, now, l, kSourcesTried) || any;
            }
        }
        for (std::size_t l = 1; l <= clusters_.levels(); ++l) {
            for (const std::uint32_t p : ready_) {
                if (ports_.is_served(p)) continue;
                const std::size_t rule = loosest_rule(p, l, now);
                if (rule == l) continue;
                any = pull(p, l, now, rule, kSourcesTried) || any;
            }
        }
        for (const std::uint32_t p : ready_) {
            events_.push({ports_.next_try(p, now, calendar_.horizon()).count(), p, kTry});
        }
        return any;
    }

    /// Sends chunks that no other holder has claimed yet, where their sources are few: these links must not
    /// idle.
    bool send_fresh(Ticks now) {
        bool any = false;
        for (const NodeId node : holdings_.fresh_sources()) {
            for (const std::uint32_t p : ready_) {
                if (ports_.is_served(p)) continue;
                const SwitchPaths::Port& port = paths_.ports()[p];
                if (port.holder == node) continue;
                for (std::size_t l = 0; l <= clusters_.levels(); ++l) {
                    const auto i = paths_.find_source(port, l, node);
                    if (!i || !search_.can_leave(node, paths_.source(port, l, *i).last, now)) continue;
                    const auto spread = choice_.choose(node, port.holder, l);
                    if (!spread || !holdings_.is_fresh(*spread)) continue;
                    if (!search_.find(node, paths_.source(port, l, *i).last, spreads_[*spread].chunk, now))
                        continue;
                    take(node, p, *spread);
                    any = true;
                    break;
                }
            }
        }
        return any;
    }

    /// Called when nothing is in flight and no port that was due found anything: all ports try, with or
    /// without the rules.
    bool serve_all(Ticks now, bool rules) {
        bool any = false;
        for (std::uint32_t p = 0; p < ports_.size(); ++p) {
            if (!holdings_.wants_chunks(holder(p))) continue;
            for (std::size_t l = 0; l <= clusters_.levels(); ++l) {
                any = pull(p, l, now, rules ? l : 0, paths_.sources(paths_.ports()[p], l)) || any;
            }
        }
        return any;
    }

    /// A second copy may enter clusters that have slack. Returns the number of levels below `level` whose
    /// clusters around the holder may not get one: those up to the last that is tight.
    [[nodiscard]] std::size_t loosest_rule(std::uint32_t p, std::size_t level, Ticks now) const {
        if (always_strict_) return level;
        while (level > 0 && !pace_.is_tight(level - 1, holder(p), now)) --level;
        return level;
    }

    /// `rule`: at how many levels, from the finest, clusters may get no second copy.
    bool pull(std::uint32_t p, std::size_t level, Ticks now, std::size_t rule, std::size_t tries) {
        const SwitchPaths::Port& port = paths_.ports()[p];
        const std::size_t count = paths_.sources(port, level);
        if (count == 0) return false;
        std::size_t i = ports_.next_source(p, level);
        for (std::size_t asked = 0; asked < std::min(count, tries); ++asked) {
            const auto [from, last] = paths_.source(port, level, i);
            i = i + 1 < count ? i + 1 : 0;
            if (from == port.holder || !search_.can_leave(from, last, now)) continue;
            const auto spread = choice_.choose(from, port.holder, rule);
            if (!spread || !search_.find(from, last, spreads_[*spread].chunk, now)) continue;
            take(from, p, *spread);
            ports_.next_source(p, level) = static_cast<std::uint32_t>(i);
            return true;
        }
        return false;
    }

    /// Books the path that was found.
    void take(NodeId from, std::uint32_t p, std::uint32_t i) {
        const Instance& instance = graph_.instance();
        const ChunkId chunk = spreads_[i].chunk;
        const NodeId to = holder(p);
        const LinkId link = paths_.ports()[p].link;
        ports_.serve(p, instance.busy(link, instance.beta(link, chunk)));
        pulls_.push_back({from, to, i, static_cast<std::uint32_t>(solution_.transfers.size()),
                          static_cast<std::uint32_t>(search_.path().size())});
        for (const PathThroughSwitches::Step& step : search_.path()) {
            calendar_.book(graph_, step.hop, chunk, step.start);
            solution_.transfers.push_back({step.hop, chunk, step.start});
        }
        const Ticks arrival = search_.path().back().start + graph_.transit(search_.path().back().hop, chunk);
        events_.push({arrival.count(), to.value(), i});
        ++in_flight_;
        holdings_.claim(to, i);
    }

    /// Removes pulls into switches from which no holder took the chunk, last first, and computes the
    /// makespan.
    void leave_out_unused() {
        BitTable used(graph_.nodes(), spreads_.size());
        std::vector<Transfer> kept;
        kept.reserve(solution_.transfers.size());
        for (std::size_t p = pulls_.size(); p-- > 0;) {
            const Pull& pull = pulls_[p];
            if (!holdings_.is_npu(pull.to) && !used.test(pull.to.index(), pull.spread)) continue;
            used.set(pull.from.index(), pull.spread);
            const auto transfers = std::span(solution_.transfers).subspan(pull.first, pull.transfers);
            kept.insert(kept.end(), transfers.begin(), transfers.end());
            const Transfer& last = transfers.back();
            solution_.makespan =
                std::max(solution_.makespan, last.start + graph_.transit(last.hop, last.chunk));
        }
        solution_.transfers = std::move(kept);
    }

    const HopGraph& graph_;
    const std::vector<Spread>& spreads_;
    Rng& rng_;
    const Stop& stop_;
    LinkCalendar calendar_;
    SwitchClusters clusters_;
    SwitchPaths paths_;
    PathThroughSwitches search_;
    SwitchHoldings holdings_;
    SwitchPorts ports_;
    SwitchPace pace_;
    SwitchChoice choice_;
    const bool always_strict_;   ///< whether second copies enter a cluster never, or when there is time
    std::size_t in_flight_ = 0;  ///< chunks that have been sent and are not there yet
    EventQueue<Event> events_;
    std::vector<Event> batch_;
    std::vector<std::uint32_t> ready_;
    std::uint64_t rounds_ = 0;
    std::vector<Pull> pulls_;
    SpreadSolution solution_;
};

}  // namespace

std::string why_no_switch_flood(const SpreadProblem& problem) {
    const HopGraph& graph = problem.graph;
    if (graph.is_direct()) return "the network has no switches";
    if (problem.spreads.size() > kMaxBits / graph.nodes() || SwitchPaths::is_too_large(graph))
        return "there are too many chunks, nodes or paths through switches for its tables";
    return {};
}

std::optional<SpreadSolution> flood_switched(const SpreadProblem& problem, Rng& rng, const Stop& stop) {
    if (problem.spreads.empty() && !problem.graph.is_direct()) return SpreadSolution{};
    if (!why_no_switch_flood(problem).empty()) return std::nullopt;
    return SwitchFlood(problem, rng, stop).run();
}

}  // namespace tutti::heuristics
