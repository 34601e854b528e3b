// Event-driven matching of chunks to ports, for networks with switches.
//
// As in flood_matcher each holder (an NPU, or a switch that copies) has two sets of chunks: those it `has`,
// and those `claimed` for it. Here a free **port** of a holder v pulls: it goes through holders u that have a
// way to it and takes a chunk of has[u] minus claimed[v] from the first whose links are free now. The whole
// way is booked at once. A switch that stores may keep the chunk until its onward link is free, for less than
// one transfer's time; switches that hold nothing are passed in one rigid hop (hop_graph).
//
// - **Rotation.** A port goes on round its sources where it last stopped, and ports begin at different ones:
//   v, v+1, v+2 … pull from v+r, v+r+1, v+r+2 …, as in a Latin square, so they seldom ask for the same
//   uplink. On a star this alone is optimal.
// - **Clusters.** A pull from outside a cluster (switch_clusters) brings in only chunks that the whole
// cluster lacks;
//   the rest comes from inside. Without that rule a rail cluster moves 1.5 times the traffic through its
//   NICs. Far pulls are tried before near ones, so that links between clusters are never idle while there is
//   news to bring. Only where the links into the cluster have time to spare may a port pull a second copy.
// - **Rarity.** Among the chunks that can be had, one that fewest holders have claimed, ties at random; or
// first
//   those that the source was given, which keeps the order of the Latin square. Which of the two is drawn, as
//   is whether second copies are ever allowed: neither is better everywhere.
// - **Fresh chunks.** Where few sources have what all want (a broadcast), their links must not wait for
//   somebody to ask: chunks that nobody has claimed yet are served first.
//
// A pull whose first link is free now may use the last link later; near pulls that start later then fill
// the slots that far pulls leave. Ports that find nothing try again after a while, longer each time; up to
// one transfer's time at first, but where nothing changes for long (until a release, or over a long wire)
// they doze off: ever longer, until some chunk arrives somewhere.
//
// Switches that copy want every chunk, though nobody asked them; what nobody took from them is left out at
// the end.
//
// O(pulls * (sources tried * chunks/64 + ways tried)) time, O(holders * chunks) bits.

#include "heuristics/switches/switch_flood.hpp"

#include "heuristics/event_queue.hpp"
#include "heuristics/switches/switch_rows.hpp"
#include "heuristics/switches/switch_way_search.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace tutti::heuristics {
namespace {

/// Sources that a port asks at a time.
constexpr std::size_t kSourcesTried = 16;
/// Chunks among which the rarest is taken.
constexpr std::size_t kChunksWeighed = 24;
/// A cut is tight if using it alone would take this part of the time that is expected in all.
constexpr double kTight = 0.95;
/// Far pulls come first if they alone would take this part of the time that is left.
constexpr double kFarFirst = 0.3;
/// Tries in vain after which a port dozes off.
constexpr std::uint32_t kTriesAwake = 64;
constexpr std::size_t kMaxBits = std::size_t{1} << 33;

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
          own_always_(rng.below(2) == 0),
          always_strict_(rng.below(4) == 0),
          has_(graph_.nodes(), spreads_.size()),
          claimed_(graph_.nodes(), spreads_.size()),
          done_(1, spreads_.size()),
          claims_(spreads_.size(), 0),
          open_(spreads_.size(), 0),
          is_target_(graph_.nodes(), false),
          fresh_(graph_.nodes(), 0),
          own_(graph_.nodes()) {
        set_demands();
        set_ports();
        expect();
    }

    std::optional<SpreadSolution> run() {
        while (missing_ > 0) {
            if (events_.empty() || ((++rounds_ & 15U) == 0 && stop_.requested())) return std::nullopt;
            events_.pop(batch_);
            const Ticks now(batch_.front().time);
            ready_.clear();
            bool any_arrived = false;
            for (const auto& [time, node, spread] : batch_) {
                if (spread == kTry) {
                    if (states_[node].due != now) continue;
                    states_[node].due = kNever;
                    ready_.push_back(node);
                } else {
                    has_.set(node, spread);
                    --under_way_;
                    any_arrived = true;
                }
            }
            if (any_arrived) wake_all(now);
            if (!serve(now) && under_way_ == 0 && now >= calendar_.horizon()) {
                if (!serve_all(now, true) && !serve_all(now, false)) return std::nullopt;
            }
        }
        leave_out_unused();
        return std::move(solution_);
    }

  private:
    static constexpr std::uint32_t kTry = UINT32_MAX;
    static constexpr Ticks kNever{-1};
    /// A chunk (by the number of its spread) arrives at a node; or a port, in place of the node, tries again.
    struct Event {
        std::int64_t time;
        std::uint32_t node, spread;
    };
    struct PortState {
        Ticks busy;                       ///< of its link, with the first chunk
        Ticks pulled;                     ///< the same with the chunk that it pulled last
        Ticks patience;                   ///< until it tries again
        Ticks due = kNever;               ///< when it tries again; earlier appointments are void
        std::uint32_t in_vain = 0;        ///< tries since it was last served or woken
        std::vector<std::uint32_t> next;  ///< the source to ask first, for each level
        bool served = false;
    };
    struct Pull {
        NodeId from, to;
        std::uint32_t spread, first, transfers;  ///< where its transfers are
    };
    void set_demands() {
        const std::size_t levels = clusters_.levels();
        claimed_.fill();
        for (std::size_t l = 0; l < levels; ++l) {
            brought_.emplace_back(clusters_.clusters(l), spreads_.size());
            brought_.back().fill();
            lacking_.emplace_back(clusters_.clusters(l), 0);
        }
        for (std::size_t n = graph_.instance().topology().npus(); n < graph_.nodes(); ++n) {
            if (!ways_.is_holder(NodeId(n))) continue;
            for (auto& word : claimed_.row(n)) word = 0;
        }
        for (std::size_t i = 0; i < spreads_.size(); ++i) {
            for (const NodeId target : spreads_[i].targets) {
                is_target_[target.index()] = true;
                if (!claimed_.test(target.index(), i)) continue;
                claimed_.reset(target.index(), i);
                ++open_[i];
                for (std::size_t l = 0; l < levels; ++l) {
                    const std::uint32_t k = clusters_.cluster(l, target);
                    if (brought_[l].test(k, i)) ++lacking_[l][k];
                    brought_[l].reset(k, i);
                }
            }
            for (const NodeId source : spreads_[i].sources) {
                if (!claimed_.test(source.index(), i) && is_npu(source)) --open_[i];
                claim(source, i);
                own_[source.index()].push_back(static_cast<std::uint32_t>(i));
                if (fresh_[source.index()]++ == 0) fresh_sources_.push_back(source);
                events_.push({spreads_[i].ready.count(), source.value(), static_cast<std::uint32_t>(i)});
                ++under_way_;
            }
            missing_ += open_[i];
            if (open_[i] == 0) done_.set(0, i);
        }
    }

    void set_ports() {
        const auto& ports = ways_.ports();
        targets_ = static_cast<std::size_t>(std::ranges::count(is_target_, true));
        begin_ = Ticks::max();
        for (const Spread& spread : spreads_) begin_ = std::min(begin_, spread.ready);
        std::vector<std::uint32_t> order(ports.size());
        for (std::uint32_t p = 0; p < ports.size(); ++p) order[p] = p;
        rng_.shuffle(order);
        states_.resize(ports.size());
        for (std::size_t p = 0, same = 0; p < ports.size(); ++p) {
            same = p > 0 && ports[p - 1].holder == ports[p].holder ? same + 1 : 0;
            PortState& state = states_[p];
            state.busy = busy(ports[p].link, spreads_.front().chunk);
            for (std::size_t l = 0; l <= clusters_.levels(); ++l) {
                state.next.push_back(first_source(ports[p], l, same));
            }
        }
        for (const std::uint32_t p : order) {
            if (!is_wanting(ports[p].holder)) continue;
            try_at(begin_, p);
        }
    }

    /// Ports of one cluster begin at neighbouring sources, those of the next cluster further on.
    [[nodiscard]] std::uint32_t first_source(const SwitchWays::Port& port, std::size_t level,
                                             std::size_t turn) const {
        const std::size_t count = ways_.sources(port, level);
        if (count == 0) return 0;
        std::size_t after = 0;
        while (after < count && ways_.source(port, level, after).node <= port.holder) ++after;
        std::size_t rank = turn;
        if (level > 0) {
            for (std::size_t n = 0; n < port.holder.index(); ++n) {
                if (clusters_.cluster(level - 1, NodeId(n)) == clusters_.cluster(level - 1, port.holder))
                    ++rank;
            }
        }
        return static_cast<std::uint32_t>((after + rank) % count);
    }

    /// How long it must take: what each holder and each cluster lacks, over what can come in.
    void expect() {
        std::vector<double> rate(graph_.nodes(), 0.0);
        std::vector<std::size_t> lacks(graph_.nodes(), 0);
        for (std::size_t p = 0; p < states_.size(); ++p) {
            rate[ways_.ports()[p].holder.index()] += 1.0 / static_cast<double>(states_[p].busy.count());
        }
        for (const Spread& spread : spreads_) {
            for (const NodeId node : spread.targets) ++lacks[node.index()];
        }
        for (std::size_t n = 0; n < rate.size(); ++n) {
            if (is_target_[n]) total_rate_ += rate[n];
            if (rate[n] > 0) expected_ = std::max(expected_, static_cast<double>(lacks[n]) / rate[n]);
        }
        for (std::size_t l = 0; l < clusters_.levels(); ++l) {
            for (std::uint32_t k = 0; k < clusters_.clusters(l); ++k) {
                if (clusters_.rate(l, k) > 0) expected_ = std::max(expected_, time_to_fill(l, k));
            }
        }
    }

    [[nodiscard]] double time_to_fill(std::size_t level, std::uint32_t cluster) const {
        return static_cast<double>(lacking_[level][cluster]) / clusters_.rate(level, cluster);
    }
    /// Whether the cluster of that level around the port has no time to spare: bringing in what it lacks will
    /// take until the end that is expected, but for one transfer.
    [[nodiscard]] bool is_tight(std::size_t level, std::uint32_t p, Ticks now) const {
        const std::uint32_t cluster = clusters_.cluster(level, ways_.ports()[p].holder);
        const auto elapsed = static_cast<double>((now - begin_).count());
        return always_strict_ || elapsed + time_to_fill(level, cluster) >= kTight * expected_;
    }
    /// Whether bringing in what the cluster lacks takes a good part of the time that is left.
    [[nodiscard]] bool is_far_first(std::size_t level, std::uint32_t p, Ticks now) const {
        const double left = std::max(expected_ - static_cast<double>((now - begin_).count()),
                                     static_cast<double>(missing_) / total_rate_);
        return time_to_fill(level, clusters_.cluster(level, ways_.ports()[p].holder)) >= kFarFirst * left;
    }
    [[nodiscard]] Ticks busy(LinkId link, ChunkId chunk) const {
        return graph_.instance().busy(link, graph_.instance().beta(link, chunk));
    }
    [[nodiscard]] bool is_wanting(NodeId node) const { return !is_npu(node) || is_target_[node.index()]; }
    [[nodiscard]] bool is_npu(NodeId node) const { return graph_.instance().topology().is_npu(node); }

    /// All ports that are due, far pulls first. Whether any pulled.
    bool serve(Ticks now) {
        rng_.shuffle(ready_);
        bool any = false;
        for (const std::uint32_t p : ready_) states_[p].served = false;
        if (fresh_sources_.size() * 4 <= targets_) any = send_fresh(now);
        for (std::size_t l = clusters_.levels(); l > 0; --l) {
            for (const std::uint32_t p : ready_) {
                if (!is_far_first(l - 1, p, now)) continue;
                if (pull(p, l, now, l, kSourcesTried)) any = states_[p].served = true;
            }
        }
        for (std::size_t l = 0; l <= clusters_.levels(); ++l) {
            for (const std::uint32_t p : ready_) {
                if (l > 0 && is_far_first(l - 1, p, now)) continue;
                if (pull(p, l, now, l, kSourcesTried)) any = states_[p].served = true;
            }
        }
        for (std::size_t l = 1; l <= clusters_.levels(); ++l) {
            for (const std::uint32_t p : ready_) {
                if (states_[p].served) continue;
                const std::size_t rule = loosest_rule(p, l, now);
                if (rule == l) continue;
                if (pull(p, l, now, rule, kSourcesTried)) any = states_[p].served = true;
            }
        }
        for (const std::uint32_t p : ready_) {
            PortState& state = states_[p];
            if (state.served) {
                state.patience = Ticks(0);
                state.in_vain = 0;
                try_at(now + state.pulled, p);
                continue;
            }
            const Ticks quarter((state.busy.count() + 3) / 4);
            state.patience = std::max(quarter, state.patience * 2);
            Ticks next = now + state.patience;
            if (++state.in_vain < kTriesAwake) {
                state.patience = std::min(state.patience, state.busy);
                next = now + state.patience;
            } else if (now < calendar_.horizon()) {
                next = std::min(next, calendar_.horizon());
            }
            if (state.in_vain == kTriesAwake) dozing_.push_back(p);
            try_at(next, p);
        }
        return any;
    }

    void try_at(Ticks when, std::uint32_t p) {
        states_[p].due = when;
        events_.push({when.count(), p, kTry});
    }

    /// Ports that doze try now, and then again after ever longer times.
    void wake_all(Ticks now) {
        std::erase_if(dozing_, [&](std::uint32_t p) { return states_[p].in_vain < kTriesAwake; });
        for (const std::uint32_t p : dozing_) {
            states_[p].patience = Ticks(0);
            if (std::exchange(states_[p].due, kNever) > now) ready_.push_back(p);
        }
    }

    /// Sources of chunks that nobody has claimed yet, where they are few: their links must not be idle.
    bool send_fresh(Ticks now) {
        bool any = false;
        std::erase_if(fresh_sources_, [&](NodeId node) { return fresh_[node.index()] == 0; });
        for (const NodeId node : fresh_sources_) {
            for (const std::uint32_t p : ready_) {
                if (states_[p].served) continue;
                const SwitchWays::Port& port = ways_.ports()[p];
                if (port.holder == node) continue;
                for (std::size_t l = 0; l <= clusters_.levels(); ++l) {
                    const auto i = ways_.find_source(port, l, node);
                    if (!i || !search_.can_leave(node, ways_.source(port, l, *i).last, now)) continue;
                    const auto spread = choose(node, port.holder, l);
                    if (!spread || claims_[*spread] > spreads_[*spread].sources.size()) continue;
                    if (!search_.find(node, ways_.source(port, l, *i).last, spreads_[*spread].chunk, now))
                        continue;
                    take(node, p, *spread);
                    any = states_[p].served = true;
                    break;
                }
            }
        }
        return any;
    }

    /// Nothing is under way and no port due found anything: all ports try, with the rules; else without.
    bool serve_all(Ticks now, bool rules) {
        bool any = false;
        for (std::uint32_t p = 0; p < states_.size(); ++p) {
            if (!is_wanting(ways_.ports()[p].holder)) continue;
            for (std::size_t l = 0; l <= clusters_.levels(); ++l) {
                any = pull(p, l, now, rules ? l : 0, ways_.sources(ways_.ports()[p], l)) || any;
            }
        }
        return any;
    }

    /// A second copy may enter clusters that have time to spare. The number of levels whose clusters, around
    /// the holder and below `level`, may not get one: those up to the last that is tight.
    [[nodiscard]] std::size_t loosest_rule(std::uint32_t p, std::size_t level, Ticks now) const {
        while (level > 0 && !is_tight(level - 1, p, now)) --level;
        return level;
    }

    /// `rule`: of how many levels, from the finest, the clusters may get no second copy.
    bool pull(std::uint32_t p, std::size_t level, Ticks now, std::size_t rule, std::size_t tries) {
        const SwitchWays::Port& port = ways_.ports()[p];
        const std::size_t count = ways_.sources(port, level);
        if (count == 0) return false;
        std::size_t i = states_[p].next[level];
        for (std::size_t asked = 0; asked < std::min(count, tries); ++asked) {
            const auto [from, last] = ways_.source(port, level, i);
            i = i + 1 < count ? i + 1 : 0;
            if (from == port.holder || !search_.can_leave(from, last, now)) continue;
            const auto spread = choose(from, port.holder, rule);
            if (!spread || !search_.find(from, last, spreads_[*spread].chunk, now)) continue;
            take(from, p, *spread);
            states_[p].next[level] = static_cast<std::uint32_t>(i);
            return true;
        }
        return false;
    }

    /// A chunk that `from` has and `to` wants; if strict, and the pull enters a cluster, one that the cluster
    /// lacks.
    [[nodiscard]] std::optional<std::uint32_t> choose(NodeId from, NodeId to, std::size_t rule) {
        const auto has = has_.row(from.index());
        const auto claimed = claimed_.row(to.index());
        const BitTable::Word* brought = nullptr;
        if (rule > 0) {
            brought = brought_[rule - 1].row(clusters_.cluster(rule - 1, to)).data();
        } else if (!is_npu(to)) {
            brought = done_.row(0).data();
        }
        // Sums that are made at a switch: all send their parts in one order, so that one sum after the other
        // is complete.
        const bool in_order = !is_npu(from) && !own_[from.index()].empty();
        const auto own = in_order ? std::nullopt : choose_own(from, to, brought);
        if (own && (own_always_ || claims_[*own] <= spreads_[*own].sources.size())) return own;
        const std::size_t words = has.size();
        const std::size_t shift = words > 1 && !in_order ? rng_.below(words) : 0;
        const int turn = in_order ? 0 : static_cast<int>(rng_.below(64));
        const std::size_t most = in_order ? 1 : kChunksWeighed;
        std::optional<std::uint32_t> best = own;
        std::size_t weighed = 0;
        for (std::size_t k = 0; k < words && weighed < most; ++k) {
            const std::size_t w = k + shift < words ? k + shift : k + shift - words;
            BitTable::Word bits = has[w] & ~claimed[w];
            if (bits == 0) continue;
            if (brought != nullptr) bits &= ~brought[w];
            for (bits = std::rotr(bits, turn); bits != 0 && weighed < most; bits &= bits - 1) {
                const auto bit = static_cast<unsigned>(std::countr_zero(bits) + turn) % 64U;
                const auto i = static_cast<std::uint32_t>(w * 64 + bit);
                if (!best || claims_[i] < claims_[*best]) best = i;
                ++weighed;
            }
        }
        return best;
    }

    /// The same among the chunks that `from` is a source of: other holders of them are more likely to be
    /// asked.
    [[nodiscard]] std::optional<std::uint32_t> choose_own(NodeId from, NodeId to,
                                                          const BitTable::Word* brought) {
        const auto& own = own_[from.index()];
        std::optional<std::uint32_t> best;
        std::size_t k = own.size() > 1 ? rng_.below(own.size()) : 0;
        for (std::size_t weighed = 0; weighed < std::min(own.size(), kChunksWeighed); ++weighed, ++k) {
            if (k >= own.size()) k = 0;
            const std::uint32_t i = own[k];
            if (claimed_.test(to.index(), i) || !has_.test(from.index(), i)) continue;
            if (brought != nullptr && ((brought[i / 64] >> (i % 64)) & 1U) != 0) continue;
            if (!best || claims_[i] < claims_[*best]) best = i;
        }
        return best;
    }

    void take(NodeId from, std::uint32_t p, std::uint32_t i) {
        const ChunkId chunk = spreads_[i].chunk;
        const NodeId to = ways_.ports()[p].holder;
        states_[p].pulled = busy(ways_.ports()[p].link, chunk);
        pulls_.push_back({from, to, i, static_cast<std::uint32_t>(solution_.transfers.size()),
                          static_cast<std::uint32_t>(search_.way().size())});
        for (const WaySearch::Step& step : search_.way()) {
            calendar_.book(graph_, step.hop, chunk, step.start);
            solution_.transfers.push_back({step.hop, chunk, step.start});
        }
        const Ticks arrival = search_.way().back().start + graph_.transit(search_.way().back().hop, chunk);
        events_.push({arrival.count(), to.value(), i});
        ++under_way_;
        claim(to, i);
        if (!is_npu(to)) return;
        --missing_;
        if (--open_[i] == 0) done_.set(0, i);
    }

    void claim(NodeId node, std::size_t i) {
        claimed_.set(node.index(), i);
        if (claims_[i]++ == spreads_[i].sources.size()) {
            for (const NodeId source : spreads_[i].sources) --fresh_[source.index()];
        }
        for (std::size_t l = 0; l < clusters_.levels(); ++l) {
            const std::uint32_t k = clusters_.cluster(l, node);
            if (brought_[l].test(k, i)) continue;
            brought_[l].set(k, i);
            --lacking_[l][k];
        }
    }

    /// Pulls into switches from which nobody took the chunk, last first, and the makespan of the others.
    void leave_out_unused() {
        BitTable used(graph_.nodes(), spreads_.size());
        std::vector<Transfer> kept;
        kept.reserve(solution_.transfers.size());
        for (std::size_t p = pulls_.size(); p-- > 0;) {
            const Pull& pull = pulls_[p];
            if (!is_npu(pull.to) && !used.test(pull.to.index(), pull.spread)) continue;
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
    const bool own_always_;          ///< whether a source's own chunks come before rarer ones
    const bool always_strict_;       ///< whether second copies enter a cluster never, or when there is time
    BitTable has_, claimed_;         ///< a row for each node, a bit for each spread
    BitTable done_;                  ///< what all targets have claimed
    std::vector<BitTable> brought_;  ///< per level, a row for each cluster: claimed inside, or not wanted
    std::vector<std::vector<std::size_t>> lacking_;  ///< per level and cluster, the zeros of that row
    std::vector<std::uint32_t> claims_, open_;       ///< per spread: claims in all, targets without one
    std::vector<bool> is_target_;
    std::vector<std::uint32_t> fresh_;  ///< per node, its chunks that nobody else has claimed
    std::vector<NodeId> fresh_sources_;
    std::vector<std::vector<std::uint32_t>> own_;  ///< per node, the spreads it is a source of
    std::size_t targets_ = 0;
    std::vector<PortState> states_;
    std::vector<std::uint32_t> dozing_;  ///< ports
    std::size_t missing_ = 0;
    std::size_t under_way_ = 0;
    Ticks begin_;            ///< when the first chunk is there
    double total_rate_ = 0;  ///< of the ports of all targets
    double expected_ = 0;    ///< from then on, how long it takes at least
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
