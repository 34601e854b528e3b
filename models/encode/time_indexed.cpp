// One Boolean per commodity, hop and start. The parts, in the order of models/README.md: spreads (T1…T5),
// flows (T6), sums (encode/sum), links (T7), buffers (T8), passages of switches (T9), chunks that can stand
// for each other (T10), links that are pressed for time (T11, encode/pressed).
//
// With a quotient only representatives have variables; what another commodity does on a link is what its
// representative does on the link's image, so a link's row gathers the literals of all commodities through
// their maps, and only one link of each orbit needs a row.

#include "models/encode/time_indexed.hpp"

#include "models/encode/link_rows.hpp"
#include "models/encode/pressed.hpp"
#include "models/encode/sum.hpp"

#include "core/rng.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

namespace tutti::models {
namespace {

/// Up to so many hops that pass a switch at one time are compared pair by pair.
constexpr std::size_t kFewPassing = 24;

/// Copies that a switch holds of one commodity, by own time.
struct Held {
    std::size_t commodity;
    std::vector<Var> at;  ///< after time t
    Units64 first;        ///< time of at[0]; before it nothing is held
};

class TimeIndexed {
  public:
    TimeIndexed(const Routing& routing, const Quotient& quotient, const Asked& asked)
        : routing_(routing),
          quotient_(quotient),
          asked_(asked),
          kept_(std::make_shared<Kept>(routing.commodities().size())) {}

    Question make() {
        Question question;
        if (!write()) {
            question.too_large = too_large_;
            question.stopped = !too_large_;
            return question;
        }
        question.refutes =
            quotient_.order == 1 && routing_.incomplete().empty() && asked_.stays.empty() && !asked_.pressed;
        question.program = std::move(program_);
        question.read = [kept = kept_, quotient = quotient_,
                         routing = &routing_](std::span<const std::int64_t> values) {
            return transfers(*routing, quotient, *kept, values);
        };
        return question;
    }

  private:
    /// All parts, in order. False: stopped on the way.
    bool write() {
        for (std::size_t c = 0; c < routing_.commodities().size() && may_continue(); ++c) {
            if (quotient_.representative[c] == c && is_free(c)) add_commodity(c);
        }
        if (!may_continue()) return false;
        if (asked_.pressed) press(program_, routing_, quotient_, *kept_, asked_.ways);
        add_order();
        for (std::size_t c = 0; c < routing_.commodities().size() && may_continue(); ++c) add_passages(c);
        if (!may_continue()) return false;
        add_links();
        add_buffers();
        if (!may_continue()) return false;
        add_hint();
        add_guide();
        return true;
    }

    /// Once the stop is requested, everything ends at its next poll.
    [[nodiscard]] bool may_continue() {
        stopped_ = stopped_ || asked_.stop.requested();
        too_large_ = too_large_ || program_.size() > asked_.most_size;
        return !stopped_ && !too_large_;
    }

    /// A hop that passes a switch.
    struct Passing {
        LinkId in, out;
        Literal literal;
    };

    /// What reading a solution needs: the literals of each representative.
    using Kept = std::vector<std::optional<SumStarts>>;

    static std::vector<Transfer> transfers(const Routing& routing, const Quotient& quotient, const Kept& kept,
                                           std::span<const std::int64_t> values) {
        std::vector<Transfer> result;
        for (std::size_t c = 0; c < routing.commodities().size(); ++c) {
            if (!kept[quotient.representative[c]]) continue;
            const SumStarts& starts = *kept[quotient.representative[c]];
            const std::size_t hops = routing.network_of(routing.commodities()[c]).hops.size();
            for (const Op op : {Op::Copy, Op::Reduce}) {
                if (op == Op::Reduce && routing.commodities()[c].moves != Moves::Sum) continue;
                const Starts& of = op == Op::Copy ? starts.copy : starts.reduce;
                for (std::uint32_t own = 0; own < hops; ++own) {
                    const std::uint32_t h = quotient.hop(c, own);
                    const Starts::Range& range = of.range(h);
                    for (Units64 t = range.first; t <= range.last; ++t) {
                        if (values[of.at(h, t)->var.index] != 0) result.push_back({c, own, t, op});
                    }
                }
            }
        }
        return result;
    }

    [[nodiscard]] bool is_free(std::size_t c) const { return asked_.stays.empty() || !asked_.stays[c]; }
    [[nodiscard]] const Commodity& commodity(std::size_t c) const { return routing_.commodities()[c]; }
    [[nodiscard]] Units64 deadline(const Commodity& c) const { return asked_.horizon - c.spare; }
    [[nodiscard]] std::string name_of(const Commodity& c) const {
        return c.moves == Moves::Flow ? fmt::format("chunk{}.{}{}", c.chunks.front().value(),
                                                    routing_.network_of(c).backwards ? "into" : "from",
                                                    c.sources.front().value())
                                      : fmt::format("chunk{}", c.chunks.front().value());
    }

    void add_commodity(std::size_t c) {
        const Commodity& what = commodity(c);
        const Network& network = routing_.network_of(what);
        const Units64 end = deadline(what);
        Windows windows = windows_of(routing_, what, asked_.horizon);
        const std::string name = name_of(what);
        // A target that cannot be reached in time: an empty clause says so.
        for (const NodeId target : what.targets) {
            const Units64 first = windows.earliest[target.index()];
            if (first == Windows::kNever || first > end ||
                (what.moves == Moves::Spread && first > windows.latest[target.index()]))
                program_.choice(Promise::AtLeastOne, {});
        }
        if (end < 0) {
            windows.latest.assign(windows.latest.size(), Windows::kNever);
        }
        if (what.moves == Moves::Sum) {
            // Any node's value may pass on, also a receiver's; only the end limits it.
            for (Units64& latest : windows.latest) latest = asked_.horizon;
            Starts copy(program_, network, windows, end, "copy." + name);
            Starts reduce(program_, network, windows, end, "add." + name);
            (*kept_)[c] = SumStarts{std::move(copy), std::move(reduce)};
            add_sum(program_, routing_, what, *(*kept_)[c], asked_, name);
            return;
        }
        Starts starts(program_, network, windows, end, name);
        (*kept_)[c] = SumStarts{starts, starts};
        if (end < 0) return;
        for (std::size_t n = 0; n < network.rule.size() && may_continue(); ++n) {
            const NodeId node(n);
            if (network.in[n].empty() && network.out[n].empty()) continue;
            const Traffic traffic(network, starts, node, end);
            if (what.moves == Moves::Flow) {
                add_store(c, node, traffic, std::ranges::count(what.targets, node),
                          node == what.sources.front());
            } else if (network.rule[n] == StopRule::Keeps) {
                add_keeper(c, node, traffic, windows);
            } else if (network.rule[n] == StopRule::Passes) {
                add_store(c, node, traffic, 0, false);
            } else {
                add_repeater(c, node, traffic);
            }
        }
    }

    /// T1…T4: an NPU, or a switch like one: gets the chunk once at most, has it from then on, sends only what
    /// it has.
    void add_keeper(std::size_t c, NodeId node, const Traffic& traffic, const Windows& windows) {
        const Commodity& what = commodity(c);
        std::vector<Literal> all;
        for (const auto& now : traffic.arrivals) all.insert(all.end(), now.begin(), now.end());
        if (std::ranges::binary_search(what.sources, node)) {
            for (const Literal arrival : all) program_.fix(!arrival);
            return;
        }
        const bool is_target = std::ranges::binary_search(what.targets, node);
        if (all.empty()) {
            if (is_target) program_.choice(Promise::AtLeastOne, {});
            for (const auto& now : traffic.departures) {
                for (const Literal departure : now) program_.fix(!departure);
            }
            return;
        }
        program_.choice(is_target ? Promise::ExactlyOne : Promise::AtMostOne, all);
        const Units64 first = windows.earliest[node.index()], last = windows.latest[node.index()];
        // A hop with several ends may be of use by another one only; then a smaller hop does. Backwards such
        // an end would be a send of nothing.
        for (Units64 t = last + 1; t <= deadline(what); ++t) {
            for (const Literal arrival : traffic.arrivals[static_cast<std::size_t>(t)])
                program_.fix(!arrival);
        }
        std::optional<Literal> before;
        std::vector<Literal>& chain = has_[{c, node}];
        std::vector<Literal> onward;
        for (Units64 t = first; t <= last; ++t) {
            const Literal has = program_.boolean(fmt::format("{}.at{}.t{}", name_of(what), node.value(), t));
            chain.push_back(has);
            std::vector<Literal> why{!has};
            for (const Literal arrival : traffic.arrivals[static_cast<std::size_t>(t)]) {
                program_.implies(arrival, has);
                why.push_back(arrival);
            }
            if (before) {
                program_.implies(*before, has);
                why.push_back(*before);
            }
            program_.choice(Promise::AtLeastOne, why);
            for (const Literal departure : traffic.departures[static_cast<std::size_t>(t)]) {
                program_.implies(departure, has);
                onward.push_back(departure);
            }
            before = has;
        }
        if (!before) return;
        if (is_target) {
            program_.fix(*before);
        } else {  // a relay that gets it sends it on
            onward.push_back(!*before);
            program_.choice(Promise::AtLeastOne, onward);
        }
    }

    /// T5, T6: what comes and goes is counted: a switch that does not copy, and every node of a flow.
    void add_store(std::size_t c, NodeId node, const Traffic& traffic, std::int64_t stays, bool is_source) {
        const Commodity& what = commodity(c);
        const auto units = static_cast<std::int64_t>(what.targets.size());
        const auto limit = limit_of(node);
        std::optional<Var> before;
        Units64 last_event = -1;
        for (Units64 t = 0; t <= deadline(what); ++t) {
            const auto i = static_cast<std::size_t>(t);
            if (!traffic.arrivals[i].empty() || !traffic.departures[i].empty()) last_event = t;
        }
        if (last_event < 0) {
            if (stays > 0 && !is_source) program_.choice(Promise::AtLeastOne, {});
            return;
        }
        Held held{c, {}, 0};
        for (Units64 t = 0; t <= last_event; ++t) {
            const auto& in = traffic.arrivals[static_cast<std::size_t>(t)];
            const auto& out = traffic.departures[static_cast<std::size_t>(t)];
            if (in.empty() && out.empty() && (!limit || !before)) continue;
            const bool is_last = t == last_event;
            const std::int64_t left = is_last ? stays : 0;
            const Var now = program_.integer(left, is_last ? stays : units,
                                             fmt::format("{}.in{}.t{}", name_of(what), node.value(), t));
            std::map<Var, std::int64_t> sum{{now, 1}};
            for (const Literal arrival : in) sum[arrival.var] -= 1;
            for (const Literal departure : out) sum[departure.var] += 1;
            std::int64_t born = 0;
            if (before) {
                sum[*before] -= 1;
            } else if (is_source) {
                born = units;
            }
            std::vector<Term> terms;
            for (const auto& [var, coefficient] : sum) {
                if (coefficient != 0) terms.push_back({var, coefficient});
            }
            program_.row(terms, born, born);
            if (limit) {
                if (held.at.empty()) held.first = t;
                held.at.push_back(now);
            }
            before = now;
        }
        if (limit) held_[node].push_back(std::move(held));
    }

    /// T8: a copying switch with a limited buffer: may send while it keeps a copy, and keeps it no longer
    /// than that.
    void add_repeater(std::size_t c, NodeId node, const Traffic& traffic) {
        const Commodity& what = commodity(c);
        std::optional<Literal> before;
        Held held{c, {}, 0};
        for (Units64 t = 0; t <= deadline(what); ++t) {
            const auto& in = traffic.arrivals[static_cast<std::size_t>(t)];
            if (!before && in.empty()) {
                for (const Literal d : traffic.departures[static_cast<std::size_t>(t)]) program_.fix(!d);
                continue;
            }
            const Literal keeps =
                program_.boolean(fmt::format("{}.in{}.t{}", name_of(what), node.value(), t));
            std::vector<Literal> why(in.begin(), in.end());
            if (before) why.push_back(*before);
            for (const Literal d : traffic.departures[static_cast<std::size_t>(t)]) {
                why.push_back(!d);
                program_.choice(Promise::AtLeastOne, why);
                why.pop_back();
            }
            // One copy at a time, and none for nothing: backwards that would be a send of nothing.
            if (why.size() > 1) program_.choice(Promise::AtMostOne, why);
            for (const Literal got : why) {
                std::vector<Literal> then(traffic.departures[static_cast<std::size_t>(t)]);
                then.push_back(keeps);
                then.push_back(!got);
                program_.choice(Promise::AtLeastOne, then);
            }
            why.push_back(!keeps);
            program_.choice(Promise::AtLeastOne, why);
            if (held.at.empty()) held.first = t;
            held.at.push_back(keeps.var);
            before = keeps;
        }
        if (before) program_.fix(!*before);
        held_[node].push_back(std::move(held));
    }

    [[nodiscard]] std::optional<std::uint32_t> limit_of(NodeId node) const {
        const Topology& topology = routing_.instance().topology();
        return topology.is_npu(node) ? std::nullopt : topology.rule(node).buffer;
    }

    /// T9: two hops of one chunk that pass a switch at the same time. Units of a flow are different chunks:
    /// they pass side by side as they like. With a quotient every commodity is looked at, because link
    /// numbers are not symmetric.
    void add_passages(std::size_t c) {
        if (!is_free(c) || commodity(c).moves == Moves::Flow || deadline(commodity(c)) < 0) return;
        const Network& network = routing_.network_of(commodity(c));
        const SumStarts& kept = *(*kept_)[quotient_.representative[c]];
        std::map<std::pair<NodeId, Units64>, std::vector<Passing>> passing;
        for (const Op op : {Op::Copy, Op::Reduce}) {
            if (op == Op::Reduce && commodity(c).moves != Moves::Sum) continue;
            const Starts& starts = op == Op::Copy ? kept.copy : kept.reduce;
            for (std::uint32_t own = 0; own < network.hops.size(); ++own) {
                const std::uint32_t h = quotient_.hop(c, own);
                const Starts::Range& range = starts.range(h);
                for (Units64 t = range.first; t <= range.last; ++t) {
                    for (const Network::Passage& p : network.passages[own]) {
                        passing[{p.node, t + p.due}].push_back({p.in, p.out, *starts.at(h, t)});
                    }
                }
            }
        }
        for (auto& [where, hops] : passing) {
            if (network.exclusive[where.first.index()]) {
                std::vector<Literal> literals;
                for (const Passing& p : hops) literals.push_back(p.literal);
                std::ranges::sort(literals);
                literals.erase(std::unique(literals.begin(), literals.end()), literals.end());
                if (literals.size() > 1) program_.choice(Promise::AtMostOne, literals);
            } else if (network.order_matters && hops.size() <= kFewPassing) {
                forbid_crossing_pairs(hops);
            } else if (network.order_matters) {
                forbid_crossings(hops, fmt::format("{}.through{}.t{}", name_of(commodity(c)),
                                                   where.first.value(), where.second));
            }
            if (!may_continue()) return;
        }
    }

    void forbid_crossing_pairs(const std::vector<Passing>& hops) {
        for (std::size_t i = 0; i < hops.size(); ++i) {
            for (std::size_t j = i + 1; j < hops.size(); ++j) {
                const Passing &a = hops[i], &b = hops[j];
                if (a.literal == b.literal || a.in == b.in || a.out == b.out) continue;
                if ((a.in < b.in) != (a.out < b.out)) program_.clause({!a.literal, !b.literal});
            }
        }
    }

    /// The same for many hops, whose pairs would be too many: 16 NPUs at a crossbar have 240 hops, and 57 000
    /// pairs of copies and sums at each tick. `beyond[i][o]`: one of the first i + 1 links in goes on by a
    /// link out beyond the o-th. Then no later link in goes on by the o-th or one before it.
    void forbid_crossings(const std::vector<Passing>& hops, const std::string& name) {
        std::vector<LinkId> ins, outs;
        for (const Passing& p : hops) {
            ins.push_back(p.in);
            outs.push_back(p.out);
        }
        for (auto* links : {&ins, &outs}) {
            std::ranges::sort(*links);
            links->erase(std::unique(links->begin(), links->end()), links->end());
        }
        std::vector<std::vector<Literal>> beyond(ins.size());
        for (std::size_t i = 0; i < ins.size(); ++i) {
            for (std::size_t o = 0; o + 1 < outs.size(); ++o) {
                beyond[i].push_back(
                    program_.boolean(fmt::format("{}.in{}.beyond{}", name, ins[i].value(), outs[o].value())));
                if (i > 0) program_.implies(beyond[i - 1][o], beyond[i][o]);
                if (o > 0) program_.implies(beyond[i][o], beyond[i][o - 1]);
            }
        }
        const auto place = [](const std::vector<LinkId>& links, LinkId link) {
            return static_cast<std::size_t>(std::ranges::lower_bound(links, link) - links.begin());
        };
        for (const Passing& p : hops) {
            const std::size_t i = place(ins, p.in), o = place(outs, p.out);
            if (o > 0) program_.implies(p.literal, beyond[i][o - 1]);
            if (i > 0 && o + 1 < outs.size()) program_.implies(p.literal, !beyond[i - 1][o]);
        }
    }

    /// T10: chunks alike in everything arrive at one target in the order of their numbers. Sums: they first
    /// use the slowest link in that order.
    void add_order() {
        const auto alike = [&](const Commodity& a, const Commodity& b) {
            return a.moves != Moves::Flow && a.moves == b.moves && a.network == b.network &&
                   a.sources == b.sources && a.targets == b.targets && a.ready == b.ready &&
                   a.spare == b.spare && a.late == b.late;
        };
        std::optional<std::size_t> last;
        std::vector<Literal> used;  // of the last one
        for (std::size_t c = 0; c < routing_.commodities().size(); ++c) {
            if (quotient_.representative[c] != c || !is_free(c)) continue;
            const bool ordered = last && alike(commodity(*last), commodity(c));
            if (commodity(c).moves == Moves::Sum) {
                std::vector<Literal> own = uses_of_slowest(c);
                for (std::size_t t = 0; ordered && t < std::min(used.size(), own.size()); ++t) {
                    program_.implies(own[t], used[t]);
                }
                used = std::move(own);
            } else if (ordered) {
                // The farthest target, whose arrivals are the fewest.
                const NodeId target = commodity(c).targets.back();
                const auto &first = has_[{*last, target}], &second = has_[{c, target}];
                for (std::size_t t = 0; t < std::min(first.size(), second.size()); ++t) {
                    program_.implies(second[t], first[t]);
                }
            }
            last = c;
        }
    }

    /// Whether a sum has used the slowest link up to each time. None if all links are equally fast: then an
    /// order on one of them takes as long as none. (An all-reduce on a ring of 8 with one slow link is
    /// refuted after 200 conflicts instead of 18 000.)
    std::vector<Literal> uses_of_slowest(std::size_t c) {
        const Network& network = routing_.network_of(commodity(c));
        std::optional<Leg> slowest, fastest;
        for (const Hop& hop : network.hops) {
            for (const Leg& leg : hop.legs) {
                if (!slowest || leg.busy > slowest->busy) slowest = leg;
                if (!fastest || leg.busy < fastest->busy) fastest = leg;
            }
        }
        if (quotient_.order > 1 || !slowest || slowest->busy == fastest->busy) return {};
        std::vector<std::vector<Literal>> starts(static_cast<std::size_t>(asked_.horizon) + 1);
        for (std::uint32_t h = 0; h < network.hops.size(); ++h) {
            const auto& legs = network.hops[h].legs;
            const auto leg = std::ranges::find(legs, slowest->link, &Leg::link);
            if (leg == legs.end()) continue;
            for (const Starts* of : {&(*kept_)[c]->copy, &(*kept_)[c]->reduce}) {
                for (Units64 t = of->range(h).first; t <= of->range(h).last; ++t)
                    starts[static_cast<std::size_t>(t + leg->offset)].push_back(*of->at(h, t));
            }
        }
        std::vector<Literal> used;
        for (std::size_t t = 0; t < starts.size(); ++t) {
            const Literal now = program_.boolean(
                fmt::format("{}.used{}.t{}", name_of(commodity(c)), slowest->link.value(), t));
            std::vector<Literal> why = starts[t];
            if (t > 0) why.push_back(used.back());
            for (const Literal literal : why) program_.implies(literal, now);
            why.push_back(!now);
            program_.choice(Promise::AtLeastOne, why);
            used.push_back(now);
        }
        return used;
    }

    /// When the link is in use, in actual time.
    [[nodiscard]] Units64 begin_of(const Network& network, const Leg& leg, Units64 start) const {
        return network.backwards ? asked_.horizon - start - leg.offset - leg.busy : start + leg.offset;
    }

    /// T7: a link carries one transfer at a time.
    void add_links() {
        std::vector<std::vector<LinkUse>> uses(routing_.instance().topology().links().size());
        for (std::size_t c = 0; c < routing_.commodities().size(); ++c) {
            if (!is_free(c)) continue;
            const Network& network = routing_.network_of(commodity(c));
            const SumStarts& starts = *(*kept_)[quotient_.representative[c]];
            for (std::uint32_t own = 0; own < network.hops.size(); ++own) {
                const std::uint32_t h = quotient_.hop(c, own);
                for (const Leg& leg : network.hops[own].legs) {
                    if (!quotient_.counts[leg.link.index()]) continue;
                    for (const Op op : {Op::Copy, Op::Reduce}) {
                        if (op == Op::Reduce && commodity(c).moves != Moves::Sum) continue;
                        const Starts& of = op == Op::Copy ? starts.copy : starts.reduce;
                        const Starts::Range& range = of.range(h);
                        for (Units64 t = range.first; t <= range.last; ++t) {
                            const Units64 begin = begin_of(network, leg, t);
                            uses[leg.link.index()].push_back({begin, begin + leg.busy, *of.at(h, t)});
                        }
                    }
                }
            }
        }
        for (const Transfer& transfer : asked_.standing) {
            const Network& network = routing_.network_of(commodity(transfer.commodity));
            for (const Leg& leg : network.hops[transfer.hop].legs) {
                const Units64 begin = begin_of(network, leg, transfer.start), end = begin + leg.busy;
                for (const LinkUse& use : uses[leg.link.index()]) {
                    if (use.begin < end && begin < use.end) program_.fix(!use.literal);
                }
            }
        }
        for (std::vector<LinkUse>& link : uses) {
            if (!may_continue()) return;
            add_link_rows(program_, std::move(link), [this] { return may_continue(); });
        }
    }

    /// T8: a switch holds at most so many copies after each tick.
    void add_buffers() {
        for (const auto& [node, all] : held_) {
            if (!may_continue()) return;
            const auto room = static_cast<std::int64_t>(*limit_of(node));
            for (Units64 tick = 0; tick < asked_.horizon; ++tick) {
                std::vector<Term> terms;
                for (const Held& held : all) {
                    const bool backwards = routing_.network_of(commodity(held.commodity)).backwards;
                    const Units64 own = backwards ? asked_.horizon - 1 - tick : tick;
                    if (own < held.first || held.at.empty()) continue;
                    const auto i = static_cast<std::size_t>(own - held.first);
                    if (i < held.at.size()) terms.push_back({held.at[i], 1});
                }
                if (!terms.empty()) program_.row(terms, kMinusInfinity, room);
            }
        }
    }

    void add_hint() {
        for (const Transfer& transfer : asked_.hint) {
            const std::size_t c = transfer.commodity;
            if (quotient_.representative[c] != c || !is_free(c)) continue;
            const SumStarts& starts = *(*kept_)[c];
            const Starts& of =
                commodity(c).moves == Moves::Sum && transfer.op == Op::Reduce ? starts.reduce : starts.copy;
            if (const auto literal = of.at(transfer.hop, transfer.start)) program_.hint(*literal, true);
        }
    }

    /// Flows start early, and among equals some rather than others: their linear programs then end near
    /// integers (ten times quicker with HiGHS). Spreads are the slower for it.
    void add_guide() {
        std::vector<Term> terms;
        Rng rng(static_cast<std::uint64_t>(std::max<Units64>(asked_.horizon, 0)));
        for (std::size_t c = 0; c < kept_->size(); ++c) {
            if (!(*kept_)[c] || commodity(c).moves != Moves::Flow) continue;
            (*kept_)[c]->copy.each([&](std::uint32_t, Units64 start, Literal literal) {
                terms.push_back({literal.var, 10 * (start + 1) + static_cast<std::int64_t>(rng.below(10))});
            });
        }
        program_.guide(terms);
    }

    const Routing& routing_;
    const Quotient& quotient_;
    const Asked asked_;
    Program program_;
    std::shared_ptr<Kept> kept_;
    std::map<std::pair<std::size_t, NodeId>, std::vector<Literal>> has_;  ///< per commodity and node, by time
    std::map<NodeId, std::vector<Held>> held_;
    bool stopped_ = false;
    bool too_large_ = false;
};

}  // namespace

Question time_indexed(const Routing& routing, const Quotient& quotient, const Asked& asked) {
    return TimeIndexed(routing, quotient, asked).make();
}

std::size_t time_indexed_starts(const Routing& routing, const Quotient& quotient, Units64 horizon) {
    std::size_t starts = 0;
    for (std::size_t c = 0; c < routing.commodities().size(); ++c) {
        if (quotient.representative[c] != c) continue;
        const Commodity& commodity = routing.commodities()[c];
        const Windows windows = windows_of(routing, commodity, horizon);
        const std::size_t factor = commodity.moves == Moves::Sum ? 2 + commodity.sources.size() : 1;
        for (const Hop& hop : routing.network_of(commodity).hops) {
            const auto [first, last] = windows.starts(hop, horizon - commodity.spare);
            if (first <= last) starts += factor * static_cast<std::size_t>(last - first + 1);
        }
    }
    return starts;
}

}  // namespace tutti::models
