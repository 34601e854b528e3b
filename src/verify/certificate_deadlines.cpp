// Deadlines: what a source starts so late that it cannot be at its sink before the last ticks arrives in
// them, and apart from all others, because to be added to another (backwards: to be copied from one) takes a
// detour that is too long. So the sinks must have room for all that their sources cannot start earlier.

#include "core/expects.hpp"
#include "verify/certificate_checks.hpp"
#include "verify/certificate_segments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace tutti::verify {
namespace {

class DeadlinesCheck {
  public:
    DeadlinesCheck(const Instance& instance, const DeadlinesCertificate& claim)
        : instance_(instance), topology_(instance.topology()), claim_(claim) {}

    Objection operator()(Ticks value) {
        if (claim_.window <= Ticks(0)) return "the last ticks must be one or more";
        for (const Need& need : needs_of(instance_)) {
            const Demand demand = instance_.demand(need.chunk);
            if (demand.bytes >= claim_.bytes && counts(demand)) count(need, demand);
        }
        if (sources_.empty()) return "no chunk counts";
        if (detour_ < claim_.window.count()) {
            return fmt::format("two may have met within the last {} ticks: a detour takes {}",
                               claim_.window.count(), text_of(detour_));
        }
        Wide room = 0, late = 0;
        for (const auto& [sink, number] : sinks_) {
            const auto links = claim_.backwards ? topology_.out_links(sink) : topology_.in_links(sink);
            room += std::min(number, starts(links, Wide{claim_.window.count()} - 1));
        }
        const Wide horizon = Wide{value.count()} - 1 - release_;
        for (const auto& [source, sinks] : sources_) {
            const auto least = least_late(source, sinks, horizon);
            if (!least) return std::nullopt;  // not even all of its own can be in time
            late += *least;
        }
        if (late > room) return std::nullopt;
        return fmt::format("by {} the last {} ticks have room for {}, and only {} must be in them",
                           value.count() - 1, claim_.window.count(), text_of(room), text_of(late));
    }

  private:
    using Deadlines = std::map<Wide, Wide>;  ///< how many there are at a tick

    [[nodiscard]] bool counts(const Demand& demand) const {
        const auto &holders = demand.holders, &receivers = demand.receivers;
        const bool one_each = holders.size() == 1 && receivers.size() == 1;
        const bool has_sink = claim_.backwards ? !demand.reduction && holders.size() == 1
                                               : receivers.size() == 1 && (demand.reduction || one_each);
        if (!has_sink || one_each) return has_sink;
        return std::ranges::none_of(topology_.parts().switches, [&](const SwitchRule& rule) {
            return claim_.backwards ? rule.copy : rule.reduce;
        });
    }

    void count(const Need& need, const Demand& demand) {
        const NodeId sink = claim_.backwards ? demand.holders.front() : demand.receivers.front();
        const auto& ends = claim_.backwards ? demand.receivers : demand.holders;
        std::vector<NodeId> sources;
        for (const NodeId node : ends) {
            if (node != sink) sources.push_back(node);
        }
        // Forwards from the source, backwards from the sink.
        std::vector<const std::vector<Wide>*> times;
        std::vector<Wide> direct;
        for (const NodeId source : sources) {
            times.push_back(&times_from(demand.collective, claim_.backwards ? sink : source));
            direct.push_back((*times.back())[(claim_.backwards ? source : sink).index()]);
            sources_[source][direct.back()] += need.count;
            sinks_[sink] += need.count;
        }
        release_ = std::min(release_, Wide{instance_.release(need.chunk).count()});
        if (sources.size() < 2) return;
        for (std::size_t n = 0; n < topology_.npus(); ++n) {
            const NodeId meet(n);
            if (meet == sink || !instance_.may_carry(meet, demand.collective)) continue;
            const auto& from_meet = times_from(demand.collective, meet);
            Wide least = kNever, second = kNever;
            for (std::size_t i = 0; i < sources.size(); ++i) {
                const Wide around =
                    claim_.backwards ? (*times[i])[meet.index()] + from_meet[sources[i].index()] - direct[i]
                                     : (*times[i])[meet.index()] + from_meet[sink.index()] - direct[i];
                second = std::min(second, std::max(least, around));
                least = std::min(least, around);
            }
            detour_ = std::min(detour_, second);
        }
    }

    /// By NPU.
    const std::vector<Wide>& times_from(CollectiveId collective, NodeId from) {
        const CollectiveId like = representative(instance_, collective);
        auto known = times_.find({like, from});
        if (known == times_.end()) {
            std::vector<Wide> start(topology_.nodes(), kNever);
            start[from.index()] = 0;
            const SegmentPaths paths(
                instance_, claim_.bytes, Direction::Forwards, start,
                [&](NodeId node) { return instance_.may_carry(node, collective); },
                times_of_segments(instance_));
            std::vector<Wide> times;
            for (std::size_t n = 0; n < topology_.npus(); ++n) times.push_back(paths.at(NodeId(n)));
            known = times_.emplace(std::pair{like, from}, std::move(times)).first;
        }
        return known->second;
    }

    [[nodiscard]] Wide starts(std::span<const LinkId> links, Wide until) const {
        Wide all = 0;
        for (const LinkId link : links)
            all += until < 0 ? Wide{0} : until / busy(instance_, link, claim_.bytes).count() + 1;
        return all;
    }

    /// Whether starts at different times can meet all deadlines.
    [[nodiscard]] bool are_met(std::span<const LinkId> links, const Deadlines& deadlines) const {
        Wide before = 0;
        return std::ranges::all_of(deadlines, [&](const auto& some) {
            before += some.second;
            return before <= starts(links, some.first);
        });
    }

    /// Of a source with so many sinks at each distance; none if it cannot reach all by the horizon. As many
    /// as possible are early, the farthest first.
    [[nodiscard]] std::optional<Wide> least_late(NodeId source, const std::map<Wide, Wide>& sinks,
                                                 Wide horizon) const {
        const auto links = claim_.backwards ? topology_.in_links(source) : topology_.out_links(source);
        Deadlines deadlines;
        for (const auto& [distance, number] : sinks) deadlines[horizon - distance] += number;
        if (!are_met(links, deadlines)) return std::nullopt;
        Wide late = 0;
        for (auto sink = sinks.rbegin(); sink != sinks.rend(); ++sink) {
            const Wide last = horizon - sink->first, earlier = last - claim_.window.count();
            Wide early = 0, most = sink->second;
            while (early < most) {
                const Wide tried = (early + most + 1) / 2;
                Deadlines moved = deadlines;
                moved[last] -= tried;
                moved[earlier] += tried;
                if (are_met(links, moved)) {
                    early = tried;
                } else {
                    most = tried - 1;
                }
            }
            deadlines[last] -= early;
            deadlines[earlier] += early;
            late += sink->second - early;
        }
        return late;
    }

    const Instance& instance_;
    const Topology& topology_;
    const DeadlinesCertificate& claim_;
    std::map<std::pair<CollectiveId, NodeId>, std::vector<Wide>> times_;
    std::map<NodeId, std::map<Wide, Wide>> sources_;  ///< per distance: how many sinks
    std::map<NodeId, Wide> sinks_;
    Wide detour_ = kNever, release_ = kNever;
};

}  // namespace

Objection check_deadlines(const Instance& instance, const DeadlinesCertificate& deadlines, Ticks value) {
    expects(value > Ticks(0));
    return DeadlinesCheck(instance, deadlines)(value);
}

}  // namespace tutti::verify
