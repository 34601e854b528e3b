// What one NPU alone has cannot be everywhere at once.
//
// Forwards: plain chunks that only the root holds; no switch copies, so everything moves in messages from one
// NPU to the next. Put the NPUs into parts. A part that has received any of the chunks, say at a, can start
// messages to other parts on its ports from a on, on port p at least g_p apart, and each takes at least
// lambda. So by t at most N(t) = sum over informed parts and ports of floor((t - lambda - a) / g_p) + 1
// messages have come into a part. The i-th part to be informed cannot be so before the i-th arrival of the
// process in which every arrival informs a new part and every informed part sends at once (by induction over
// time). So a lower bound of the times a_i, and with them an upper bound of N, come from a simulation. Of the
// ports of all parts the fastest is taken, then the second fastest, and so on.
//
// - All chunks: N(T) must be at least the number of pairs of a chunk and a part (other than the root's) that
//   wants it. Also, for any s: at most N(s) of them arrived by s, and after s each part's own ports receive
//   at most one each h_j.
// - The last chunk: each chunk leaves the root's part in a first message of its own, so one of them no sooner
//   than D, the time at which the root's ports can have started as many messages as there are chunks. From
//   then on it grows alone.
//
// Nested: parts have NPUs inside. When a chunk enters a part at e, the NPUs that get this very copy inside
// have it no sooner than e + P_0 = e, e + P_1, …: the times of the same process inside a part. An NPU that
// has something starts messages to other parts on its own ports. So the entries are a process too, in which
// each entry informs NPUs at e + P_i; and by T at most the sum over i of N(T - P_i) pairs of a chunk and an
// NPU outside the root's part can be served. A port that does both, inside and outside, counts for both.
//
// Shared: as nested, but a start is for one message only, inside or to another part (shared_growth.cpp).
//
// Backwards: sums that one NPU alone wants, no switch copies or adds. Read time from the end: on the chain of
// a contribution to the root look at the last message that leaves its part. The part that it goes to has
// itself a later one (or is the root's). So the same holds with arrivals for starts.
//
// A part without receivers (or NPU without) is informed as well, but not needed. Nothing counts before the
// first release; times are those of the smallest counted chunk.
//
// Complexity: for each partition a search per part, and nested a search per NPU; the simulation is
// O(NPUs * ports log).

#include "bounds/families.hpp"
#include "bounds/paced_paths.hpp"
#include "bounds/parts.hpp"
#include "bounds/shared_growth.hpp"
#include "core/least_tick.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>
#include <set>

namespace tutti::bounds {
namespace {

constexpr std::size_t kMostGrowthWork = 60'000'000;  ///< links relaxed
constexpr std::size_t kMostGrowthSizes = 3;
constexpr std::int64_t kMostUnits = 64;       ///< of time, in a linear program
constexpr std::size_t kMostPrograms = 24;     ///< for a partition
constexpr std::size_t kProgramWork = 30'000;  ///< what one counts as, for each unit of time

/// How fast something can be passed on: a message takes `lambda`, and starts every gap on each port.
struct Sending {
    Ticks lambda = kNever;
    std::vector<Ticks> gaps;  ///< rising

    /// Makes it as fast as the faster of the two, port by port.
    void join(Ticks time, std::vector<Ticks> other) {
        lambda = std::min(lambda, time);
        std::ranges::sort(other);
        for (std::size_t i = 0; i < other.size(); ++i) {
            if (i == gaps.size()) gaps.push_back(other[i]);
            gaps[i] = std::min(gaps[i], other[i]);
        }
    }
    /// The time at which so many messages can have started, count > 0.
    [[nodiscard]] Ticks started(std::uint64_t count) const {
        const auto enough = [&](Ticks time) {
            std::uint64_t starts = 0;
            for (const Ticks gap : gaps) starts += static_cast<std::uint64_t>(time.count() / gap.count()) + 1;
            return starts >= count;
        };
        return gaps.empty() ? Ticks(0) : least_tick(enough).value_or(Ticks(0));
    }
};

/// The process: `inner` are the times after an entry at which it informs somebody.
class Process {
  public:
    Process(const Sending& sending, std::vector<Ticks> inner, std::size_t count)
        : sending_(sending), inner_(std::move(inner)) {
        struct Port {
            Ticks arrival, gap;
            bool operator>(const Port& other) const { return arrival > other.arrival; }
        };
        std::priority_queue<Port, std::vector<Port>, std::greater<>> ports;
        std::priority_queue<Ticks, std::vector<Ticks>, std::greater<>> waiting;
        const auto enter = [&](Ticks tick) {
            for (const Ticks after : inner_) waiting.push(tick + after);
        };
        enter(Ticks(0));
        while (informed.size() < count) {
            while (!ports.empty() && (waiting.empty() || ports.top().arrival <= waiting.top())) {
                const Port port = ports.top();
                ports.pop();
                ports.push({port.arrival + port.gap, port.gap});
                enter(port.arrival);
            }
            if (waiting.empty()) break;
            const Ticks tick = waiting.top();
            waiting.pop();
            informed.push_back(tick);
            if (sending.lambda == kNever) continue;
            for (const Ticks gap : sending.gaps) ports.push({tick + sending.lambda, gap});
        }
    }

    /// How many entries there can be by then, beside the first.
    [[nodiscard]] std::uint64_t entries(Ticks end) const {
        std::uint64_t sum = 0;
        if (sending_.lambda == kNever) return 0;
        for (const Ticks since : informed) {
            const Ticks left = end - sending_.lambda - since;
            if (left < Ticks(0)) break;
            for (const Ticks gap : sending_.gaps)
                sum += static_cast<std::uint64_t>(left.count() / gap.count()) + 1;
        }
        return sum;
    }
    /// How many can be served by then.
    [[nodiscard]] std::uint64_t served(Ticks end) const {
        std::uint64_t sum = 0;
        for (const Ticks after : inner_) sum += entries(end - after);
        return sum;
    }

    std::vector<Ticks> informed;  ///< rising

  private:
    const Sending sending_;
    const std::vector<Ticks> inner_;
};

/// The chunks that count for a root.
struct Rooted {
    NodeId root;
    bool backwards = false;
    Bytes bytes;
    std::vector<const ChunkClass*> classes;
};

class Growth {
  public:
    Growth(const Traffic& traffic, const PacedNetwork& network, const Rooted& rooted, Effort& effort)
        : traffic_(traffic),
          topology_(traffic.topology()),
          network_(network),
          rooted_(rooted),
          effort_(effort),
          towards_(rooted.backwards ? Direction::Forwards : Direction::Backwards) {
        std::vector<const Passage*> passages;
        for (const ChunkClass* c : rooted.classes) {
            chunks_ += c->count;
            release_ = std::min(release_, traffic.release(*c));
            if (passages.empty() || passages.back() != &traffic.passage(*c))
                passages.push_back(&traffic.passage(*c));
        }
        carries_ = carriers(topology_, passages);
        for (std::size_t n = 0; n < topology_.npus(); ++n) {
            if (carries(NodeId(n))) carriers_.emplace_back(n);
        }
    }

    void improve(const Partition& partition, bool single, Bound& best) {
        if (!measure(partition, single)) return;
        const Ticks start = root_.started(chunks_);
        const Process flat(outer_, {Ticks(0)}, parts_);
        consider(flat, start, wanted(partition, false), {partition, false}, best);
        if (single) return;
        inside_ = Process(inner_, {Ticks(0)}, largest_).informed;
        if (inside_.size() == 1) return;
        const Process nested(outer_of_npu_, inside_, carriers_.size());
        consider(nested, root_npu_.started(chunks_), wanted(partition, true), {partition, true}, best);
        share(partition, best);
    }

  private:
    struct Wanted {
        std::uint64_t all = 0, least = UINT64_MAX;  ///< over all chunks, and of the one that wants least
        std::uint64_t places = 0;                   ///< parts that want any
    };
    struct Case {
        const Partition& partition;
        bool nested;
    };

    [[nodiscard]] bool carries(NodeId node) const { return carries_[node.index()]; }

    /// The messages from one NPU to some others (backwards: to it from them).
    [[nodiscard]] PacedTimes search(const std::vector<TimedNode>& far, Direction direction) const {
        return network_.times(far, direction,
                              [&](NodeId node) { return topology_.is_switch(node) && carries(node); });
    }
    void look(NodeId npu, const PacedTimes& times, Direction direction, Ticks& lambda,
              std::vector<Ticks>& gaps) const {
        const bool out = direction == Direction::Backwards;
        for (const LinkId id : out ? topology_.out_links(npu) : topology_.in_links(npu)) {
            const EndLink end = network_.at_end(times, id, direction);
            if (end.time == kNever) continue;
            lambda = std::min(lambda, end.time);
            gaps.push_back(network_.busy(id, end.pace));
        }
    }

    /// How fast parts and NPUs can send, for this partition. False: no effort left.
    bool measure(const Partition& partition, bool single) {
        outer_ = inner_ = outer_of_npu_ = receiving_ = root_ = root_npu_ = of_npu_ = {};
        std::map<std::uint32_t, std::vector<NodeId>> members;
        for (const NodeId npu : carriers_) members[partition.part[npu.index()]].push_back(npu);
        parts_ = members.size();
        largest_ = 0;
        const std::size_t searches = 2 * parts_ + (single ? 0 : 2 * carriers_.size()) + 1;
        if (!effort_.spend(searches * (network_.work() + carriers_.size()))) return false;
        for (const auto& [part, npus] : members) {
            largest_ = std::max(largest_, npus.size());
            std::vector<TimedNode> far;
            for (const NodeId npu : carriers_) {
                if (partition.part[npu.index()] != part) far.push_back({npu, Ticks(0)});
            }
            measure_part(npus, far, part == partition.part[rooted_.root.index()]);
            if (!single) measure_inside(npus);
        }
        for (const NodeId sender : carriers_) {
            if (single && sender != rooted_.root) continue;
            std::vector<TimedNode> others;
            for (const NodeId npu : carriers_) {
                if (npu != sender) others.push_back({npu, Ticks(0)});
            }
            Ticks lambda = kNever;
            std::vector<Ticks> gaps;
            look(sender, search(others, towards_), towards_, lambda, gaps);
            of_npu_.join(lambda, gaps);
            if (sender == rooted_.root) root_npu_.join(lambda, std::move(gaps));
        }
        return true;
    }

    void measure_part(const std::vector<NodeId>& npus, const std::vector<TimedNode>& far, bool is_root) {
        const Direction other = towards_ == Direction::Forwards ? Direction::Backwards : Direction::Forwards;
        const PacedTimes to = search(far, towards_), from = search(far, other);
        Ticks lambda = kNever, ignored = kNever;
        std::vector<Ticks> all, receiving;
        for (const NodeId npu : npus) {
            Ticks own_lambda = kNever;
            std::vector<Ticks> own;
            look(npu, to, towards_, own_lambda, own);
            look(npu, from, other, ignored, receiving);
            lambda = std::min(lambda, own_lambda);
            all.insert(all.end(), own.begin(), own.end());
            outer_of_npu_.join(own_lambda, std::move(own));
        }
        if (is_root) root_.join(lambda, all);
        outer_.join(lambda, std::move(all));
        receiving_.join(ignored, std::move(receiving));
    }

    void measure_inside(const std::vector<NodeId>& npus) {
        for (const NodeId npu : npus) {
            std::vector<TimedNode> far;
            for (const NodeId other : npus) {
                if (other != npu) far.push_back({other, Ticks(0)});
            }
            if (far.empty()) continue;
            Ticks lambda = kNever;
            std::vector<Ticks> gaps;
            look(npu, search(far, towards_), towards_, lambda, gaps);
            inner_.join(lambda, std::move(gaps));
        }
    }

    /// Pairs of a chunk and a part (nested: an NPU) outside the root's part that it must be brought to.
    [[nodiscard]] Wanted wanted(const Partition& partition, bool nested) const {
        Wanted result;
        std::set<std::uint32_t> all_parts;
        const std::uint32_t home = partition.part[rooted_.root.index()];
        for (const ChunkClass* c : rooted_.classes) {
            const Demand demand = traffic_.demand(*c);
            std::set<std::uint32_t> parts;
            std::uint64_t npus = 0;
            for (const NodeId npu : rooted_.backwards ? demand.holders : demand.receivers) {
                const std::uint32_t part = partition.part[npu.index()];
                if (part == home) continue;
                parts.insert(part);
                ++npus;
            }
            const std::uint64_t each = nested ? npus : parts.size();
            result.all += each * c->count;
            result.least = std::min(result.least, each);
            all_parts.insert(parts.begin(), parts.end());
        }
        result.places = all_parts.size();
        return result;
    }

    void consider(const Process& process, Ticks last_start, const Wanted& wanted, const Case& which,
                  Bound& best) {
        if (wanted.all == 0) return;
        auto end = least_tick([&](Ticks tick) { return process.served(tick) >= wanted.all; });
        if (end && !which.nested) end = std::max(*end, received_by(process, wanted));
        if (end) accept(*end, which, false, best);
        if (wanted.least == 0) return;
        const auto alone = least_tick([&](Ticks tick) { return process.served(tick) >= wanted.least; });
        if (alone) accept(last_start + *alone, which, true, best);
    }

    /// Where ports are shared by messages inside and outside: all chunks, and the last one.
    void share(const Partition& partition, Bound& best) {
        if (outer_of_npu_.lambda == kNever || of_npu_.gaps.empty()) return;
        std::uint64_t all = 0, least = UINT64_MAX;
        for (const ChunkClass* c : rooted_.classes) {
            const Demand demand = traffic_.demand(*c);
            const auto& far = rooted_.backwards ? demand.holders : demand.receivers;
            const auto others = static_cast<std::uint64_t>(
                std::ranges::count_if(far, [&](NodeId npu) { return npu != rooted_.root; }));
            all += others * c->count;
            least = std::min(least, others);
        }
        share(partition, {all, 0, false}, best);
        if (chunks_ > 1) share(partition, {least, root_npu_.started(chunks_).count(), true}, best);
    }
    struct SharedCase {
        std::uint64_t wanted;
        std::int64_t start;
        bool last_chunk;
    };
    void share(const Partition& partition, const SharedCase& which, Bound& best) {
        const std::int64_t gap = of_npu_.gaps.front().count();
        // One program for each unit of time by which the best bound is exceeded.
        const std::int64_t known = std::max<std::int64_t>((best.value - release_).count() - which.start, 1);
        const std::int64_t unit = unit_for(known, gap);
        if (unit == 0) return;
        SharedGrowth growth{inner_.lambda.count() / unit,
                            outer_of_npu_.lambda.count() / unit,
                            gap / unit,
                            static_cast<std::int64_t>(of_npu_.gaps.size()),
                            static_cast<std::int64_t>(carriers_.size()),
                            {},
                            {}};
        if (growth.inner < 1 || growth.outer < 1) return;
        for (std::size_t i = 1; i < inside_.size(); ++i) growth.inside.push_back(inside_[i].count() / unit);
        const std::uint64_t chunks = which.last_chunk ? 1 : chunks_;
        for (std::uint64_t chunk = 1; chunk <= chunks; ++chunk) {
            const std::int64_t leaving = root_npu_.started(chunk).count() / unit;
            if (leaving > kMostUnits) break;
            growth.leaving.push_back(leaving);
        }
        for (std::size_t tried = 0; tried < kMostPrograms; ++tried) {
            const std::int64_t end =
                std::max<std::int64_t>((best.value - release_).count() - which.start, 0) / unit;
            if (end > kMostUnits || !effort_.spend(kProgramWork * static_cast<std::size_t>(end))) return;
            auto prices = growth_prices(growth, end, which.wanted);
            if (prices.empty()) return;
            best = {"growth", release_ + Ticks(which.start + (end + 1) * unit),
                    GrowthCertificate{rooted_.root, partition.part, rooted_.backwards, true, which.last_chunk,
                                      rooted_.bytes, std::move(prices), Ticks(unit)},
                    0};
        }
    }
    /// A unit of time that rounds little and is not too small; 0 if there is none.
    [[nodiscard]] std::int64_t unit_for(std::int64_t known, std::int64_t gap) const {
        std::int64_t exact = std::gcd(gap, std::gcd(inner_.lambda.count(), outer_of_npu_.lambda.count()));
        for (const Ticks time : inside_) exact = std::gcd(exact, time.count());
        if (exact > 0 && known / exact < kMostUnits) return exact;
        const std::int64_t steps =
            gap * (kMostUnits - 1) / 2 / known;  // of a gap, half of all for what may come
        return steps < 1 ? 0 : gap / std::min(steps, gap);
    }

    /// The least end by which the receiving ports manage what cannot have arrived before, over all moments.
    [[nodiscard]] Ticks received_by(const Process& process, const Wanted& wanted) const {
        Ticks latest(0);
        for (const Ticks since : process.informed) {
            const std::uint64_t before = process.entries(since);
            if (before >= wanted.all) break;
            const auto end = least_tick([&](Ticks tick) {
                std::uint64_t sum = 0;
                for (const Ticks gap : receiving_.gaps) {
                    if (tick > since)
                        sum +=
                            static_cast<std::uint64_t>((tick - since - Ticks(1)).count() / gap.count()) + 1;
                }
                return before + wanted.places * sum >= wanted.all;
            });
            if (end) latest = std::max(latest, *end);
        }
        return latest;
    }

    void accept(Ticks end, const Case& which, bool last_chunk, Bound& best) const {
        if (release_ + end <= best.value) return;
        best = {"growth", release_ + end,
                GrowthCertificate{rooted_.root, which.partition.part, rooted_.backwards, which.nested,
                                  last_chunk, rooted_.bytes},
                0};
    }

    const Traffic& traffic_;
    const Topology& topology_;
    const PacedNetwork& network_;
    const Rooted& rooted_;
    Effort& effort_;
    const Direction
        towards_;  ///< the direction in which to search from the others to find what leaves an NPU
    std::uint64_t chunks_ = 0;
    Ticks release_ = kNever;
    std::vector<bool> carries_;     ///< per node: whether it may carry any of the chunks
    std::vector<NodeId> carriers_;  ///< the NPUs among them
    std::size_t parts_ = 0, largest_ = 0;
    Sending outer_, inner_, outer_of_npu_, receiving_, root_, root_npu_, of_npu_;
    std::vector<Ticks> inside_;  ///< when a part's NPUs can be informed, the first at 0
};

/// For each size the root of the most chunks, forwards and backwards.
std::vector<Rooted> roots_of(const Traffic& traffic, bool copies, bool adds) {
    std::map<std::tuple<bool, NodeId>, std::uint64_t> chunks;
    std::set<Bytes> sizes;
    const auto root_of = [&](const ChunkClass& c) -> std::optional<std::tuple<bool, NodeId>> {
        const Demand demand = traffic.demand(c);
        if (!demand.reduction && !copies && demand.holders.size() == 1 && demand.receivers.size() > 1)
            return std::tuple{false, demand.holders.front()};
        if (demand.reduction && !copies && !adds && demand.receivers.size() == 1 && demand.holders.size() > 1)
            return std::tuple{true, demand.receivers.front()};
        return std::nullopt;
    };
    for (const ChunkClass& c : traffic.classes()) {
        if (const auto root = root_of(c)) {
            chunks[*root] += c.count;
            sizes.insert(traffic.demand(c).bytes);
        }
    }
    std::vector<Rooted> roots;
    for (const Bytes bytes : sizes) {
        for (const bool backwards : {false, true}) {
            std::optional<NodeId> most;
            for (const auto& [root, count] : chunks) {
                if (std::get<0>(root) != backwards) continue;
                if (!most || count > chunks[{backwards, *most}]) most = std::get<1>(root);
            }
            if (!most || roots.size() >= 2 * kMostGrowthSizes) continue;
            roots.push_back({*most, backwards, bytes, {}});
            for (const ChunkClass& c : traffic.classes()) {
                if (root_of(c) == std::tuple{backwards, *most} && traffic.demand(c).bytes >= bytes)
                    roots.back().classes.push_back(&c);
            }
            if (roots.back().classes.empty()) roots.pop_back();
        }
    }
    return roots;
}

}  // namespace

std::optional<Bound> growth(Traffic& traffic, const Stop& stop) {
    Bound best{"growth", Ticks(0), {}, 0};
    if (traffic.classes().empty()) return best;
    bool copies = false, adds = false;
    for (const SwitchRule& rule : traffic.topology().parts().switches) {
        copies = copies || rule.copy;
        adds = adds || rule.reduce;
    }
    const auto roots = roots_of(traffic, copies, adds);
    if (roots.empty()) return best;
    Partition single;
    single.parts = traffic.topology().npus();
    single.part.resize(single.parts);
    std::iota(single.part.begin(), single.part.end(), 0U);
    Effort effort(kMostGrowthWork, stop);
    const auto partitions = natural_partitions(traffic, stop);
    for (const Rooted& rooted : roots) {
        const PacedNetwork network(traffic.instance(), rooted.bytes);
        Growth growth(traffic, network, rooted, effort);
        growth.improve(single, true, best);
        for (const Partition& partition : partitions) growth.improve(partition, false, best);
    }
    if (effort.ended() && best.value == Ticks(0)) return std::nullopt;
    return best;
}

}  // namespace tutti::bounds
