// All-reduces of which one rank comes last: a straggler.
//
// While it is late, the others sum up among themselves: each chunk at a partner, partners in turn. Then the
// partners' sums go to the late rank, one after the other, and from its release on it sends one chunk after
// the other: the whole sum of a chunk whose partner's sum has come by then, which spreads from the late rank,
// or its own contribution to the partner, from which the sum spreads then. Every chunk has to leave the late
// rank once and to be passed on, so on a crossbar of n = 2^q NPUs with n - 1 chunks that takes at least
// n - 2 + q rounds after the release; so many rounds has StragglAR (Devraj et al., "Accelerating AllReduce
// with a Persistent Straggler", 2025), which exchanges each chunk with its partner in one round.
//
// A late rank and a partner cannot exchange one chunk at one tick through one crossbar (src/verify/README.md:
// the copies would swap). They need not: in the round in which the late rank sends chunk k to a partner, that
// partner sends it its sum of chunk k + 1. The plan of the rounds (late_rounds) is the same; only chunk 0,
// for which there is no round before, goes to its partner as a contribution, and comes back at the end, when
// nothing else goes to the late rank. So on crossbars of 4 to 32 NPUs there are as many rounds as StragglAR
// has for every delay. Where latency counts, the sums come later, and some more chunks go as contributions;
// that can take two rounds more. So the exchange is tried, too, with one of the two messages a tick later:
// where a tick is little beside a round that is StragglAR's own schedule.
//
// Other networks and numbers of NPUs: the sums are broadcast as broadcast.cpp does. All are tried. Tried and
// dropped: the broadcast alone (one to three rounds more for delays between n / 2 and 2n, where the partners'
// sums compete with what they pass on).
//
// The first part is an instance of its own, without the late rank: among the others one may be late again.
// Invariant: the second part begins when the first has ended, so the two share no link at any time.
// Complexity: that of the broadcast, and of the first part's constructions.

#include "heuristics/levels/last_rank.hpp"

#include "heuristics/levels/broadcast.hpp"
#include "heuristics/levels/late_rounds.hpp"
#include "heuristics/levels/two_levels.hpp"
#include "heuristics/releases.hpp"

#include <algorithm>
#include <bit>
#include <map>

namespace tutti::heuristics {
namespace {

using Direction = MessagePlacer::Direction;

/// The holder that is released last; of several the first.
NodeId last_holder(const Instance& instance, ChunkId chunk) {
    return *std::ranges::max_element(instance.demand(chunk).holders, {},
                                     [&](NodeId holder) { return instance.release(chunk, holder); });
}

/// A reduction with a late holder.
struct LateSum {
    ChunkId chunk;
    NodeId late, partner;
    std::vector<NodeId> others;  ///< the holders without the late one
};

/// When the sums of the others no longer are in the way of a message.
class Leftovers {
  public:
    Leftovers(const Instance& instance, const Schedule& first)
        : instance_(instance),
          free_(instance.topology().links().size(), Ticks(0)),
          passed_(instance.chunks(), Ticks(-1)) {
        const Ticks slowest = slowest_beta();
        for (const Send& send : first.sends) {
            const NodeId from = instance.topology().link(send.link).src;
            // Whatever the pace of its message is.
            Ticks& free = free_[send.link.index()];
            free = std::max(free, send.start + instance.busy(send.link, slowest));
            Ticks& passed = passed_[send.chunk.index()];
            if (!instance.topology().is_npu(from)) passed = std::max(passed, send.start);
        }
    }

    /// The first start of a message at `ready` or later that finds its links free, and every switch left by
    /// all that was sent of the chunk.
    [[nodiscard]] Ticks over(std::span<const LinkId> path, ChunkId chunk, Ticks ready) const {
        std::vector<LegTime> legs;
        path_times(instance_, path, chunk, legs);
        for (const LegTime& leg : legs) ready = std::max(ready, free_[leg.link.index()] - leg.offset);
        if (legs.size() > 1) ready = std::max(ready, passed_[chunk.index()] + Ticks(1) - legs[1].offset);
        return ready;
    }

  private:
    [[nodiscard]] Ticks slowest_beta() const {
        Ticks beta;
        std::vector<bool> seen(instance_.demands().sizes().size(), false);
        for (std::size_t c = 0; c < instance_.chunks(); ++c) {
            const std::uint32_t size = instance_.demands().size_class(ChunkId(c));
            for (std::size_t l = 0; l < free_.size() && !seen[size]; ++l)
                beta = std::max(beta, instance_.beta(LinkId(l), ChunkId(c)));
            seen[size] = true;
        }
        return beta;
    }

    const Instance& instance_;
    std::vector<Ticks> free_;    ///< by link
    std::vector<Ticks> passed_;  ///< by chunk: when the last of it left a switch
};

class LastRank {
  public:
    LastRank(const Instance& instance, const Stop& stop)
        : instance_(instance), stop_(stop), cluster_(instance), loads_(links()) {}

    std::optional<Schedule> run() {
        if (!find_sums()) return std::nullopt;
        std::optional<Schedule> best;
        const auto consider = [&](std::optional<Schedule> tried) {
            if (tried && (!best || tried->makespan < best->makespan)) best = std::move(tried);
        };
        const std::vector<LateSum> in_turn = sums_;
        if (number_npus()) {
            plan_ = late_rounds(npus_.size(), sums_.size());
            consider(by_exchanges());
            consider(by_sums());
            sums_ = in_turn;
        }
        consider(by_broadcast());  // it takes the longest
        return best;
    }

  private:
    [[nodiscard]] std::size_t links() const { return instance_.topology().links().size(); }

    /// False: a late rank has no partner.
    bool find_sums() {
        std::vector<std::size_t> turns(instance_.collectives().size(), 0);
        for (std::size_t c = 0; c < instance_.chunks(); ++c) {
            LateSum sum{ChunkId(c), last_holder(instance_, ChunkId(c)), {}, {}};
            const Demand demand = instance_.demand(sum.chunk);
            std::vector<NodeId> partners;
            for (const NodeId npu : demand.receivers) {
                if (npu != sum.late && joined(sum.late, npu)) partners.push_back(npu);
            }
            if (partners.empty()) return false;
            sum.partner = partners[turns[demand.collective.index()]++ % partners.size()];
            std::ranges::copy_if(demand.holders, std::back_inserter(sum.others),
                                 [&](NodeId npu) { return npu != sum.late; });
            sums_.push_back(std::move(sum));
        }
        return true;
    }
    [[nodiscard]] bool joined(NodeId a, NodeId b) const {
        return cluster_.routes().ends(a, b, loads_) && cluster_.routes().ends(b, a, loads_);
    }

    std::optional<Schedule> by_broadcast() {
        const auto first = sums_of_others();
        MessagePlacer placer(instance_, Direction::Forwards);
        std::vector<LevelItem> items;
        if (!first || !join(*first, placer, items)) return std::nullopt;
        const auto all = broadcast(items, placer, instance_, stop_);
        return all ? std::optional(joined_with(*first, all->schedule())) : std::nullopt;
    }
    /// None: somebody has no path.
    [[nodiscard]] std::optional<Schedule> sums_of_others() const {
        const Instance among_others(parts_without_late());
        auto first = best_of_constructions(among_others);
        if (!first || visits_late(*first)) return std::nullopt;
        return first;
    }
    [[nodiscard]] Schedule joined_with(const Schedule& first, Schedule second) const {
        second.makespan = std::max(second.makespan, first.makespan);
        second.sends.insert(second.sends.end(), first.sends.begin(), first.sends.end());
        put_in_order(second, links());
        return second;
    }

    /// Sums go to the late rank a round before they are passed on from there. None: somebody has no path, or
    /// it would be too few of them.
    std::optional<Schedule> by_sums() {
        choose_partners(0, 1);
        auto first = sums_of_others();
        if (!first) return std::nullopt;
        const std::size_t given = contributions(first->makespan);
        if (given > 0) {
            if (2 * given > sums_.size()) return std::nullopt;
            choose_partners(given, given);
            first = sums_of_others();
            if (!first) return std::nullopt;
        }
        MessagePlacer placer(instance_, Direction::Forwards);
        if (!place_rounds(given, first->makespan, placer)) return std::nullopt;
        return joined_with(*first, placer.schedule());
    }

    /// Sums and contributions are exchanged. None: somebody has no path.
    std::optional<Schedule> by_exchanges() {
        choose_partners(0, 0);
        const auto first = sums_of_others();
        MessagePlacer placer(instance_, Direction::Forwards);
        if (!first || !place_exchanges(*first, placer)) return std::nullopt;
        return joined_with(*first, placer.schedule());
    }

    /// The late rank is 0. False: chunks differ in their ranks, or their number is no power of two.
    bool number_npus() {
        const NodeId late = sums_.front().late;
        npus_ = {late};
        for (const LateSum& sum : sums_) {
            const Demand demand = instance_.demand(sum.chunk);
            if (sum.late != late || !std::ranges::equal(demand.receivers, demand.holders)) return false;
            if (sum.others != sums_.front().others) return false;
        }
        npus_.insert(npus_.end(), sums_.front().others.begin(), sums_.front().others.end());
        return std::has_single_bit(npus_.size()) && npus_.size() >= 4;
    }

    /// The first `given` chunks go to their partners as contributions. A later one's sum goes to the late
    /// rank `shift` rounds earlier than it comes from there: in a round in which its partner gets another
    /// chunk, or with no shift the same one.
    void choose_partners(std::size_t given, std::size_t shift) {
        for (std::size_t k = 0; k < sums_.size(); ++k) {
            std::size_t round = k < given ? k : k - shift;
            if (k >= given && k < given + shift) round = sums_.size() - shift + (k - given);
            sums_[k].partner = npus_[plan_.partners[round]];
        }
    }

    /// How many chunks the late rank can send before the first sum can have come to it.
    std::size_t contributions(Ticks first_end) {
        const LateSum& sum = sums_.front();
        find_path(sum.partner, sum.late);
        const Ticks come = first_end + cluster_.routes().time_along(path_);
        const Ticks begin = std::max(first_end, instance_.release(sum.chunk, sum.late));
        if (come <= begin) return 0;
        const std::int64_t each = std::max<std::int64_t>(slot(sum).count(), 1);
        return static_cast<std::size_t>(((come - begin).count() + each - 1) / each);
    }

    /// Rounds are only the order in which messages are placed. False: somebody has no path, or stopped.
    bool place_rounds(std::size_t given, Ticks first_end, MessagePlacer& placer) {
        since_.assign(npus_.size() * sums_.size(), Ticks::max());
        std::vector<Ticks> loads(links());
        std::size_t summed = given;  // up to this one they have gone to the late rank
        const auto sum_up = [&](std::size_t end) {
            for (; summed < std::min(end, sums_.size()); ++summed) {
                const LateSum& sum = sums_[summed];
                const Ticks ready = std::max(first_end, release_at(instance_, sum.chunk, sum.partner));
                const auto come = send(sum.chunk, sum.partner, sum.late, ready, Op::Reduce, loads, placer);
                if (!come) return false;
                since(0, summed) = std::max(*come, instance_.release(sum.chunk, sum.late));
            }
            return true;
        };
        const std::size_t shift = std::max<std::size_t>(given, 1);
        if (!sum_up(shift)) return false;
        for (std::size_t round = 0; round < plan_.rounds.size(); ++round) {
            if (stop_.requested() || !sum_up(round + shift + 1)) return false;
            for (const auto& [from, to, c] : plan_.rounds[round]) {
                const ChunkId chunk = sums_[c].chunk;
                const bool is_part = from == 0 && c < given;
                const Ticks own = std::max(first_end, instance_.release(chunk, npus_[0]));
                const auto come = send(chunk, npus_[from], npus_[to], is_part ? own : since(from, c),
                                       is_part ? Op::Reduce : Op::Copy, loads, placer);
                if (!come) return false;
                since(to, c) = *come;
            }
        }
        for (std::size_t c = 0; c < given; ++c) {
            if (!give_back(c, placer)) return false;
        }
        return true;
    }

    /// False: somebody has no path, or stopped.
    bool place_exchanges(const Schedule& first, MessagePlacer& placer) {
        since_.assign(npus_.size() * sums_.size(), Ticks::max());
        std::vector<Ticks> loads(links());
        const Leftovers leftovers(instance_, first);
        for (std::size_t round = 0; round < plan_.rounds.size(); ++round) {
            if (stop_.requested()) return false;
            for (const auto& [from, to, c] : plan_.rounds[round]) {
                if (from == 0 && c == round) {
                    if (!exchange(c, to, first.makespan, leftovers, placer)) return false;
                    continue;
                }
                const auto come =
                    send(sums_[c].chunk, npus_[from], npus_[to], since(from, c), Op::Copy, loads, placer);
                if (!come) return false;
                since(to, c) = *come;
            }
        }
        return true;
    }
    /// The late rank's contribution to chunk c for the sum of the others. False: one has no path.
    bool exchange(std::size_t c, std::size_t partner, Ticks first_end, const Leftovers& leftovers,
                  MessagePlacer& placer) {
        const ChunkId chunk = sums_[c].chunk;
        if (!joined(npus_[0], npus_[partner])) return false;
        find_path(npus_[0], npus_[partner]);
        const Ticks own = leftovers.over(path_, chunk, instance_.release(chunk, npus_[0]));
        const auto given = placer.place(chunk, path_, own, Op::Reduce);
        const Ticks summed = std::max(first_end, release_at(instance_, chunk, npus_[partner]));
        find_path(npus_[partner], npus_[0]);
        // Not earlier than the other: it must not have come when that one starts.
        const Ticks start = placer.earliest(chunk, path_, std::max(summed, given.start), Op::Reduce);
        const Op op = start < given.end ? Op::Reduce : Op::Copy;
        since(partner, c) = std::max(given.end, summed);
        since(0, c) = placer.place(chunk, path_, start, op).end;
        return true;
    }

    /// To the late rank, from whom it comes first.
    bool give_back(std::size_t c, MessagePlacer& placer) {
        const ChunkId chunk = sums_[c].chunk;
        std::optional<std::pair<Ticks, std::size_t>> first;
        for (std::size_t npu = 1; npu < npus_.size(); ++npu) {
            if (!joined(npus_[npu], npus_[0])) continue;
            find_path(npus_[npu], npus_[0]);
            const Ticks come =
                placer.earliest(chunk, path_, since(npu, c)) + cluster_.routes().time_along(path_);
            if (!first || come < first->first) first = {come, npu};
        }
        if (!first) return false;
        find_path(npus_[first->second], npus_[0]);
        placer.place(chunk, path_, since(first->second, c), Op::Copy);
        return true;
    }

    std::optional<Ticks> send(ChunkId chunk, NodeId from, NodeId to, Ticks ready, Op op,
                              std::vector<Ticks>& loads, MessagePlacer& placer) {
        const auto ends = cluster_.routes().ends(from, to, loads);
        if (!ends || ready == Ticks::max()) return std::nullopt;
        path_.clear();
        cluster_.routes().append_path(*ends, loads, path_);
        for (const LinkId link : path_) loads[link.index()] += instance_.beta(link, chunk);
        return placer.place(chunk, path_, ready, op).end;
    }
    [[nodiscard]] Ticks& since(std::size_t npu, std::size_t chunk) {
        return since_[npu * sums_.size() + chunk];
    }

    /// The sums of the others, each at its partner. Chunks keep their numbers.
    [[nodiscard]] InstanceParts parts_without_late() const {
        InstanceParts parts{instance_.name(), instance_.topology().parts(), {}, {}};
        std::size_t next = 0;
        for (std::size_t i = 0; i < instance_.collectives().size(); ++i) {
            const Collective& given = instance_.collectives()[i];
            const std::size_t first = next;
            while (next < sums_.size() &&
                   instance_.demands().collective(sums_[next].chunk) == CollectiveId(i))
                ++next;
            Collective made = given;
            made.kind = CollectiveKind::Custom;
            made.group = GroupId(i);
            made.root.reset();
            made.chunks = 1;
            made.demands.clear();
            set_release(made, given.release);
            // Where chunks of one collective have different late ranks, none can be left out of the group.
            Group group = instance_.groups()[given.group.index()];
            std::vector<Ticks> releases = given.releases;
            for (std::size_t s = first; s < next; ++s) {
                const LateSum& sum = sums_[s];
                made.demands.push_back({sum.others, {sum.partner}, true, instance_.demand(sum.chunk).bytes});
            }
            const bool same = std::all_of(sums_.begin() + static_cast<std::ptrdiff_t>(first),
                                          sums_.begin() + static_cast<std::ptrdiff_t>(next),
                                          [&](const LateSum& sum) { return sum.late == sums_[first].late; });
            if (same && first < next) {
                const auto place = std::ranges::find(group.members, sums_[first].late);
                if (!releases.empty()) releases.erase(releases.begin() + (place - group.members.begin()));
                group.members.erase(place);
            }
            made.releases = std::move(releases);
            group.name = "others" + std::to_string(i);
            parts.groups.push_back(std::move(group));
            parts.collectives.push_back(std::move(made));
        }
        return parts;
    }

    [[nodiscard]] std::optional<Schedule> best_of_constructions(const Instance& among_others) const {
        std::optional<Schedule> best;
        const auto consider = [&](std::optional<Schedule> found) {
            if (found && (!best || found->makespan < best->makespan)) best = std::move(found);
        };
        consider(crossbar_rounds(among_others, stop_));
        consider(two_levels(among_others, stop_));
        return best;
    }

    /// Whether a chunk is relayed by its own late rank, which would keep what it relays.
    [[nodiscard]] bool visits_late(const Schedule& schedule) const {
        return std::ranges::any_of(schedule.sends, [&](const Send& send) {
            const Link& link = instance_.topology().link(send.link);
            const NodeId late = sums_[send.chunk.index()].late;
            return link.src == late || link.dst == late;
        });
    }

    /// Joins the sums of the others with what the late ranks have, and lists what spreads from where. A late
    /// rank sends one chunk after the other from its release on: one whose sum has come to it by then as a
    /// whole, else its own contribution to the partner, which is complete then. False: stopped.
    bool join(const Schedule& first, MessagePlacer& placer, std::vector<LevelItem>& items) {
        std::map<NodeId, Ticks> free;  // by late rank: when it can send the next chunk
        for (const LateSum& sum : sums_) {
            if (stop_.requested()) return false;
            const auto receivers = instance_.demand(sum.chunk).receivers;
            Ticks& next = free[sum.late];
            const Ticks ready = std::max(first.makespan, release_at(instance_, sum.chunk, sum.partner));
            next = std::max({next, instance_.release(sum.chunk, sum.late), ready});
            find_path(sum.partner, sum.late);
            const Ticks come =
                placer.earliest(sum.chunk, path_, ready, Op::Reduce) + cluster_.routes().time_along(path_);
            if (come > next) {
                find_path(sum.late, sum.partner);
                const auto given = placer.place(sum.chunk, path_, next, Op::Reduce);
                items.push_back({sum.chunk, std::span(&sum.partner, 1), given.end, receivers});
                next = given.start + slot(sum);
                continue;
            }
            placer.place(sum.chunk, path_, ready, Op::Reduce);
            items.push_back({sum.chunk, std::span(&sum.late, 1), next, receivers});
            next += slot(sum);
        }
        return true;
    }

    /// How long the late rank's port is busy with a chunk.
    [[nodiscard]] Ticks slot(const LateSum& sum) {
        find_path(sum.late, sum.partner);
        return instance_.busy(path_.front(), instance_.beta(path_.front(), sum.chunk));
    }

    void find_path(NodeId from, NodeId to) {
        path_.clear();
        cluster_.routes().append_path(*cluster_.routes().ends(from, to, loads_), loads_, path_);
    }

    const Instance& instance_;
    const Stop& stop_;
    mutable Cluster cluster_;
    const std::vector<Ticks> loads_;  ///< none
    std::vector<LateSum> sums_;
    std::vector<LinkId> path_;
    // Of by_sums and by_exchanges.
    LateRounds plan_;
    std::vector<NodeId> npus_;  ///< by number in the plan
    std::vector<Ticks> since_;  ///< by NPU and chunk: when it has the whole
};

}  // namespace

std::string why_no_last_rank(const Instance& instance) {
    if (instance.topology().switches() == 0) return "the network has no switches";
    if (instance.chunks() == 0) return "nothing is to be sent";
    for (std::size_t c = 0; c < instance.chunks(); ++c) {
        const Demand demand = instance.demand(ChunkId(c));
        if (!demand.reduction || demand.holders.size() < 2 || demand.receivers.size() < 2)
            return "a chunk is no sum of several NPUs for several";
        if (!instance.is_staggered(ChunkId(c))) return "no rank is released after the others";
    }
    return {};
}

std::optional<Schedule> last_rank(const Instance& instance, const Stop& stop) {
    if (!why_no_last_rank(instance).empty()) return std::nullopt;
    return LastRank(instance, stop).run();
}

}  // namespace tutti::heuristics
