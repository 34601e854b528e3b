// Everybody outside must be joined with everybody inside. Of a reduction, every contribution from outside a
// set S must come to every receiver in S: those are |H| * |X| pairs for each chunk, of a plain chunk |X|. On
// the way from h to x lies a send into S. One that starts at s on the link e joins at most L(s) * P(T - s)
// pairs: what its sender can have collected by then, and whom what it carries can still reach by T.
//
//     L_e(s) = min(|H|, holders outside within s of the link, W(s - time to the link from an NPU))
//     P_e(r) = min(|X|, receivers inside within r of the link, N(r - time from the link to an NPU))
//
// W(t) bounds how many contributions an NPU can have after t, N(t) whom it can have told: itself, if it is a
// holder (receiver) and no relay, and, port by port and message by message, those from whom (to whom) a
// message took the rest of the time. W is the larger of one for holders and one for relays:
//
//     W(t) = (1 or 0) + max over NPUs of the smaller of
//              the sum over their ports p and k >= 0 of W(t - time_p - k gap_p), and
//              the sum over all other NPUs v of W(t - time of a message from v)
//
// (all messages of one sender together bring no more than it knows).
// Where a switch adds, W says nothing; where one copies, N. Sends on one link start its busy time apart, so a
// link joins at most as many pairs as the best such sequence of starts. All links into S together must join
// all pairs.
//
// `cut` lets a send carry everything as soon as it can carry anything, `contributions` looks at one receiver.
// Here a send over the border between nodes pays for the sum before it and for the copies after it, or more
// of them are needed. It proves rail2x4-ar: 82.9 -> 96.9 us, the optimum.
//
// Sending earlier reaches no fewer, so the best sequence starts at a step of L, or right after the send
// before. Complexity: four searches per NPU and per link into a set, then O(log T) sequences of O(steps *
// sends log) for each kind of link.

#include "bounds/families.hpp"
#include "bounds/link_window.hpp"
#include "bounds/message_ports.hpp"
#include "bounds/parts.hpp"
#include "core/least_tick.hpp"

#include <algorithm>
#include <map>
#include <queue>
#include <set>

namespace tutti::bounds {
namespace {

constexpr std::size_t kMostSearches = 20'000'000;  ///< links relaxed to find the ports
constexpr std::size_t kMostPairsWork = 30'000'000;

/// From `time` on it is `count`.
struct Step {
    std::int64_t time, count;
    friend auto operator<=>(const Step&, const Step&) = default;
};
using Steps = std::vector<Step>;  ///< both rising

/// How messages come to an NPU (or leave it): over which ports, and from (to) how far.
struct Profile {
    bool member;  ///< has something of its own
    std::vector<MessagePort> ports;
    std::vector<MessageTime> others;
    friend auto operator<=>(const Profile&, const Profile&) = default;
};
using Profiles = std::set<Profile>;

/// W or N, up to `most`.
class Spreading {
  public:
    Spreading(const Profiles& profiles, std::int64_t most) : most_(most) {
        for (const Profile& profile : profiles) {
            profiles_.push_back(&profile);
            const std::int64_t own = profile.member ? 1 : 0;
            known_.push_back({own, own});
        }
        if (std::ranges::any_of(profiles_, &Profile::member)) grow(0, true, 1);
    }

    Steps run() {
        while (any() < most_ && !arrivals_.empty()) {
            const Arrival next = arrivals_.top();
            arrivals_.pop();
            Known& here = known_[next.profile];
            if (next.gap) arrivals_.push({next.time + *next.gap, next.profile, next.gap, next.count});
            std::int64_t& count = next.gap ? here.by_ports : here.by_senders;
            count = std::min(count + next.count, most_);
            const bool member = profiles_[next.profile]->member;
            const std::int64_t both = std::min(here.by_ports, here.by_senders);
            const std::int64_t before = member ? of_members_ : of_relays_;
            if (both > before) grow(next.time, member, both - before);
        }
        return std::move(steps_);
    }

  private:
    /// By its port, or by its sender; a port brings another after a gap.
    struct Arrival {
        std::int64_t time;
        std::size_t profile;
        std::optional<std::int64_t> gap;
        std::int64_t count;
        bool operator>(const Arrival& other) const { return time > other.time; }
    };
    struct Known {
        std::int64_t by_ports, by_senders;
    };

    [[nodiscard]] std::int64_t any() const { return std::max(of_members_, of_relays_); }

    /// Members (or relays) can have so much more from then on.
    void grow(std::int64_t time, bool members, std::int64_t by) {
        const std::int64_t before = any();
        (members ? of_members_ : of_relays_) += by;
        const std::int64_t more = any() - before;
        if (more > 0 && !steps_.empty() && steps_.back().time == time) {
            steps_.back().count = any();
        } else if (more > 0) {
            steps_.push_back({time, any()});
        }
        for (std::size_t p = 0; p < profiles_.size(); ++p) {
            if (more > 0) {
                for (const MessagePort& port : profiles_[p]->ports)
                    arrivals_.push({time + port.time, p, port.gap, more});
            }
            for (const MessageTime& other : profiles_[p]->others) {
                const std::int64_t npus = members ? other.members : other.relays;
                if (npus > 0) arrivals_.push({time + other.time, p, std::nullopt, by * npus});
            }
        }
    }

    const std::int64_t most_;
    std::vector<const Profile*> profiles_;
    std::vector<Known> known_;
    std::int64_t of_members_ = 0, of_relays_ = 0;
    std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals_;
    Steps steps_;
};

/// The smaller of the two at each time.
Steps lower_of(const Steps& a, const Steps& b) {
    Steps lower;
    std::size_t i = 0, j = 0;
    std::int64_t in_a = 0, in_b = 0;
    while (i < a.size() || j < b.size()) {
        const std::int64_t time =
            j == b.size() || (i < a.size() && a[i].time < b[j].time) ? a[i].time : b[j].time;
        for (; i < a.size() && a[i].time == time; ++i) in_a = a[i].count;
        for (; j < b.size() && b[j].time == time; ++j) in_b = b[j].count;
        const std::int64_t count = std::min(in_a, in_b);
        if (count > (lower.empty() ? 0 : lower.back().count)) lower.push_back({time, count});
    }
    return lower;
}

/// Links into the set that are alike.
struct BorderLink {
    Steps before;  ///< L
    Steps after;   ///< P
    std::int64_t busy;
    friend auto operator<=>(const BorderLink&, const BorderLink&) = default;
};

class Pairs {
  public:
    Pairs(const Traffic& traffic, Bytes bytes, bool reductions, Effort& effort)
        : traffic_(traffic),
          topology_(traffic.topology()),
          network_(traffic.instance(), bytes),
          passage_(traffic.instance(), bytes),
          bytes_(bytes),
          reductions_(reductions),
          effort_(effort),
          has_(topology_.npus()),
          wants_(topology_.npus()) {
        for (const SwitchRule& rule : topology_.parts().switches) {
            adds_ = adds_ || rule.reduce;
            copies_ = copies_ || rule.copy;
        }
        std::set<const Passage*> passages;
        for (const ChunkClass& c : traffic.classes()) {
            const Demand demand = traffic.demand(c);
            if (!counts(demand)) continue;
            passages.insert(&traffic.passage(c));
            for (const NodeId node : demand.holders) has_[node.index()] = true;
            for (const NodeId node : demand.receivers) wants_[node.index()] = true;
        }
        carriers_ = carriers(topology_, {passages.begin(), passages.end()});
        if (reductions && !adds_) in_ = profiles(Direction::Forwards);
        if (!copies_) out_ = profiles(Direction::Backwards);
        std::vector<TimedNode> all;
        for (std::size_t n = 0; n < topology_.npus(); ++n) {
            if (carriers_[n]) all.push_back({NodeId(n), Ticks(0)});
        }
        const auto carries = [&](NodeId node) { return carriers_[node.index()]; };
        from_all_ = network_.times(all, Direction::Forwards, carries);
        to_all_ = network_.times(all, Direction::Backwards, carries);
    }

    /// The best bound above `best`, if any.
    void improve(const std::vector<bool>& inside, Bound& best) {
        if (!count(inside)) return;
        find_border(inside);
        const auto enough = [&](Ticks end) { return effort_.ended() || joins_all(end.count()); };
        const Ticks more = best.value;
        if (enough(more)) return;
        const auto end = least_tick(enough, more);
        if (!end || effort_.ended()) return;
        PairsCertificate certificate{{}, reductions_, bytes_};
        for (std::size_t n = 0; n < inside.size(); ++n) {
            if (inside[n]) certificate.inside.emplace_back(n);
        }
        best = {"pairs", *end, std::move(certificate), 0};
    }

  private:
    [[nodiscard]] bool counts(const Demand& demand) const {
        return demand.reduction == reductions_ && demand.bytes >= bytes_;
    }

    [[nodiscard]] Profiles profiles(Direction direction) const {
        Profiles found;
        auto ports = message_ports(network_, carriers_, direction);
        const std::vector<bool>& members = direction == Direction::Forwards ? has_ : wants_;
        auto others = message_times(network_, carriers_, members, direction);
        for (std::size_t n = 0; n < ports.size(); ++n) {
            std::ranges::sort(ports[n]);
            if (carriers_[n]) found.insert({members[n], std::move(ports[n]), std::move(others[n])});
        }
        return found;
    }

    /// What must be joined. False if nothing must.
    bool count(const std::vector<bool>& inside) {
        const auto is_inside = [&](NodeId node) { return inside[node.index()]; };
        needed_ = 0;
        most_holders_ = most_receivers_ = 0;
        release_ = kNever;
        holders_.assign(topology_.npus(), false);
        receivers_.assign(topology_.npus(), false);
        for (const ChunkClass& c : traffic_.classes()) {
            const Demand demand = traffic_.demand(c);
            if (!counts(demand)) continue;
            if (!effort_.spend(demand.holders.size() + demand.receivers.size())) return false;
            const auto in = std::ranges::count_if(demand.receivers, is_inside);
            auto out = std::ssize(demand.holders) - std::ranges::count_if(demand.holders, is_inside);
            if (!reductions_) out = out == std::ssize(demand.holders) ? 1 : 0;
            if (in == 0 || out == 0) continue;
            needed_ += Wide{in} * out * static_cast<std::int64_t>(c.count);
            most_holders_ = std::max<std::int64_t>(most_holders_, out);
            most_receivers_ = std::max<std::int64_t>(most_receivers_, in);
            release_ = std::min(release_, traffic_.release(c));
            for (const NodeId node : demand.holders) {
                if (!is_inside(node)) holders_[node.index()] = true;
            }
            for (const NodeId node : demand.receivers) {
                if (is_inside(node)) receivers_[node.index()] = true;
            }
        }
        return needed_ > 0;
    }

    void find_border(const std::vector<bool>& inside) {
        border_.clear();
        const Steps collected = Spreading(in_, most_holders_).run();
        const Steps told = Spreading(out_, most_receivers_).run();
        std::map<NodeId, Steps> holders, receivers;  // by the link's end
        for (std::size_t l = 0; l < topology_.links().size(); ++l) {
            const LinkId id(l);
            const Link& link = topology_.link(id);
            if (inside[link.src.index()] || !inside[link.dst.index()]) continue;
            if (!carriers_[link.src.index()] || !carriers_[link.dst.index()]) continue;
            const InnerLink over = network_.over(from_all_, to_all_, id);
            if (over.pace == kNever || !effort_.spend(2 * network_.work())) continue;
            auto [near, unseen] = holders.try_emplace(link.src);
            if (unseen) {
                near->second =
                    within(link.src, Direction::Backwards, holders_, reductions_ ? most_holders_ : 1);
            }
            auto [far, new_end] = receivers.try_emplace(link.dst);
            if (new_end) far->second = within(link.dst, Direction::Forwards, receivers_, most_receivers_);
            BorderLink own;
            own.before = shifted(near->second, release_, Ticks(0));
            if (reductions_ && !adds_)
                own.before = lower_of(own.before, shifted(collected, release_ + over.before, Ticks(0)));
            own.after = shifted(far->second, passage_.step[l], passage_.transit[l]);
            if (!copies_) own.after = lower_of(own.after, shifted(told, over.after, Ticks(0)));
            own.busy = network_.busy(id, over.pace).count();
            if (!own.before.empty() && !own.after.empty()) ++border_[std::move(own)];
        }
    }

    /// How many of the NPUs are within a time of the node, up to `most`.
    [[nodiscard]] Steps within(NodeId node, Direction direction, const std::vector<bool>& npus,
                               std::int64_t most) const {
        const std::vector<Ticks> times = distances(passage_, std::span(&node, 1), direction);
        std::vector<std::int64_t> sorted;
        for (std::size_t n = 0; n < npus.size(); ++n) {
            if (npus[n] && times[n] != kNever) sorted.push_back(times[n].count());
        }
        std::ranges::sort(sorted);
        Steps steps;
        for (const std::int64_t time : sorted) {
            const std::int64_t count = steps.empty() ? 1 : steps.back().count + 1;
            if (count > most) break;
            if (!steps.empty() && steps.back().time == time) {
                steps.back().count = count;
            } else {
                steps.push_back({time, count});
            }
        }
        return steps;
    }

    /// Later by so much, and none before a time.
    static Steps shifted(const Steps& steps, Ticks by, Ticks earliest) {
        Steps later;
        for (const Step& step : steps) {
            const std::int64_t time = std::max(step.time + by.count(), earliest.count());
            if (!later.empty() && later.back().time == time) later.pop_back();
            later.push_back({time, step.count});
        }
        return later;
    }

    /// Whether all pairs can be joined by then.
    bool joins_all(std::int64_t end) {
        Wide joined = 0;
        for (const auto& [link, links] : border_) {
            joined += joined_by(link, end, (needed_ - joined + links - 1) / links) * links;
            if (joined >= needed_) return true;
        }
        return false;
    }

    /// The most pairs that one link joins by then; at least `enough` if it is that many or more.
    Wide joined_by(const BorderLink& link, std::int64_t end, Wide enough) {
        const std::int64_t last = end - link.after.front().time;
        const Step &full = link.before.back(), &all = link.after.back();
        const LinkWindow whole{Ticks(full.time), Ticks(all.time), Ticks(link.busy)};
        const Wide simply = Wide{whole.sends(Ticks(end))} * full.count * all.count;
        if (simply >= enough) return simply;
        starts_.clear();
        for (const Step& step : link.before) {
            for (std::int64_t start = step.time; start <= last; start += link.busy) {
                if (!effort_.spend(1)) return enough;
                starts_.push_back(start);
            }
        }
        std::ranges::sort(starts_);
        starts_.erase(std::ranges::unique(starts_).begin(), starts_.end());
        return best_sequence(link, end);
    }

    /// Over starts_, which are in order.
    Wide best_sequence(const BorderLink& link, std::int64_t end) {
        best_.assign(starts_.size() + 1, 0);  // up to and without this start
        std::size_t collected = 0, free = 0;  // the first start that the one looked at does not exclude
        std::size_t told = link.after.size();
        for (std::size_t i = 0; i < starts_.size(); ++i) {
            const std::int64_t start = starts_[i];
            while (collected < link.before.size() && link.before[collected].time <= start) ++collected;
            while (told > 0 && link.after[told - 1].time > end - start) --told;
            while (starts_[free] <= start - link.busy) ++free;
            const std::int64_t before = collected == 0 ? 0 : link.before[collected - 1].count;
            const std::int64_t after = told == 0 ? 0 : link.after[told - 1].count;
            best_[i + 1] = std::max(best_[i], best_[free] + Wide{before} * after);
        }
        return best_.back();
    }

    const Traffic& traffic_;
    const Topology& topology_;
    PacedNetwork network_;
    Passage passage_;
    Bytes bytes_;
    bool reductions_;
    Effort& effort_;
    bool adds_ = false, copies_ = false;
    std::vector<bool> carriers_;
    std::vector<bool> has_, wants_;  ///< per NPU: whether it holds, receives any of the chunks
    Profiles in_, out_;
    PacedTimes from_all_, to_all_;

    // Of the set that is looked at.
    Wide needed_ = 0;
    std::int64_t most_holders_ = 0, most_receivers_ = 0;
    Ticks release_;
    std::vector<bool> holders_, receivers_;  ///< per NPU: outside, inside
    std::map<BorderLink, std::int64_t> border_;
    std::vector<std::int64_t> starts_;
    std::vector<Wide> best_;
};

}  // namespace

std::optional<Bound> pairs(Traffic& traffic, std::vector<std::vector<bool>> sets, const Stop& stop) {
    Bound best{"pairs", Ticks(0), {}, 0};
    Suspects parts = suspects(traffic, stop);
    for (auto& part : parts.entered) sets.push_back(std::move(part));
    for (auto& part : parts.left) {
        part.flip();
        sets.push_back(std::move(part));
    }
    std::ranges::sort(sets);
    sets.erase(std::ranges::unique(sets).begin(), sets.end());
    std::set<std::pair<Bytes, bool>> kinds;
    for (const ChunkClass& c : traffic.classes()) {
        const Demand demand = traffic.demand(c);
        // One holder and one receiver make one pair: that is a cut.
        if (demand.reduction || demand.receivers.size() > 1) kinds.emplace(demand.bytes, demand.reduction);
    }
    Effort searches(kMostSearches, stop), effort(kMostPairsWork, stop);
    for (const auto& [bytes, reductions] : kinds) {
        const std::size_t npus = traffic.topology().npus();
        if (!searches.spend(4 * npus * (PacedNetwork(traffic.instance(), bytes).work() + npus))) break;
        Pairs pairs(traffic, bytes, reductions, effort);
        for (const auto& set : sets) pairs.improve(set, best);
    }
    if (searches.ended() && best.value == Ticks(0)) return std::nullopt;
    return best;
}

}  // namespace tutti::bounds
