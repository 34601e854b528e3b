// Event-driven matching of chunks to ports, for networks with switches.
//
// As in flood_matcher each holder (an NPU, or a switch that copies) has two sets of chunks: those it `has`,
// and those `claimed` for it (switch_holdings). Here a free **port** of a holder v pulls: it goes through
// holders u that have a way to it and takes a chunk of has[u] minus claimed[v] from the first whose links are
// free now. The whole way is booked at once (switch_way_search). A switch that stores may keep the chunk
// until its onward link is free, for less than one transfer's time; switches that hold nothing are passed in
// one rigid hop (hop_graph).
//
// - **Rotation and patience.** Which source a port asks first, and when a port that found nothing tries
// again:
//   switch_ports.
// - **Clusters.** A pull from outside a cluster (switch_clusters) brings in only chunks that the whole
// cluster
//   lacks; the rest comes from inside. Without that rule a rail cluster moves 1.5 times the traffic through
//   its NICs. Far pulls are tried before near ones, so that links between clusters are never idle while there
//   is something new to bring. Only where the links into the cluster have time to spare (switch_pace) may a
//   port pull a second copy. Whether that is ever allowed is drawn: neither is better everywhere.
// - **Rarity.** Which chunk is taken: switch_choice.
// - **Fresh chunks.** Where few sources have what all want (a broadcast), their links must not wait for
//   somebody to ask: chunks that nobody has claimed yet are served first.
//
// A pull whose first link is free now may use the last link later; near pulls that start later then fill
// the slots that far pulls leave.
//
// Switches that copy want every chunk, though nobody asked them; what nobody took from them is left out at
// the end.
//
// O(pulls * (sources tried * chunks/64 + ways tried)) time, O(holders * chunks) bits.

#include "heuristics/switches/switch_flood.hpp"

#include "heuristics/event_queue.hpp"
#include "heuristics/switches/switch_choice.hpp"
#include "heuristics/switches/switch_pace.hpp"
#include "heuristics/switches/switch_way_search.hpp"

#include <algorithm>

namespace tutti::heuristics {
namespace {

/// Sources that a port asks at a time.
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
          ways_(graph_, clusters_),
          search_(graph_, ways_, calendar_, rng),
          holdings_(problem, clusters_, ways_),
          ports_(graph_, ways_, clusters_, spreads_.front().chunk),
          pace_(problem, clusters_, ways_, holdings_, ports_, first_ready(spreads_)),
          choice_(holdings_, rng.below(2) == 0, rng),
          always_strict_(rng.below(4) == 0) {
        for (std::uint32_t i = 0; i < spreads_.size(); ++i) {
            for (const NodeId source : spreads_[i].sources) {
                events_.push({spreads_[i].ready.count(), source.value(), i});
                ++under_way_;
            }
        }
        std::vector<std::uint32_t> order(ports_.size());
        for (std::uint32_t p = 0; p < ports_.size(); ++p) order[p] = p;
        rng_.shuffle(order);
        const Ticks begin = first_ready(spreads_);
        for (const std::uint32_t p : order) {
            if (!holdings_.is_wanting(holder(p))) continue;
            ports_.appoint(p, begin);
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
                    if (ports_.keeps_appointment(place, now)) ready_.push_back(place);
                } else {
                    holdings_.arrive(NodeId(place), spread);
                    --under_way_;
                    any_arrived = true;
                }
            }
            if (any_arrived) ports_.wake(now, ready_);
            if (!serve(now) && under_way_ == 0 && now >= calendar_.horizon()) {
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

    [[nodiscard]] NodeId holder(std::uint32_t p) const { return ways_.ports()[p].holder; }

    /// All ports that are due, far pulls first. Whether any pulled.
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

    /// Sources of chunks that nobody has claimed yet, where they are few: their links must not be idle.
    bool send_fresh(Ticks now) {
        bool any = false;
        for (const NodeId node : holdings_.fresh_sources()) {
            for (const std::uint32_t p : ready_) {
                if (ports_.is_served(p)) continue;
                const SwitchWays::Port& port = ways_.ports()[p];
                if (port.holder == node) continue;
                for (std::size_t l = 0; l <= clusters_.levels(); ++l) {
                    const auto i = ways_.find_source(port, l, node);
                    if (!i || !search_.can_leave(node, ways_.source(port, l, *i).last, now)) continue;
                    const auto spread = choice_.choose(node, port.holder, l);
                    if (!spread || !holdings_.is_fresh(*spread)) continue;
                    if (!search_.find(node, ways_.source(port, l, *i).last, spreads_[*spread].chunk, now))
                        continue;
                    take(node, p, *spread);
                    any = true;
                    break;
                }
            }
        }
        return any;
    }

    /// Nothing is under way and no port due found anything: all ports try, with the rules; else without.
    bool serve_all(Ticks now, bool rules) {
        bool any = false;
        for (std::uint32_t p = 0; p < ports_.size(); ++p) {
            if (!holdings_.is_wanting(holder(p))) continue;
            for (std::size_t l = 0; l <= clusters_.levels(); ++l) {
                any = pull(p, l, now, rules ? l : 0, ways_.sources(ways_.ports()[p], l)) || any;
            }
        }
        return any;
    }

    /// A second copy may enter clusters that have time to spare. The number of levels whose clusters, around
    /// the holder and below `level`, may not get one: those up to the last that is tight.
    [[nodiscard]] std::size_t loosest_rule(std::uint32_t p, std::size_t level, Ticks now) const {
        if (always_strict_) return level;
        while (level > 0 && !pace_.is_tight(level - 1, holder(p), now)) --level;
        return level;
    }

    /// `rule`: of how many levels, from the finest, the clusters may get no second copy.
    bool pull(std::uint32_t p, std::size_t level, Ticks now, std::size_t rule, std::size_t tries) {
        const SwitchWays::Port& port = ways_.ports()[p];
        const std::size_t count = ways_.sources(port, level);
        if (count == 0) return false;
        std::size_t i = ports_.next_source(p, level);
        for (std::size_t asked = 0; asked < std::min(count, tries); ++asked) {
            const auto [from, last] = ways_.source(port, level, i);
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

    /// Books the way that was found.
    void take(NodeId from, std::uint32_t p, std::uint32_t i) {
        const Instance& instance = graph_.instance();
        const ChunkId chunk = spreads_[i].chunk;
        const NodeId to = holder(p);
        const LinkId link = ways_.ports()[p].link;
        ports_.serve(p, instance.busy(link, instance.beta(link, chunk)));
        pulls_.push_back({from, to, i, static_cast<std::uint32_t>(solution_.transfers.size()),
                          static_cast<std::uint32_t>(search_.way().size())});
        for (const WaySearch::Step& step : search_.way()) {
            calendar_.book(graph_, step.hop, chunk, step.start);
            solution_.transfers.push_back({step.hop, chunk, step.start});
        }
        const Ticks arrival = search_.way().back().start + graph_.transit(search_.way().back().hop, chunk);
        events_.push({arrival.count(), to.value(), i});
        ++under_way_;
        holdings_.claim(to, i);
    }

    /// Pulls into switches from which nobody took the chunk, last first, and the makespan of the others.
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
    SwitchWays ways_;
    WaySearch search_;
    SwitchHoldings holdings_;
    SwitchPorts ports_;
    SwitchPace pace_;
    SwitchChoice choice_;
    const bool always_strict_;   ///< whether second copies enter a cluster never, or when there is time
    std::size_t under_way_ = 0;  ///< chunks that have been sent and are not there yet
    EventQueue<Event> events_;
    std::vector<Event> batch_;
    std::vector<std::uint32_t> ready_;
    std::uint64_t rounds_ = 0;
    std::vector<Pull> pulls_;
    SpreadSolution solution_;
};

}  // namespace

std::optional<SpreadSolution> flood_switched(const SpreadProblem& problem, Rng& rng, const Stop& stop) {
    const HopGraph& graph = problem.graph;
    if (graph.is_direct()) return std::nullopt;
    if (problem.spreads.empty()) return SpreadSolution{};
    if (problem.spreads.size() > kMaxBits / graph.nodes() || SwitchWays::is_too_large(graph))
        return std::nullopt;
    return SwitchFlood(problem, rng, stop).run();
}

}  // namespace tutti::heuristics
