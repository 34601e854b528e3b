// A reduction with several receivers where times are long: an all-reduce over a wide-area network, in
// picoseconds. The time-indexed encoding (sum.cpp) has a Boolean for each unit of time; here a hop has one
// for whether it is taken and an integer for when.
//
// What a hop carries is what has come to its source by then. So each pair of a hop into a node and one out of
// it has a literal: does the one arrive before the other starts? A copy replaces the value of the node; one
// copy at each node is enough for exchanges along trees (the whole sum comes last) and for relays that pass
// contributions in both directions (first the one, then the other). It divides the node's time in two epochs,
// and every arrival and start is in one of them.
//
// Each pair of chunk and hop is there once, which is no loss on most networks and keeps the program small.
// Three chunks between three sites that are 50 to 200 us apart: two go along trees, the third directly
// between all three sites, which no tree heuristic comes to. CP-SAT finds that in 0.5 to 10 s (without
// presolve; with it often not in 25), and in 0.1 to 0.5 s where the others keep their hops. What helped: hops
// that are not taken have nothing to choose, and J6. Hints did not.

#include "models/encode/sum_interval.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tutti::models {
namespace {

class SumIntervals {
  public:
    SumIntervals(Program& program, const Routing& routing, const Commodity& commodity, const Asked& asked,
                 std::string name)
        : program_(program),
          network_(routing.network_of(commodity)),
          commodity_(commodity),
          horizon_(asked.horizon),
          stop_(asked.stop),
          name_(std::move(name)) {
        for (const NodeId holder : commodity.sources) {
            Commodity alone = commodity;
            alone.sources = {holder};
            earliest_.push_back(windows_of(routing, alone, horizon_).earliest);
        }
    }

    std::vector<SumUse> add(std::vector<std::vector<Interval>>& uses) {
        arcs_.resize(network_.hops.size());
        for (std::uint32_t h = 0; h < network_.hops.size() && !stop_.requested(); ++h) add_hop(h, uses);
        nodes_.resize(network_.rule.size());
        for (std::size_t n = 0; n < nodes_.size() && !stop_.requested(); ++n) add_epochs(NodeId(n));
        for (std::size_t n = 0; n < nodes_.size() && !stop_.requested(); ++n) {
            for (const std::uint32_t h : network_.out[n]) {
                if (arcs_[h]) add_cargo(NodeId(n), h);
            }
            add_disjoint(NodeId(n));
            add_use(NodeId(n));
        }
        for (const NodeId receiver : commodity_.targets) add_demand(receiver);
        std::vector<SumUse> all;
        for (std::uint32_t h = 0; h < arcs_.size(); ++h) {
            if (arcs_[h]) all.push_back({h, arcs_[h]->used, arcs_[h]->copies, arcs_[h]->start});
        }
        return all;
    }

  private:
    struct Arc {
        Literal used, copies;
        Literal early, late;    ///< which epoch of its end it arrives in; a copy begins the second
        Literal first, second;  ///< which epoch of its source it starts in
        Var start;
        Units64 after;
        std::vector<std::optional<Literal>> cargo;  ///< by contribution
    };
    struct Node {
        Literal has_copy;
        Var copied;  ///< when the copy arrives; behind the horizon without one
    };

    [[nodiscard]] std::size_t contributions() const { return commodity_.sources.size(); }
    /// The contribution that the node itself holds.
    [[nodiscard]] std::optional<std::size_t> own(NodeId node) const {
        const auto found = std::ranges::lower_bound(commodity_.sources, node);
        if (found == commodity_.sources.end() || *found != node) return std::nullopt;
        return static_cast<std::size_t>(found - commodity_.sources.begin());
    }

    void add_hop(std::uint32_t h, std::vector<std::vector<Interval>>& uses) {
        const Hop& hop = network_.hops[h];
        const Units64 after = hop.ends.front().after, last = horizon_ - after;
        Units64 first = Windows::kNever;
        for (const auto& earliest : earliest_) {
            const Units64 there = earliest[hop.from.index()];
            if (there != Windows::kNever && (first == Windows::kNever || there < first)) first = there;
        }
        if (first == Windows::kNever) return;
        // Nothing leaves a holder before its own contribution is there.
        if (own(hop.from)) first = std::max(first, ready_at(commodity_, hop.from));
        if (first > last) return;
        const std::string name = fmt::format("{}.hop{}", name_, h);
        Arc arc{.used = program_.boolean(name),
                .copies = program_.boolean(name + ".copies"),
                .early = program_.boolean(name + ".early"),
                .late = program_.boolean(name + ".late"),
                .first = program_.boolean(name + ".first"),
                .second = program_.boolean(name + ".second"),
                .start = program_.integer(first, last, name + ".start"),
                .after = after,
                .cargo = {}};
        program_.implies(arc.copies, arc.used);
        program_.implies(arc.copies, arc.late);
        for (const auto& [a, b] : {std::pair(arc.early, arc.late), std::pair(arc.first, arc.second)})
            program_.choice(Promise::ExactlyOne, std::array{a, b, !arc.used});
        // What is not taken has nothing to choose.
        program_.row(std::vector<Term>{{arc.start, 1}}, kMinusInfinity, first, !arc.used);
        std::vector<Literal> something{!arc.used};
        for (std::size_t k = 0; k < contributions(); ++k) {  // J1
            const Units64 there = earliest_[k][hop.from.index()];
            if (there == Windows::kNever || there > last) {
                arc.cargo.emplace_back();
                continue;
            }
            const Literal cargo =
                program_.boolean(fmt::format("{}.of{}", name, commodity_.sources[k].value()));
            program_.implies(cargo, arc.used);
            something.push_back(cargo);
            arc.cargo.emplace_back(cargo);
        }
        program_.choice(Promise::AtLeastOne, something);
        for (const Leg& leg : hop.legs)
            uses[leg.link.index()].push_back({arc.start, leg.busy, arc.used, leg.offset});
        arcs_[h] = std::move(arc);
    }

    /// J2: the copy, if there is one, divides the node's time.
    void add_epochs(NodeId node) {
        const auto mine = own(node);
        const Units64 ready = mine ? ready_at(commodity_, node) : -1;
        const std::string name = fmt::format("{}.at{}", name_, node.value());
        Node& state = nodes_[node.index()];
        state.has_copy = program_.boolean(name + ".copied");
        state.copied = program_.integer(std::min(ready + 1, horizon_ + 1), horizon_ + 1, name + ".copied_at");
        program_.row(std::vector<Term>{{state.copied, 1}}, horizon_ + 1, kPlusInfinity, !state.has_copy);
        std::vector<Literal> copies{!state.has_copy};
        for (const std::uint32_t h : network_.in[node.index()]) {
            if (!arcs_[h]) continue;
            const Arc& arc = *arcs_[h];
            copies.push_back(arc.copies);
            program_.implies(arc.copies, state.has_copy);
            program_.implies(arc.late, state.has_copy);
            const std::vector<Term> since{{arc.start, 1}, {state.copied, -1}};
            program_.row(since, -arc.after, kPlusInfinity, arc.late);
            program_.row(since, kMinusInfinity, -arc.after, arc.copies);
            program_.row(since, kMinusInfinity, -arc.after - 1, arc.early);
        }
        program_.choice(Promise::AtLeastOne, copies);
        if (copies.size() > 2) program_.choice(Promise::AtMostOne, std::span(copies).subspan(1));
        // Another arrival at the tick of the copy is a race.
        for (const std::uint32_t h : network_.in[node.index()]) {
            if (!arcs_[h]) continue;
            const Arc& arc = *arcs_[h];
            const Literal adds_late = program_.boolean(fmt::format("{}.hop{}.adds_late", name_, h));
            program_.clause({adds_late, arc.copies, !arc.late});
            program_.implies(adds_late, arc.late);
            program_.implies(adds_late, !arc.copies);
            program_.row(std::vector<Term>{{arc.start, 1}, {state.copied, -1}}, 1 - arc.after, kPlusInfinity,
                         adds_late);
        }
        for (const std::uint32_t h : network_.out[node.index()]) {
            if (!arcs_[h]) continue;
            const Arc& arc = *arcs_[h];
            program_.implies(arc.second, state.has_copy);
            const std::vector<Term> since{{arc.start, 1}, {state.copied, -1}};
            program_.row(since, 0, kPlusInfinity, arc.second);
            program_.row(since, kMinusInfinity, -1, arc.first);
        }
    }

    /// J3: a hop carries what has come to its source in the epoch in which it starts, and only that.
    void add_cargo(NodeId node, std::uint32_t h) {
        const Arc& out = *arcs_[h];
        const auto mine = own(node);
        std::vector<std::vector<Literal>> from(contributions());
        for (const std::uint32_t b : network_.in[node.index()]) {
            if (!arcs_[b]) continue;
            const Arc& in = *arcs_[b];
            const std::string name = fmt::format("{}.hop{}.before{}", name_, b, h);
            const Literal before = program_.boolean(name);
            const std::vector<Term> gap{{out.start, 1}, {in.start, -1}};
            program_.row(gap, in.after, kPlusInfinity, before);
            program_.row(gap, kMinusInfinity, in.after - 1, !before);
            const Literal counts = program_.boolean(name + ".counts");
            program_.implies(counts, before);
            program_.implies(counts, in.used);
            program_.clause({!counts, in.late, !out.second});
            program_.clause({!counts, !in.late, out.second});
            program_.clause({counts, !before, !in.used, in.late, out.second});
            program_.clause({counts, !before, !in.used, !in.late, !out.second});
            for (std::size_t k = 0; k < contributions(); ++k) {
                if (!in.cargo[k]) continue;
                if (!out.cargo[k]) {
                    program_.clause({!out.used, !counts, !*in.cargo[k]});
                    continue;
                }
                program_.clause({*out.cargo[k], !out.used, !counts, !*in.cargo[k]});
                const Literal brought =
                    program_.boolean(fmt::format("{}.of{}", name, commodity_.sources[k].value()));
                program_.implies(brought, counts);
                program_.implies(brought, *in.cargo[k]);
                from[k].push_back(brought);
            }
        }
        for (std::size_t k = 0; k < contributions(); ++k) {
            if (!out.cargo[k]) continue;
            from[k].push_back(!*out.cargo[k]);
            if (mine == k) {
                from[k].push_back(!out.second);
                program_.clause({*out.cargo[k], !out.used, out.second});
            }
            program_.choice(Promise::AtLeastOne, from[k]);
        }
    }

    /// J4: no contribution comes twice in one epoch, or to its holder in the first.
    void add_disjoint(NodeId node) {
        const auto mine = own(node);
        const auto& in = network_.in[node.index()];
        for (std::size_t i = 0; i < in.size(); ++i) {
            if (!arcs_[in[i]]) continue;
            const Arc& a = *arcs_[in[i]];
            if (mine && a.cargo[*mine]) program_.clause({!*a.cargo[*mine], a.late});
            for (std::size_t j = 0; j < i; ++j) {
                if (!arcs_[in[j]]) continue;
                const Arc& b = *arcs_[in[j]];
                for (std::size_t k = 0; k < contributions(); ++k) {
                    if (!a.cargo[k] || !b.cargo[k]) continue;
                    program_.clause({!*a.cargo[k], !*b.cargo[k], a.late, b.late});
                    program_.clause({!*a.cargo[k], !*b.cargo[k], !a.late, !b.late});
                }
            }
        }
    }

    /// J6: a relay sends on, a holder sends, a receiver gets something.
    void add_use(NodeId node) {
        std::vector<Literal> in, out;
        for (const std::uint32_t h : network_.in[node.index()]) {
            if (arcs_[h]) in.push_back(arcs_[h]->used);
        }
        for (const std::uint32_t h : network_.out[node.index()]) {
            if (arcs_[h]) out.push_back(arcs_[h]->used);
        }
        const bool receives = std::ranges::find(commodity_.targets, node) != commodity_.targets.end();
        const bool others = commodity_.targets.size() > (receives ? 1U : 0U);
        if (own(node)) {
            if (others) program_.choice(Promise::AtLeastOne, out);
        } else {
            for (const auto& [some, why] : {std::pair(&out, &in), std::pair(&in, &out)}) {
                if (some == &in && receives) continue;
                for (const Literal literal : *some) {
                    std::vector<Literal> clause(*why);
                    clause.push_back(!literal);
                    program_.choice(Promise::AtLeastOne, clause);
                }
            }
        }
        if (receives && contributions() > (own(node) ? 1U : 0U)) program_.choice(Promise::AtLeastOne, in);
    }

    /// J5: a receiver has every contribution in its last epoch.
    void add_demand(NodeId node) {
        const auto mine = own(node);
        const Node& state = nodes_[node.index()];
        for (std::size_t k = 0; k < contributions(); ++k) {
            std::vector<Literal> why;
            if (mine == k) why.push_back(!state.has_copy);
            for (const std::uint32_t h : network_.in[node.index()]) {
                if (!arcs_[h] || !arcs_[h]->cargo[k]) continue;
                const Arc& arc = *arcs_[h];
                const Literal lasts = program_.boolean(
                    fmt::format("{}.hop{}.lasts{}", name_, h, commodity_.sources[k].value()));
                program_.implies(lasts, *arc.cargo[k]);
                program_.clause({!lasts, arc.late, !state.has_copy});
                why.push_back(lasts);
            }
            program_.choice(Promise::AtLeastOne, why);
        }
    }

    Program& program_;
    const Network& network_;
    const Commodity& commodity_;
    const Units64 horizon_;
    const Stop& stop_;
    const std::string name_;
    std::vector<std::vector<Units64>> earliest_;  ///< by contribution and node
    std::vector<std::optional<Arc>> arcs_;        ///< by hop; none: it cannot be of use
    std::vector<Node> nodes_;
};

}  // namespace

std::size_t sum_interval_size(const Network& network, const Commodity& commodity) {
    std::size_t pairs = 0;
    for (std::size_t n = 0; n < network.rule.size(); ++n)
        pairs += network.in[n].size() * network.out[n].size();
    return pairs * (2 + commodity.sources.size());
}

std::vector<SumUse> add_sum_intervals(Program& program, const Routing& routing, const Commodity& commodity,
                                      const Asked& asked, const std::string& name,
                                      std::vector<std::vector<Interval>>& uses) {
    return SumIntervals(program, routing, commodity, asked, name).add(uses);
}

}  // namespace tutti::models
