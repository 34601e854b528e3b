// Sums and copies made by switches, without waiting (SHARP, NVLS, multicast).
//
// A switch that cuts through adds what arrives at one tick, and copies it to several links at that tick. So
// all sends of such a sum are bound to each other: a **wave** is a tree of links into a top switch and a tree
// out of it, and every send has a fixed offset. Storing switches are passed in the same way: everything
// arrives at one tick and leaves at that tick, which any buffer allows. An all-reduce in one wave needs each
// port once each way for a chunk, half of what a reduce-scatter and an all-gather between NPUs need.
//
// The trees are shortest paths to and from the top; where two of them join, the switch must be able to reduce
// (copy). Paths through NPUs are left out: what an NPU relays is another wave.
//
// Paces and busy times follow src/verify/README.md: the pace of a send is the largest beta of what it
// forwards without storing, and its link is busy for the largest pace of the sends that forward it.

#include "heuristics/exchange/waves.hpp"

#include "core/busy_intervals.hpp"
#include "heuristics/event_queue.hpp"
#include "heuristics/releases.hpp"

#include <algorithm>
#include <map>
#include <queue>
#include <set>
#include <tuple>

namespace tutti::heuristics {
namespace {

constexpr std::size_t kMostWavePaths = 8;

/// The links of a wave, in an order in which what feeds a link comes before it.
class WaveBuilder {
  public:
    WaveBuilder(const Instance& instance, ChunkId chunk, NodeId top)
        : instance_(instance), topology_(instance.topology()), chunk_(chunk), top_(top) {}

    /// `into`: the links towards the top, those nearest to it first. `out`: those from it, nearest first.
    std::optional<WavePath> build(const std::vector<LinkId>& into, const std::vector<LinkId>& out) {
        for (auto link = into.rbegin(); link != into.rend(); ++link) add(*link, true);
        for (const LinkId link : out) add(link, false);
        if (!is_allowed()) return std::nullopt;
        set_paces();
        if (!set_starts()) return std::nullopt;
        return collected();
    }

  private:
    struct Leg {
        LinkId link;
        NodeId from, to;
        bool rises;  ///< it leads to the top
        Ticks pace = {}, busy = {}, start = {};
    };

    void add(LinkId id, bool rises) {
        const Link& link = topology_.link(id);
        legs_.push_back({id, link.src, link.dst, rises});
    }
    /// Whether `next` forwards what `leg` brings.
    [[nodiscard]] bool feeds(const Leg& leg, const Leg& next) const {
        if (leg.to != next.from || !topology_.is_switch(leg.to)) return false;
        return leg.rises == next.rises || (leg.rises && leg.to == top_);
    }
    /// Meetings need switches that reduce, and forks such that copy.
    [[nodiscard]] bool is_allowed() const {
        for (const Leg& leg : legs_) {
            if (!topology_.is_switch(leg.to)) continue;
            std::size_t inbound = 0, onward = 0;
            for (const Leg& other : legs_) {
                const bool same = other.to == leg.to && other.rises == leg.rises;
                inbound += same ? 1U : 0U;
                onward += feeds(leg, other) ? 1U : 0U;
            }
            const SwitchRule& rule = topology_.rule(leg.to);
            if (onward == 0 || (inbound > 1 && !rule.reduce) || (onward > 1 && !rule.copy)) return false;
        }
        return true;
    }
    void set_paces() {
        for (Leg& leg : legs_) {
            leg.pace = instance_.beta(leg.link, chunk_);
            if (!topology_.is_cut_through(leg.from)) continue;
            for (const Leg& before : legs_) {
                if (feeds(before, leg)) leg.pace = std::max(leg.pace, before.pace);
            }
        }
        for (auto leg = legs_.rbegin(); leg != legs_.rend(); ++leg) {
            leg->busy = leg->pace;
            if (!topology_.is_cut_through(leg->to)) continue;
            for (const Leg& next : legs_) {
                if (feeds(*leg, next)) leg->busy = std::max(leg->busy, next.busy);
            }
        }
    }
    /// From the start of a leg to the tick at which what it brings leaves its end.
    [[nodiscard]] Ticks passage(const Leg& leg) const {
        return instance_.alpha(leg.link) + (topology_.is_cut_through(leg.to) ? Ticks(0) : leg.pace);
    }
    /// What leaves the top leaves it at 0. False: a switch would be passed twice at one tick.
    bool set_starts() {
        for (auto leg = legs_.rbegin(); leg != legs_.rend(); ++leg) {
            if (!leg->rises) continue;
            Ticks due;
            for (const Leg& next : legs_) {
                if (next.rises && leg->to == next.from) due = next.start;
            }
            leg->start = due - passage(*leg);
        }
        for (Leg& leg : legs_) {
            if (leg.rises) continue;
            for (const Leg& before : legs_) {
                if (!before.rises && before.to == leg.from) leg.start = before.start + passage(before);
            }
        }
        for (const Leg& up : legs_) {
            for (const Leg& down : legs_) {
                const bool again = up.rises && !down.rises && up.to == down.to && topology_.is_switch(up.to);
                if (again && up.start + passage(up) == down.start + passage(down)) return false;
            }
        }
        return true;
    }
    [[nodiscard]] WavePath collected() const {
        WavePath wave;
        Ticks first = Ticks::max();
        for (const Leg& leg : legs_) first = std::min(first, leg.start);
        for (const Leg& leg : legs_) {
            const auto meets = [&](const Leg& other) {
                return other.link != leg.link && other.to == leg.to && other.rises == leg.rises;
            };
            WaveSend send{leg.link, leg.start - first, {}, instance_.busy(leg.link, leg.busy)};
            send.arrival = send.offset + instance_.alpha(leg.link) + leg.pace;
            send.delivers = topology_.is_npu(leg.to);
            send.adds = !send.delivers && std::ranges::any_of(legs_, meets);
            wave.length = std::max(wave.length, send.arrival);
            wave.sends.push_back(send);
        }
        return wave;
    }

    const Instance& instance_;
    const Topology& topology_;
    const ChunkId chunk_;
    const NodeId top_;
    std::vector<Leg> legs_;
};

}  // namespace

/// Shortest paths through switches to one node, or from it.
struct WaveFinder::Tree {
    std::vector<std::optional<LinkId>> step;  ///< by node: its link towards the top, or from it
    std::vector<Ticks> time;                  ///< max: not reached
    std::vector<std::uint32_t> depth;         ///< links to the top
};

WaveFinder::Tree WaveFinder::paths(NodeId top, bool towards) const {
    const Topology& topology = instance_.topology();
    const CollectiveId collective = instance_.demand(chunk_).collective;
    Tree tree{std::vector<std::optional<LinkId>>(topology.nodes()),
              std::vector<Ticks>(topology.nodes(), Ticks::max()),
              std::vector<std::uint32_t>(topology.nodes())};
    using Entry = std::pair<Ticks, NodeId>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
    tree.time[top.index()] = Ticks(0);
    open.emplace(Ticks(0), top);
    while (!open.empty()) {
        const auto [time, at] = open.top();
        open.pop();
        if (time > tree.time[at.index()] || (at != top && topology.is_npu(at))) continue;
        for (const LinkId id : towards ? topology.in_links(at) : topology.out_links(at)) {
            const Link& link = topology.link(id);
            const NodeId next = towards ? link.src : link.dst;
            if (!instance_.may_carry(next, collective)) continue;
            const Ticks stored = topology.is_cut_through(link.dst) ? Ticks(0) : instance_.beta(id, chunk_);
            const Ticks reached = time + instance_.alpha(id) + stored;
            if (reached >= tree.time[next.index()]) continue;
            tree.time[next.index()] = reached;
            tree.step[next.index()] = id;
            tree.depth[next.index()] = tree.depth[at.index()] + 1;
            open.emplace(reached, next);
        }
    }
    return tree;
}

std::optional<WavePath> WaveFinder::through(NodeId top, std::span<const NodeId> sources,
                                            std::span<const NodeId> targets) const {
    const Topology& topology = instance_.topology();
    // The links of the paths, each once, nearest to the top first.
    const auto used = [&](const Tree& tree, std::span<const NodeId> ends,
                          bool towards) -> std::optional<std::vector<LinkId>> {
        std::set<std::pair<std::uint32_t, LinkId>> links;
        for (NodeId at : ends) {
            while (at != top) {
                const auto step = tree.step[at.index()];
                if (!step) return std::nullopt;
                if (!links.emplace(tree.depth[at.index()], *step).second) break;
                at = towards ? topology.link(*step).dst : topology.link(*step).src;
            }
        }
        std::vector<LinkId> list;
        for (const auto& [depth, link] : links) list.push_back(link);
        return list;
    };
    const auto into = used(paths(top, true), sources, true);
    const auto out = used(paths(top, false), targets, false);
    if (!into || !out) return std::nullopt;
    return WaveBuilder(instance_, chunk_, top).build(*into, *out);
}

std::optional<Wave> WaveFinder::find(std::span<const NodeId> sources, std::span<const NodeId> targets) const {
    const Topology& topology = instance_.topology();
    Wave wave{{sources.begin(), sources.end()}, {targets.begin(), targets.end()}, {}};
    const auto consider = [&](std::optional<WavePath> path) {
        if (path) wave.paths.push_back(std::move(*path));
    };
    if (sources.size() == 1) {
        consider(through(sources.front(), {}, targets));
    } else if (targets.size() == 1) {
        consider(through(targets.front(), sources, {}));
    }
    for (std::size_t n = topology.npus(); n < topology.nodes(); ++n) {
        const SwitchRule& rule = topology.rule(NodeId(n));
        if ((sources.size() == 1 || rule.reduce) && (targets.size() == 1 || rule.copy))
            consider(through(NodeId(n), sources, targets));
    }
    if (wave.paths.empty()) return std::nullopt;
    std::ranges::stable_sort(wave.paths, {}, &WavePath::length);
    if (wave.paths.size() > kMostWavePaths) wave.paths.resize(kMostWavePaths);
    return wave;
}

namespace {

class WaveScheduler {
  public:
    WaveScheduler(const Instance& instance, const std::vector<ChunkWave>& waves)
        : instance_(instance),
          waves_(waves),
          busy_(instance.topology().links().size()),
          start_(waves.size()),
          path_(waves.size()),
          waits_(waves.size()),
          next_(waves.size()) {
        std::map<std::pair<ChunkId, NodeId>, std::vector<std::uint32_t>> ended;
        for (std::uint32_t w = 0; w < waves.size(); ++w) {
            for (const NodeId source : waves[w].wave->sources) {
                start_[w] = std::max(start_[w], release_at(instance, waves[w].chunk, source));
                for (const std::uint32_t before : ended[{waves[w].chunk, source}]) {
                    next_[before].push_back(w);
                    ++waits_[w];
                }
            }
            for (const NodeId target : waves[w].wave->targets) ended[{waves[w].chunk, target}].push_back(w);
        }
    }

    bool run(bool in_turn, const Stop& stop) {
        if (in_turn) {
            for (std::uint32_t w = 0; w < waves_.size(); ++w) {
                if ((w & 63U) == 0 && stop.requested()) return false;
                place(w);
            }
            return true;
        }
        EventQueue<Event> events;
        for (std::uint32_t w = 0; w < waves_.size(); ++w) {
            if (waits_[w] == 0) events.push({start_[w].count(), w});
        }
        std::vector<Event> now;
        while (!events.empty()) {
            if (stop.requested()) return false;
            events.pop(now);
            for (const Event& event : now) {
                place(event.wave);
                for (const std::uint32_t next : next_[event.wave]) {
                    if (--waits_[next] == 0) events.push({start_[next].count(), next});
                }
            }
        }
        return true;
    }

    [[nodiscard]] Schedule schedule() const {
        Schedule schedule{instance_.name(), Ticks(0), {}};
        for (std::size_t w = 0; w < waves_.size(); ++w) {
            const auto& [chunk, wave, op] = waves_[w];
            const WavePath& path = wave->paths[path_[w]];
            for (const WaveSend& send : path.sends) {
                const Op how = send.delivers ? op : send.adds ? Op::Reduce : Op::Copy;
                schedule.sends.push_back({chunk, send.link, start_[w] + send.offset, how});
            }
            schedule.makespan = std::max(schedule.makespan, start_[w] + path.length);
        }
        put_in_order(schedule, instance_.topology().links().size());
        return schedule;
    }

  private:
    struct Event {
        std::int64_t time;
        std::uint32_t wave;
    };

    /// Fixes path and start of the wave; start_ has been when it is ready.
    void place(std::uint32_t number) {
        const auto& [chunk, wave, op] = waves_[number];
        const Ticks ready = start_[number];
        Ticks end = Ticks::max();
        for (std::uint32_t p = 0; p < wave->paths.size(); ++p) {
            const WavePath& path = wave->paths[p];
            if (ready + path.length >= end) break;  // those after it are longer still
            const Ticks start = earliest(path, chunk, ready);
            if (start + path.length >= end) continue;
            end = start + path.length;
            path_[number] = p;
            start_[number] = start;
        }
        const Ticks start = start_[number];
        for (const WaveSend& send : wave->paths[path_[number]].sends) {
            busy_[send.link.index()].book(start + send.offset, start + send.offset + send.busy);
            const Link& link = instance_.topology().link(send.link);
            if (!send.delivers) passages_.emplace(link.dst, chunk, start + due(send));
        }
        for (const std::uint32_t next : next_[number]) start_[next] = std::max(start_[next], end);
    }
    [[nodiscard]] Ticks earliest(const WavePath& path, ChunkId chunk, Ticks start) const {
        while (true) {
            start = free_start(path, start);
            if (!passes_again(path, chunk, start)) return start;
            start += Ticks(1);
        }
    }
    [[nodiscard]] Ticks free_start(const WavePath& wave, Ticks start) const {
        std::size_t agreed = 0;
        for (std::size_t i = 0; agreed < wave.sends.size(); i = (i + 1) % wave.sends.size()) {
            const WaveSend& send = wave.sends[i];
            const Ticks found =
                busy_[send.link.index()].earliest(start + send.offset, send.busy) - send.offset;
            agreed = found == start ? agreed + 1 : 1;
            start = found;
        }
        return start;
    }
    /// When what the send brings to a switch leaves it.
    [[nodiscard]] Ticks due(const WaveSend& send) const {
        const Link& link = instance_.topology().link(send.link);
        return instance_.topology().is_cut_through(link.dst) ? send.offset + link.wire.alpha : send.arrival;
    }
    /// Two waves of one chunk at one switch and tick would be mixed up.
    [[nodiscard]] bool passes_again(const WavePath& wave, ChunkId chunk, Ticks start) const {
        return std::ranges::any_of(wave.sends, [&](const WaveSend& send) {
            if (send.delivers) return false;
            return passages_.contains({instance_.topology().link(send.link).dst, chunk, start + due(send)});
        });
    }

    const Instance& instance_;
    const std::vector<ChunkWave>& waves_;
    std::vector<BusyIntervals<Ticks>> busy_;
    std::vector<Ticks> start_;         ///< by wave
    std::vector<std::uint32_t> path_;  ///< by wave: which one it takes
    std::vector<std::uint32_t> waits_;
    std::vector<std::vector<std::uint32_t>> next_;
    std::set<std::tuple<NodeId, ChunkId, Ticks>> passages_;
};

}  // namespace

std::optional<Schedule> schedule_waves(const Instance& instance, const std::vector<ChunkWave>& waves,
                                       bool in_turn, const Stop& stop) {
    WaveScheduler scheduler(instance, waves);
    if (!scheduler.run(in_turn, stop)) return std::nullopt;
    return scheduler.schedule();
}

}  // namespace tutti::heuristics
