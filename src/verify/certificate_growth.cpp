// Growth: chunks that one NPU alone has come into other parts of the network only by messages from parts that
// have received something before. The simulation below is the fastest that the numbers of messages allow:
// every arrival informs somebody new, who sends at once and without pause on as many ports as anybody has, as
// fast as anybody can. So at no time can more messages have arrived than in it. Nested, a message into a part
// informs its NPUs one after the other, as an inner simulation says. Backwards the same is about sums that
// one NPU alone wants, in time left to the end: ports receive instead of sending.
//
// With prices every start is for one message, inside its part or to another. Three inequalities hold at every
// time (docs/bounds.md); multiplied with the prices and added up, they say how many messages there can be.

#include "core/expects.hpp"
#include "verify/certificate_checks.hpp"
#include "verify/certificate_segments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <queue>
#include <set>

namespace tutti::verify {
namespace {

/// The least time of a message, and how far apart messages start on each port, the fastest port first.
struct Rates {
    Wide message = kNever;
    std::vector<Wide> gaps;
};

/// As fast as either, port by port.
void raise(Rates& rates, Rates other) {
    std::ranges::sort(other.gaps);
    rates.message = std::min(rates.message, other.message);
    rates.gaps.resize(std::max(rates.gaps.size(), other.gaps.size()), kNever);
    for (std::size_t i = 0; i < other.gaps.size(); ++i)
        rates.gaps[i] = std::min(rates.gaps[i], other.gaps[i]);
}

/// How many starts there are in the first `time` ticks, the first at 0.
Wide starts(const Rates& rates, Wide time) {
    Wide sum = 0;
    for (const Wide gap : rates.gaps) sum += time < 0 ? Wide{0} : time / gap + 1;
    return sum;
}

class Spread {
  public:
    /// `after`: how long after an entry somebody is informed, one time for each.
    Spread(Rates rates, std::vector<Wide> after, std::size_t everybody)
        : rates_(std::move(rates)), after_(std::move(after)) {
        constexpr Wide kInforms = 0;  // in place of a port's gap
        using Event = std::pair<Wide, Wide>;
        std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
        for (const Wide time : after_) events.emplace(time, kInforms);
        while (!events.empty() && times_.size() < everybody) {
            const auto [time, gap] = events.top();
            events.pop();
            if (gap == kInforms) {
                times_.push_back(time);
                if (rates_.message >= kNever) continue;
                for (const Wide each : rates_.gaps) events.emplace(time + rates_.message, each);
            } else {
                events.emplace(time + gap, gap);
                for (const Wide later : after_) events.emplace(time + later, kInforms);
            }
        }
    }

    [[nodiscard]] const std::vector<Wide>& times() const { return times_; }

    [[nodiscard]] Wide entries_by(Wide end) const {
        if (rates_.message >= kNever) return 0;
        Wide sum = 0;
        for (const Wide time : times_) sum += starts(rates_, end - rates_.message - time);
        return sum;
    }
    [[nodiscard]] Wide served_by(Wide end) const {
        Wide sum = 0;
        for (const Wide later : after_) sum += entries_by(end - later);
        return sum;
    }

  private:
    Rates rates_;
    std::vector<Wide> after_;
    std::vector<Wide> times_;  ///< when the first, the second, … is informed
};

class GrowthCheck {
  public:
    GrowthCheck(const Instance& instance, const GrowthCertificate& growth)
        : instance_(instance), topology_(instance.topology()), growth_(growth) {}

    Objection operator()(Ticks value) {
        if (!growth_.prices.empty() && (!growth_.nested || growth_.unit <= Ticks(0)))
            return "prices need parts that are informed NPU by NPU, and a unit of time";
        count();
        carriers_ = carriers(instance_, collectives_);
        if (chunks_ == 0) return "there is no such chunk of the root";
        for (std::size_t v = 0; v < topology_.npus(); ++v) {
            if (carries(NodeId(v))) members_[growth_.part[v]].emplace_back(v);
        }
        measure();
        const Wide end = value.count() - 1 - release_;
        const bool possible = !growth_.prices.empty() ? payable(end)
                              : growth_.last_chunk    ? last_chunk_possible(end)
                                                      : all_possible(end);
        if (possible) return fmt::format("by tick {} it may have grown far enough", value.count() - 1);
        return std::nullopt;
    }

  private:
    [[nodiscard]] bool carries(NodeId node) const { return carriers_[node.index()]; }
    [[nodiscard]] std::uint32_t home() const { return growth_.part[growth_.root.index()]; }

    void count() {
        std::set<std::uint32_t> wanting;
        for (const Need& need : needs_of(instance_)) {
            const Demand demand = instance_.demand(need.chunk);
            const auto here = growth_.backwards ? demand.receivers : demand.holders;
            const auto there = growth_.backwards ? demand.holders : demand.receivers;
            if (demand.reduction != growth_.backwards || demand.bytes < growth_.bytes) continue;
            if (here.size() != 1 || here.front() != growth_.root || there.size() < 2) continue;
            std::set<std::uint32_t> parts;
            Wide npus = 0;
            for (const NodeId node : there) {
                if (growth_.part[node.index()] == home()) continue;
                parts.insert(growth_.part[node.index()]);
                npus += 1;
            }
            const Wide each = growth_.nested ? npus : Wide{static_cast<std::int64_t>(parts.size())};
            const Wide others =
                std::ranges::count_if(there, [&](NodeId node) { return node != growth_.root; });
            others_ += others * need.count;
            least_others_ = std::min(least_others_, others);
            wanted_ += each * need.count;
            least_wanted_ = std::min(least_wanted_, each);
            wanting.insert(parts.begin(), parts.end());
            chunks_ += need.count;
            release_ = std::min(release_, Wide{instance_.release(need.chunk).count()});
            collectives_.insert(demand.collective);
        }
        wanting_parts_ = static_cast<std::int64_t>(wanting.size());
    }

    /// Messages from the NPUs `near` to the others `far`, or the other way round, at the ports of `near`.
    [[nodiscard]] Rates rates(const std::vector<NodeId>& near, const std::vector<NodeId>& far,
                              bool away) const {
        std::vector<Wide> start(topology_.nodes(), kNever);
        for (const NodeId node : far) start[node.index()] = 0;
        const SegmentPaths paths(
            instance_, growth_.bytes, away ? Direction::Backwards : Direction::Forwards, start,
            [this](NodeId node) { return topology_.is_switch(node) && carries(node); },
            times_of_segments(instance_));
        Rates found;
        for (const NodeId node : near) {
            for (const LinkId link : away ? topology_.out_links(node) : topology_.in_links(node)) {
                const auto [time, pace] = paths.whole(link);
                if (time >= kNever) continue;
                found.message = std::min(found.message, time);
                found.gaps.emplace_back(instance_.busy(link, pace).count());
            }
        }
        return found;
    }

    void measure() {
        const bool away = !growth_.backwards;
        std::vector<NodeId> all;
        for (const auto& [part, npus] : members_) all.insert(all.end(), npus.begin(), npus.end());
        for (const auto& [part, npus] : members_) {
            std::vector<NodeId> far;
            std::ranges::copy_if(all, std::back_inserter(far),
                                 [&, own = part](NodeId node) { return growth_.part[node.index()] != own; });
            if (!growth_.nested) {
                const Rates sending = rates(npus, far, away);
                if (part == home()) root_ = sending;
                raise(outer_, sending);
                raise(receiving_, rates(npus, far, !away));
                continue;
            }
            for (const NodeId node : npus) {
                raise(outer_, rates({node}, far, away));
                std::vector<NodeId> others;
                std::ranges::copy_if(npus, std::back_inserter(others), [&](NodeId o) { return o != node; });
                raise(inner_, rates({node}, others, away));
                if (node != growth_.root && growth_.prices.empty()) continue;
                others.insert(others.end(), far.begin(), far.end());
                const Rates to_all = rates({node}, others, away);
                raise(anybody_, to_all);
                if (node == growth_.root) root_ = to_all;
            }
        }
    }

    [[nodiscard]] Spread spread() const {
        std::size_t npus = 0, largest = 0;
        for (const auto& [part, members] : members_) {
            npus += members.size();
            largest = std::max(largest, members.size());
        }
        if (!growth_.nested) return {outer_, {0}, members_.size()};
        return {outer_, Spread(inner_, {0}, largest).times(), npus};
    }

    [[nodiscard]] bool all_possible(Wide end) const {
        const Spread growth = spread();
        if (growth.served_by(end) < wanted_) return false;
        if (growth_.nested) return true;
        // By any time only so much has come, and after it ports receive only so fast.
        for (const Wide since : growth.times()) {
            if (since > end) break;
            const Wide later = wanting_parts_ * starts(receiving_, end - since - 1);
            if (growth.entries_by(since) + later < wanted_) return false;
        }
        return true;
    }

    /// Each chunk leaves the root (or its part) first at a start of its own, so one of them after all starts
    /// that are possible before.
    [[nodiscard]] bool last_chunk_possible(Wide end) const {
        if (least_wanted_ == 0 || root_.gaps.empty()) return true;
        return spread().served_by(end - leaving(chunks_)) >= least_wanted_;
    }

    /// When the root can have started so many messages.
    [[nodiscard]] Wide leaving(Wide messages) const {
        Wide low = 0, high = 1;
        while (starts(root_, high) < messages) high *= 2;
        while (low < high) {
            const Wide middle = (low + high) / 2;
            if (starts(root_, middle) >= messages) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }

    /// With prices: whether the rows leave room for all messages that are wanted.
    [[nodiscard]] bool payable(Wide end) const {
        if (root_.gaps.empty() || inner_.message >= kNever || outer_.message >= kNever) return true;
        const Wide unit = growth_.unit.count(), wanted = growth_.last_chunk ? least_others_ : others_;
        const Wide chunks = growth_.last_chunk ? Wide{1} : chunks_;
        if (growth_.last_chunk) end -= leaving(chunks_);
        if (end < 0) return wanted == 0;
        const Wide last = end / unit, inner = inner_.message / unit, outer = outer_.message / unit;
        const Wide gap = *std::ranges::min_element(anybody_.gaps) / unit;
        const auto times = static_cast<Wide>(growth_.prices.size());
        if (gap < 1 || inner < 1 || outer < 1 || last >= times) return true;
        std::size_t npus = 0, largest = 0;
        for (const auto& [part, members] : members_) {
            npus += members.size();
            largest = std::max(largest, members.size());
        }
        const auto ports = static_cast<Wide>(anybody_.gaps.size());
        const std::vector<Wide> inside = Spread(inner_, {0}, largest).times();
        // What all rows leave: starts of the root, of everybody, and what the root's chunks bring inside.
        Wide room = 0;
        for (Wide t = 0; t <= last; ++t) {
            const auto& [some, all, within] = growth_.prices[static_cast<std::size_t>(t)];
            room += ports * some + ports * static_cast<Wide>(npus) * all;
            for (Wide chunk = 1; chunk <= chunks && leaving(chunk) / unit <= t; ++chunk)
                room += within * reached(inside, unit, t - leaving(chunk) / unit);
        }
        // What the cheapest message takes of them.
        Wide least = kNever;
        for (Wide start = 0; start + std::min(inner, outer) <= last; ++start) {
            for (const bool leaves : {false, true}) {
                const Wide arrival = start + (leaves ? outer : inner);
                if (arrival > last) continue;
                Wide pays = 0;
                for (Wide t = start; t <= last; ++t) {
                    const auto& [some, all, within] = growth_.prices[static_cast<std::size_t>(t)];
                    if (t < start + gap) pays += Wide{some} + Wide{all};
                    if (t >= arrival) pays -= ports * some;
                    if (t >= arrival && !leaves) pays += within;
                    if (t >= arrival && leaves) pays -= within * reached(inside, unit, t - arrival);
                }
                least = std::min(least, pays);
            }
        }
        return least <= 0 || least >= kNever || room >= least * wanted;
    }

    /// How many others of its part an NPU can have informed so many units after.
    static Wide reached(const std::vector<Wide>& inside, Wide unit, Wide after) {
        return std::ranges::count_if(inside, [&](Wide time) { return time / unit <= after; }) - 1;
    }

    const Instance& instance_;
    const Topology& topology_;
    const GrowthCertificate& growth_;
    Wide chunks_ = 0, wanted_ = 0, least_wanted_ = kNever, wanting_parts_ = 0, release_ = kNever;
    std::set<CollectiveId> collectives_;
    std::vector<bool> carriers_;  ///< per node: whether it may hold any of the chunks
    std::map<std::uint32_t, std::vector<NodeId>> members_;  ///< by part
    Rates outer_, inner_, receiving_, root_;
    Rates anybody_;                            ///< of an NPU to all others, with prices only
    Wide others_ = 0, least_others_ = kNever;  ///< pairs of a chunk and an NPU that is not the root
};

}  // namespace

Objection check_growth(const Instance& instance, const GrowthCertificate& growth, Ticks value) {
    expects(value > Ticks(0));
    const Topology& topology = instance.topology();
    if (growth.root.index() >= topology.npus()) return fmt::format("there is no NPU {}", growth.root.value());
    if (growth.part.size() != topology.npus()) return "every NPU needs a part";
    constexpr std::int64_t kDearest = std::int64_t{1} << 40;
    for (const auto& prices : growth.prices) {
        if (std::ranges::any_of(prices, [](std::int64_t price) { return price < 0 || price > kDearest; }))
            return "a price is negative or too large";
    }
    for (const SwitchRule& rule : topology.parts().switches) {
        if (rule.copy) return "a switch copies";
        if (growth.backwards && rule.reduce) return "a switch adds";
    }
    return GrowthCheck(instance, growth)(value);
}

}  // namespace tutti::verify
