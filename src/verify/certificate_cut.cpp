// A cut: chunks that must enter a set of nodes, each at least once, over the links into it. For each chunk
// fix a receiver inside. On the chunk's path from a holder to it, some transfer crosses into the set. Its
// earliest and latest start are known, and each such transfer keeps its link busy.

#include "core/expects.hpp"
#include "verify/certificate_checks.hpp"
#include "verify/certificate_paths.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::verify {
namespace {

class CutCheck {
  public:
    CutCheck(const Instance& instance, const CutCertificate& cut)
        : instance_(instance),
          topology_(instance.topology()),
          cut_(cut),
          inside_(topology_.nodes(), cut.complement) {
        for (const NodeId node : cut.inside) inside_[node.index()] = !cut.complement;
    }

    Objection operator()(Ticks value) const {
        std::vector<Trip> counted;
        std::uint64_t transfers = 0;
        const auto needs = needs_of(instance_);
        for (const auto& [kind, members] : by_kind(instance_, needs)) {
            if (kind.second < cut_.bytes) continue;
            const Times times = times_of(needs, members);
            Ends ends;
            for (const std::size_t i : members) {
                const auto trip = counted_trip(needs[i], times, ends);
                if (!trip) continue;
                counted.push_back(*trip);
                transfers += needs[i].count;
            }
        }
        if (transfers < cut_.transfers) {
            return fmt::format("only {} chunks must enter the set as late as that, not {}", transfers,
                               cut_.transfers);
        }
        const Wide possible = transfers_by(value - Ticks(1), counted);
        if (possible >= Wide{cut_.transfers}) {
            return fmt::format("by tick {} the links into the set manage {} transfers, and {} are needed",
                               value.count() - 1, text_of(possible), cut_.transfers);
        }
        return std::nullopt;
    }

  private:
    /// For chunks of one collective and size, per node.
    struct Times {
        std::vector<Wide> before;  ///< from there to an arrival over a link into the set
        std::vector<Wide> after;   ///< from a start on a link into the set to there, and to its own arrival
    };

    /// Cached times between a holder set and a receiver set, which chunks of one collective usually share.
    struct Ends {
        std::span<const NodeId> holders, from, receivers, to;
        bool reduction = false;
        /// Below 0: there is none. `before` counts from tick 0, not from the release.
        Wide before = -1, after = -1;
    };

    bool crosses(LinkId id) const {
        const Link& link = topology_.link(id);
        return !inside_[link.src.index()] && inside_[link.dst.index()];
    }
    bool is_inside(NodeId node) const { return inside_[node.index()]; }

    Times times_of(const std::vector<Need>& needs, const std::vector<std::size_t>& members) const {
        const ChunkId chunk = needs[members.front()].chunk;
        const CollectiveId collective = instance_.demand(chunk).collective;
        const auto time = [&](LinkId link) { return Wide{transit(instance_, link, chunk).count()}; };
        std::vector<LinkId> entering;
        std::vector<Wide> before(topology_.nodes(), kNever), after(topology_.nodes(), kNever);
        bool through = false;
        for (std::size_t e = 0; e < topology_.links().size(); ++e) {
            if (!crosses(LinkId(e)) || !may_use(instance_, LinkId(e), collective)) continue;
            const Link& link = topology_.link(LinkId(e));
            entering.emplace_back(e);
            through = through || topology_.is_cut_through(link.dst);
            const Wide all = arrival(instance_, LinkId(e), chunk).count();
            before[link.src.index()] = std::min(before[link.src.index()], all);
            after[link.dst.index()] = std::min(after[link.dst.index()], time(LinkId(e)));
        }
        before = shortest_paths(instance_, collective, Direction::Backwards, std::move(before), time);
        if (through) {
            after = after_each_alone(needs, members, entering);
        } else {
            after = shortest_paths(instance_, collective, Direction::Forwards, std::move(after), time);
        }
        return {std::move(before), std::move(after)};
    }

    /// Times::after where a transfer may pass a switch before it has arrived there. Which entering link is
    /// best then depends on the chunk's receiver, so each receiver is computed separately.
    std::vector<Wide> after_each_alone(const std::vector<Need>& needs,
                                       const std::vector<std::size_t>& members,
                                       const std::vector<LinkId>& entering) const {
        const ChunkId chunk = needs[members.front()].chunk;
        const auto time = [&](LinkId link) { return Wide{transit(instance_, link, chunk).count()}; };
        std::vector<bool> wanted(topology_.nodes(), false);
        for (const std::size_t i : members) {
            for (const NodeId node : instance_.demand(needs[i].chunk).receivers)
                wanted[node.index()] = is_inside(node);
        }
        std::vector<Wide> after(topology_.nodes(), kNever);
        for (std::size_t v = 0; v < wanted.size(); ++v) {
            if (!wanted[v]) continue;
            std::vector<Wide> at(topology_.nodes(), kNever);
            at[v] = 0;
            const auto price = shortest_paths(instance_, instance_.demand(chunk).collective,
                                              Direction::Backwards, std::move(at), time);
            for (const LinkId link : entering) {
                const Wide rest = time(link) + price[topology_.link(link).dst.index()];
                after[v] = std::min(after[v], std::max(rest, Wide{arrival(instance_, link, chunk).count()}));
            }
        }
        return after;
    }

    /// The trip into the set that each chunk of the need must make; none if it need not, or not with as much
    /// time before or after as is claimed. Any contribution of a reduction and any receiver may be chosen:
    /// the farthest is, the first of equal ones.
    std::optional<Trip> counted_trip(const Need& need, const Times& times, Ends& ends) const {
        const Demand demand = instance_.demand(need.chunk);
        if (ends.holders.data() != demand.holders.data() || ends.reduction != demand.reduction) {
            look_at_holders(demand, times, ends);
        }
        if (ends.receivers.data() != demand.receivers.data()) look_at_receivers(demand, times, ends);
        const Trip trip{need.chunk, ends.from, ends.to};
        const Wide before = ends.before, after = ends.after;
        if (before < 0 || after < 0) return {};
        const Wide claimed = cut_.earliest.count();
        const bool late = cut_.backwards ? after >= claimed : before >= claimed;
        return late ? std::optional(trip) : std::nullopt;
    }

    void look_at_holders(const Demand& demand, const Times& times, Ends& ends) const {
        ends.holders = ends.from = demand.holders;
        ends.reduction = demand.reduction;
        ends.before = demand.reduction ? -1 : kNever;
        for (std::size_t h = 0; h < demand.holders.size(); ++h) {
            const Wide time = times.before[demand.holders[h].index()] +
                              instance_.release_of(demand.collective, demand.holders[h]).count();
            if (is_inside(demand.holders[h])) {
                if (demand.reduction) continue;
                ends.before = -1;  // it is there already
                return;
            }
            if (!demand.reduction) {
                ends.before = std::min(ends.before, time);
            } else if (time > ends.before) {
                ends.before = time;
                ends.from = demand.holders.subspan(h, 1);
            }
        }
    }

    void look_at_receivers(const Demand& demand, const Times& times, Ends& ends) const {
        ends.receivers = demand.receivers;
        ends.after = -1;
        for (std::size_t r = 0; r < demand.receivers.size(); ++r) {
            const Wide time = times.after[demand.receivers[r].index()];
            if (!is_inside(demand.receivers[r]) || time <= ends.after) continue;
            ends.after = time;
            ends.to = demand.receivers.subspan(r, 1);
        }
    }

    Wide transfers_by(Ticks makespan, const std::vector<Trip>& counted) const {
        auto uses = uses_of_links(instance_, counted, cut_.bytes);
        Bytes largest = cut_.bytes;
        for (const Trip& trip : counted) largest = std::max(largest, instance_.demand(trip.chunk).bytes);
        Wide possible = 0;
        for (std::size_t e = 0; e < uses.size(); ++e) {
            if (!crosses(LinkId(e))) continue;
            LinkUse& use = uses[e];
            const Wide claimed = cut_.earliest.count();
            if (cut_.backwards) {
                use.last = std::max(use.last, claimed);
            } else {
                // It arrives no earlier than claimed; it started at most the largest chunk's transit before.
                const Ticks longest = instance_.alpha(LinkId(e)) + topology_.beta(LinkId(e), largest);
                use.first = std::max(use.first, claimed - longest.count());
            }
            possible += use.transfers_by(makespan.count());
        }
        return possible;
    }

    const Instance& instance_;
    const Topology& topology_;
    const CutCertificate& cut_;
    std::vector<bool> inside_;
};

}  // namespace

Objection check_cut(const Instance& instance, const CutCertificate& cut, Ticks value) {
    expects(value > Ticks(0));
    for (const NodeId node : cut.inside) {
        if (node.index() >= instance.topology().nodes())
            return fmt::format("there is no node {}", node.value());
    }
    if (cut.earliest < Ticks(0)) return "the earliest tick is negative";
    return CutCheck(instance, cut)(value);
}

}  // namespace tutti::verify
