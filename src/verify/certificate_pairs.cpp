// Pairs: what every holder outside a set gives must come to every receiver inside, and on its way is a send
// over a link into the set. A send that starts at s serves at most (holders that can be in it by s) times
// (receivers that can get it in the rest of the time) of these pairs. The first number is limited by the
// distance of the holders and, where no switch adds, by how many contributions one NPU can have by then (what
// has come over its links, and what the others knew); the second by the distance of the receivers and, where
// no switch copies, by how many NPUs one can have told in that time. Whatever the starts on a link are, moved
// as early as possible each is at a time at which the first number grows, or directly follows the one before.

#include "core/expects.hpp"
#include "verify/certificate.hpp"
#include "verify/certificate_checks.hpp"
#include "verify/certificate_segments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

namespace tutti::verify {
namespace {

/// Steps of the check, a few seconds; beyond it is refused.
constexpr std::size_t kMostWork = 200'000'000;

/// How many by when: the count at the last time that is not later.
using Curve = std::map<Wide, Wide>;

Wide at(const Curve& curve, Wide time) {
    const auto after = curve.upper_bound(time);
    return after == curve.begin() ? Wide{0} : std::prev(after)->second;
}

struct Port {
    Wide message, gap;
    friend auto operator<=>(const Port&, const Port&) = default;
};
/// How messages come to one NPU (or leave it): the links that they end at, and the least time from each other
/// NPU, with how many there are of it.
struct Kind {
    bool member;              ///< has a contribution of its own (backwards: wants the chunk)
    std::vector<Port> ports;  ///< in order
    std::map<Wide, Wide> members, relays;
    friend auto operator<=>(const Kind&, const Kind&) = default;
};

class PairsCheck {
  public:
    PairsCheck(const Instance& instance, const PairsCertificate& claim)
        : instance_(instance),
          topology_(instance.topology()),
          claim_(claim),
          inside_(topology_.nodes(), false),
          holders_(topology_.nodes(), false),
          receivers_(topology_.nodes(), false),
          has_(topology_.nodes(), false),
          wants_(topology_.nodes(), false) {
        for (const NodeId node : claim.inside) inside_[node.index()] = true;
        for (const SwitchRule& rule : topology_.parts().switches) {
            adds_ = adds_ || rule.reduce;
            copies_ = copies_ || rule.copy;
        }
    }

    Objection operator()(Ticks value) {
        count();
        if (pairs_ == 0) return "no chunk has to cross the border of the set";
        carriers_ = carriers(instance_, collectives_);
        const Wide end = value.count() - 1;
        Wide joined = 0;
        const Curve collected = limits_of(Direction::Forwards, most_holders_);
        const Curve told = limits_of(Direction::Backwards, most_receivers_);
        find_messages();
        for (std::size_t e = 0; e < topology_.links().size(); ++e) {
            const Link& link = topology_.link(LinkId(e));
            if (inside_[link.src.index()] || !inside_[link.dst.index()]) continue;
            if (!carriers_[link.src.index()] || !carriers_[link.dst.index()]) continue;
            joined += joined_over(LinkId(e), collected, told, end);
            if (work_ > kMostWork) return std::string(kTooLongToCheck);
        }
        if (joined >= pairs_) {
            return fmt::format("by tick {} the links into the set can join {} pairs, and {} are needed",
                               value.count() - 1, text_of(joined), text_of(pairs_));
        }
        return std::nullopt;
    }

  private:
    void count() {
        for (const Need& need : needs_of(instance_)) {
            const Demand demand = instance_.demand(need.chunk);
            if (demand.reduction != claim_.reductions || demand.bytes < claim_.bytes) continue;
            collectives_.insert(demand.collective);
            for (const NodeId node : demand.holders) has_[node.index()] = true;
            for (const NodeId node : demand.receivers) wants_[node.index()] = true;
            Wide out = 0, in = 0;
            for (const NodeId node : demand.holders) out += inside_[node.index()] ? 0 : 1;
            for (const NodeId node : demand.receivers) in += inside_[node.index()] ? 1 : 0;
            if (!demand.reduction) out = out == Wide{std::ssize(demand.holders)} ? 1 : 0;
            if (out == 0 || in == 0) continue;
            pairs_ += out * in * need.count;
            most_holders_ = std::max(most_holders_, out);
            most_receivers_ = std::max(most_receivers_, in);
            release_ = std::min(release_, Wide{instance_.release(need.chunk).count()});
            for (const NodeId node : demand.holders)
                if (!inside_[node.index()]) holders_[node.index()] = true;
            for (const NodeId node : demand.receivers)
                if (inside_[node.index()]) receivers_[node.index()] = true;
        }
    }

    /// Everybody at once: the least time of a message before a link and after it, and its pace.
    void find_messages() {
        std::vector<Wide> start(topology_.nodes(), kNever);
        for (std::size_t v = 0; v < topology_.npus(); ++v)
            if (carriers_[v]) start[v] = 0;
        const auto search = [&](Direction direction) {
            return SegmentPaths(
                instance_, claim_.bytes, direction, start,
                [this](NodeId node) { return bool{carriers_[node.index()]}; }, times_of_segments(instance_));
        };
        from_npus_.emplace(search(Direction::Forwards));
        to_npus_.emplace(search(Direction::Backwards));
    }

    [[nodiscard]] Kind kind_of(NodeId npu, Direction direction) const {
        const auto paths = [&](const std::vector<Wide>& start, Direction way) {
            return SegmentPaths(
                instance_, claim_.bytes, way, start,
                [this](NodeId node) { return topology_.is_switch(node) && carriers_[node.index()]; },
                times_of_segments(instance_));
        };
        const auto ends = [&](NodeId node, Direction way) {
            return way == Direction::Forwards ? topology_.in_links(node) : topology_.out_links(node);
        };
        std::vector<Wide> others(topology_.nodes(), kNever), own(topology_.nodes(), kNever);
        for (std::size_t v = 0; v < topology_.npus(); ++v)
            if (NodeId(v) != npu && carriers_[v]) others[v] = 0;
        own[npu.index()] = 0;
        const std::vector<bool>& members = direction == Direction::Forwards ? has_ : wants_;
        Kind kind{members[npu.index()], {}, {}, {}};
        const SegmentPaths from_others = paths(others, direction);
        for (const LinkId link : ends(npu, direction)) {
            const auto [time, pace] = from_others.whole(link);
            if (time < kNever) kind.ports.push_back({time, instance_.busy(link, pace).count()});
        }
        std::ranges::sort(kind.ports);
        const Direction back = direction == Direction::Forwards ? Direction::Backwards : Direction::Forwards;
        const SegmentPaths to_others = paths(own, back);
        for (std::size_t v = 0; v < topology_.npus(); ++v) {
            if (others[v] != 0) continue;
            Wide least = kNever;
            for (const LinkId link : ends(NodeId(v), back))
                least = std::min(least, to_others.whole(link).first);
            if (least < kNever) ++(members[v] ? kind.members : kind.relays)[least];
        }
        return kind;
    }

    /// The most contributions that one NPU can have (backwards: NPUs that one can have told) so long after
    /// the beginning. Nothing is known where a switch adds (copies).
    Curve limits_of(Direction direction, Wide most) {
        if (direction == Direction::Forwards ? adds_ || !claim_.reductions : copies_) return {{0, most}};
        std::set<Kind> kinds;
        for (std::size_t v = 0; v < topology_.npus(); ++v)
            if (carriers_[v]) kinds.insert(kind_of(NodeId(v), direction));
        // What members can know, what relays can, and the larger of both.
        Curve member{{0, 1}}, relay{{0, 0}}, any{{0, 1}};
        // Times at which they may grow: a message after one has grown, and every gap from then on.
        std::set<std::pair<Wide, Wide>> times;
        const auto grown_at = [&](Wide time) {
            for (const Kind& kind : kinds) {
                for (const Port& port : kind.ports) times.emplace(time + port.message, port.gap);
                for (const auto* others : {&kind.members, &kind.relays})
                    for (const auto& [message, count] : *others) times.emplace(time + message, 0);
            }
        };
        grown_at(0);
        while (!times.empty() && any.rbegin()->second < most && work_ <= kMostWork) {
            const auto [time, gap] = *times.begin();
            times.erase(times.begin());
            if (gap > 0) times.emplace(time + gap, gap);
            bool has_grown = false;
            for (const Kind& kind : kinds) {
                const Wide own = kind.member ? 1 : 0;
                const Wide sent_to_it = sent(member, kind.members, time) + sent(relay, kind.relays, time);
                const Wide count = own + std::min(arrived(any, kind, time), sent_to_it);
                Curve& curve = kind.member ? member : relay;
                if (count <= curve.rbegin()->second) continue;
                curve[time] = std::min(count, most);
                has_grown = true;
            }
            any[time] = std::max(member.rbegin()->second, relay.rbegin()->second);
            if (has_grown) grown_at(time);
        }
        return any;
    }

    /// By what can have come over the links: a start every gap, back from the last, each with what the curve
    /// has grown to by then.
    Wide arrived(const Curve& curve, const Kind& kind, Wide time) {
        Wide sum = 0;
        for (const Port& port : kind.ports) {
            const Wide last = time - port.message;
            Wide before = 0;
            for (auto step = curve.begin(); step != curve.end() && step->first <= last; ++step, ++work_) {
                const Wide starts = (last - std::max(step->first, Wide{0})) / port.gap + 1;
                sum += starts * (step->second - before);
                before = step->second;
            }
        }
        return sum;
    }

    /// By what each of the others knew when its last message started.
    Wide sent(const Curve& curve, const std::map<Wide, Wide>& senders, Wide time) {
        Wide sum = 0;
        for (const auto& [message, count] : senders) {
            sum += count * at(curve, time - message);
            ++work_;
        }
        return sum;
    }

    /// How many of the marked nodes are how far from the node (forwards) or to it.
    [[nodiscard]] Curve within(NodeId node, Direction direction, const std::vector<bool>& marked) const {
        std::set<CollectiveId> seen;
        std::vector<Wide> least(topology_.nodes(), kNever);
        for (const CollectiveId collective : collectives_) {
            if (!seen.insert(representative(instance_, collective)).second) continue;
            std::vector<Wide> start(topology_.nodes(), kNever);
            start[node.index()] = 0;
            const auto times = shortest_paths(
                instance_, representative(instance_, collective), direction, start, [this](LinkId link) {
                    const Wide alpha = instance_.alpha(link).count();
                    const bool passes = topology_.is_cut_through(topology_.link(link).dst);
                    return passes ? alpha : alpha + topology_.beta(link, claim_.bytes).count();
                });
            for (std::size_t v = 0; v < times.size(); ++v) least[v] = std::min(least[v], times[v]);
        }
        std::map<Wide, Wide> at_time;
        for (std::size_t v = 0; v < marked.size(); ++v)
            if (marked[v] && least[v] < kNever) ++at_time[least[v]];
        Wide sum = 0;
        for (auto& [time, count] : at_time) count = sum += count;
        return at_time;
    }

    const Curve& known(std::map<NodeId, Curve>& curves, NodeId node, Direction direction,
                       const std::vector<bool>& marked) const {
        const auto [place, unseen] = curves.try_emplace(node);
        if (unseen) place->second = within(node, direction, marked);
        return place->second;
    }

    /// Links that are alike join equally many.
    Wide joined_over(LinkId id, const Curve& collected, const Curve& told, Wide end) {
        const Link& link = topology_.link(id);
        const Wide beta = topology_.beta(id, claim_.bytes).count(), alpha = instance_.alpha(id).count();
        Wide before = kNever, after = kNever;
        Ticks pace = Ticks::max();
        for (const auto& there : from_npus_->before(id)) {
            for (const auto& here : to_npus_->before(id)) {
                if (there.pace != here.pace) continue;
                before = std::min(before, there.price);
                after = std::min(after, here.price + alpha);
                pace = std::min(pace, there.pace);
            }
        }
        if (pace == Ticks::max()) return 0;
        const Wide busy = instance_.busy(id, pace).count();
        const Curve& holders = known(near_, link.src, Direction::Backwards, holders_);
        const Curve& receivers = known(far_, link.dst, Direction::Forwards, receivers_);
        const auto [alike, is_new] = joined_by_links_.try_emplace(
            {holders, receivers, before, after, alpha, beta, busy, topology_.is_cut_through(link.dst)});
        if (!is_new) return alike->second;
        const Wide step = topology_.is_cut_through(link.dst) ? alpha : alpha + beta;
        const auto first = [&](Wide start) {
            const Wide time = start - release_;
            const Wide reached = std::min(at(holders, time), most_holders_);
            return claim_.reductions ? std::min(reached, at(collected, time - before)) : reached;
        };
        const auto second = [&](Wide rest) {
            if (rest < alpha + beta) return Wide{0};
            return std::min({at(receivers, rest - step), at(told, rest - after), most_receivers_});
        };
        std::set<Wide> starts;
        const auto follow = [&](Wide start) {
            for (; start <= end && second(end - start) > 0 && work_ <= kMostWork; start += busy, work_ += 16)
                if (!starts.insert(start).second) break;
        };
        for (const auto& [time, count] : holders) follow(release_ + time);
        for (const auto& [time, count] : collected) follow(release_ + before + time);
        Curve best;
        Wide most = 0;
        for (const Wide start : starts) {
            most = std::max(most, at(best, start - busy) + first(start) * second(end - start));
            best[start] = most;
        }
        return alike->second = most;
    }

    const Instance& instance_;
    const Topology& topology_;
    const PairsCertificate& claim_;
    std::vector<bool> inside_, holders_, receivers_;  ///< per node
    std::vector<bool> has_, wants_;                   ///< per node: holds, receives any of the chunks
    bool adds_ = false, copies_ = false;
    Wide pairs_ = 0, most_holders_ = 0, most_receivers_ = 0, release_ = kNever;
    std::set<CollectiveId> collectives_;
    std::vector<bool> carriers_;
    std::optional<SegmentPaths> from_npus_, to_npus_;
    std::map<NodeId, Curve> near_, far_;
    using LinkKind = std::tuple<Curve, Curve, Wide, Wide, Wide, Wide, Wide, bool>;
    std::map<LinkKind, Wide> joined_by_links_;
    std::size_t work_ = 0;
};

}  // namespace

Objection check_pairs(const Instance& instance, const PairsCertificate& pairs, Ticks value) {
    expects(value > Ticks(0));
    for (const NodeId node : pairs.inside) {
        if (node.index() >= instance.topology().nodes())
            return fmt::format("there is no node {}", node.value());
    }
    return PairsCheck(instance, pairs)(value);
}

}  // namespace tutti::verify
