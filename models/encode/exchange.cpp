// Reductions with several receivers, where the sums of all nodes but two are sent once and come once. Two
// nodes, the centres of a chunk, exchange what they have; all other contributions have come to one of the two
// before, along a forest, and the whole sum leaves both along another. (2n - 2 messages are the fewest for n
// nodes: src/bounds/trees.cpp.) A root at which everything is summed up before anything returns is a case of
// it: it answers its last contributor. They exchange over one of the slowest hops (E7): what crosses between
// nodes or sites should do so whole.
//
// So nobody has to track which contribution is where (encode/sum.cpp does, and is larger by a factor of the
// contributors): whatever is sent inwards ends in the centres, if each node sends after all that came to it.
// That is a spread backwards in time from the centres, and the way back is one forwards.
//
// Two DGX-1 with eight leaders, two chunks each, over four NICs: 404 sends, found in 8 to 14 s with a
// quotient of 4 (betas of 1, 2 and 4) and presolve; with encode/sum nothing was found in 60 s. Implications
// in both directions (E4, E5) and a literal for each pair of centres were needed for that, and E7.

#include "models/encode/exchange.hpp"

#include "models/encode/link_rows.hpp"
#include "models/encode/starts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tutti::models {
namespace {

/// A literal for each time in a range.
struct Chain {
    Units64 first = 0, last = -1;
    std::uint32_t var = 0;
    [[nodiscard]] std::optional<Literal> at(Units64 time) const {
        if (time < first || time > last) return std::nullopt;
        return Literal{{var + static_cast<std::uint32_t>(time - first)}, false};
    }
};

/// The literals of a representative's transfers.
struct Parts {
    Starts inward, exchanged, outward;
};

/// Least times between nodes.
class Distances {
  public:
    Distances(const Routing& routing, const Commodity& commodity) {
        const Network& network = routing.network_of(commodity);
        for (std::size_t n = 0; n < network.rule.size(); ++n) {
            Commodity alone = commodity;
            alone.sources = {NodeId(n)};
            alone.ready = 0;
            alone.late.clear();
            from_.push_back(windows_of(routing, alone, 0).earliest);
        }
    }
    /// kNever if there is no way.
    [[nodiscard]] Units64 of(NodeId from, std::size_t to) const { return from_[from.index()][to]; }
    [[nodiscard]] Units64 of(std::size_t from, NodeId to) const { return from_[from][to.index()]; }

  private:
    std::vector<std::vector<Units64>> from_;
};

/// The constraints of one commodity.
class Exchange {
  public:
    /// Of the hops only the known ones are taken, if there are any.
    Exchange(Program& program, const Routing& routing, const Commodity& commodity, Units64 horizon,
             std::set<std::uint32_t> known, std::string name)
        : program_(program),
          network_(routing.network_of(commodity)),
          commodity_(commodity),
          horizon_(horizon),
          known_(std::move(known)),
          name_(std::move(name)) {
        const Distances distances(routing, commodity);
        for (std::size_t n = 0; n < network_.rule.size(); ++n) {
            Units64 whole = 0, useful = horizon;
            for (const NodeId holder : commodity.sources)
                whole = std::max(whole, after(ready_at(commodity, holder), distances.of(holder, n)));
            for (const NodeId target : commodity.targets)
                useful = std::min(useful, horizon - after(0, distances.of(n, target)));
            whole_.push_back(whole);
            useful_.push_back(useful);
        }
    }

    Parts add() {
        Parts parts = starts();
        for (std::size_t n = 0; n < network_.rule.size(); ++n) {
            const NodeId node(n);
            waits_.push_back(chain("waits", node, 0, useful_[n]));
            whole_at_.push_back(chain("whole", node, whole_[n], horizon_));
            told_.push_back(chain("told", node, whole_[n], horizon_));
        }
        add_centres(parts);
        for (std::size_t n = 0; n < network_.rule.size(); ++n) {
            add_counts(NodeId(n), parts);
            add_inward(NodeId(n), parts);
            add_outward(NodeId(n), parts);
        }
        add_passages(parts);
        return parts;
    }

  private:
    [[nodiscard]] Units64 after(Units64 time, Units64 way) const {
        return way == Windows::kNever ? 2 * horizon_ + 1 : time + way;
    }

    [[nodiscard]] Parts starts() {
        Windows inward{std::vector<Units64>(whole_.size(), commodity_.ready), useful_};
        Windows exchanged{inward.earliest, std::vector<Units64>(whole_.size(), horizon_)};
        const auto takes = [](const Hop& hop) { return hop.ends.front().after; };
        Units64 slowest = 0;
        for (const Hop& hop : network_.hops) slowest = std::max(slowest, takes(hop));
        Windows outward{whole_, exchanged.latest};
        const auto is_known = [&](const Hop& hop) {
            return known_.empty() || known_.contains(static_cast<std::uint32_t>(&hop - network_.hops.data()));
        };
        const auto is_slowest = [&](const Hop& hop) { return takes(hop) == slowest && is_known(hop); };
        return {Starts(program_, network_, inward, horizon_, "in." + name_, is_known),
                Starts(program_, network_, exchanged, horizon_, "exchange." + name_, is_slowest),
                Starts(program_, network_, outward, horizon_, "out." + name_, is_known)};
    }

    Chain chain(const char* what, NodeId node, Units64 first, Units64 last) {
        Chain chain{first, last, static_cast<std::uint32_t>(program_.vars())};
        for (Units64 t = first; t <= last; ++t)
            program_.boolean(fmt::format("{}.{}.at{}.t{}", name_, what, node.value(), t));
        return chain;
    }

    template <class Visit>
    void each(const std::vector<std::uint32_t>& hops, const Starts& starts, Visit visit) const {
        for (const std::uint32_t h : hops) {
            const Starts::Range& range = starts.range(h);
            for (Units64 t = range.first; t <= range.last; ++t) visit(h, t, *starts.at(h, t));
        }
    }
    [[nodiscard]] std::vector<Literal> all(const std::vector<std::uint32_t>& hops,
                                           const Starts& starts) const {
        std::vector<Literal> literals;
        each(hops, starts, [&](std::uint32_t, Units64, Literal literal) { literals.push_back(literal); });
        return literals;
    }
    [[nodiscard]] Units64 arrival(std::uint32_t hop, Units64 start) const {
        return start + network_.hops[hop].ends.front().after;
    }

    /// E1: two nodes are the centres, and each sends one message to the other.
    void add_centres(const Parts& parts) {
        std::map<std::pair<NodeId, NodeId>, std::vector<Literal>> between;
        parts.exchanged.each([&](std::uint32_t h, Units64, Literal literal) {
            const Hop& hop = network_.hops[h];
            between[{hop.from, hop.ends.front().node}].push_back(literal);
        });
        std::vector<Literal> pairs;
        for (auto& [ends, there] : between) {
            const auto back = between.find({ends.second, ends.first});
            if (back == between.end()) {
                for (const Literal literal : there) program_.fix(!literal);
            } else if (ends.first < ends.second) {
                const Literal pair = program_.boolean(
                    fmt::format("{}.centres{}_{}", name_, ends.first.value(), ends.second.value()));
                pairs.push_back(pair);
                for (auto* messages : {&there, &back->second}) {
                    messages->push_back(!pair);
                    program_.choice(Promise::ExactlyOne, *messages);
                }
            }
        }
        choose(pairs, true);
    }

    /// E2, E3: who sends, and to whom is sent.
    void add_counts(NodeId node, const Parts& parts) {
        const auto &out = network_.out[node.index()], &in = network_.in[node.index()];
        std::vector<Literal> sends = all(out, parts.inward), comes = all(in, parts.outward);
        const std::vector<Literal> asks = all(out, parts.exchanged), answers = all(in, parts.exchanged);
        sends.insert(sends.end(), asks.begin(), asks.end());
        comes.insert(comes.end(), answers.begin(), answers.end());
        const bool is_holder = std::ranges::binary_search(commodity_.sources, node);
        const bool is_target = std::ranges::binary_search(commodity_.targets, node);
        choose(sends, is_holder);
        choose(comes, is_target);
        if (is_holder) {
            for (const std::uint32_t h : out) {
                for (Units64 t = 0; t < ready_at(commodity_, node); ++t) {
                    for (const Starts* of : {&parts.inward, &parts.exchanged}) {
                        if (const auto early = of->at(h, t)) program_.fix(!*early);
                    }
                }
            }
            return;
        }
        std::vector<Literal> something = all(in, parts.inward);
        something.push_back({});
        for (const Literal send : sends) {
            something.back() = !send;
            program_.choice(Promise::AtLeastOne, something);
        }
    }

    void choose(const std::vector<Literal>& literals, bool must) {
        if (must && literals.empty()) program_.choice(Promise::AtLeastOne, {});
        if (!literals.empty()) program_.choice(must ? Promise::ExactlyOne : Promise::AtMostOne, literals);
    }

    /// E4: a node sends its sum after all that came to it. "waits" says that it sends then or later.
    void add_inward(NodeId node, const Parts& parts) {
        const auto& waits = waits_[node.index()];
        std::vector<std::vector<Literal>> now(static_cast<std::size_t>(std::max<Units64>(horizon_, 0)) + 1);
        for (const Starts* of : {&parts.inward, &parts.exchanged}) {
            each(network_.out[node.index()], *of, [&](std::uint32_t, Units64 t, Literal literal) {
                now[static_cast<std::size_t>(t)].push_back(literal);
            });
        }
        for (Units64 t = waits.first; t <= waits.last; ++t) {
            std::vector<Literal> why = now[static_cast<std::size_t>(t)];
            why.push_back(!*waits.at(t));
            if (const auto later = waits.at(t + 1)) {
                why.push_back(*later);
                program_.implies(*later, *waits.at(t));
            }
            program_.choice(Promise::AtLeastOne, why);
            for (const Literal literal : now[static_cast<std::size_t>(t)]) {
                program_.implies(literal, *waits.at(t));
                if (const auto later = waits.at(t + 1)) program_.implies(literal, !*later);
            }
        }
        if (std::ranges::binary_search(commodity_.sources, node) && waits.last >= 0)
            program_.fix(*waits.at(0));
        each(network_.in[node.index()], parts.inward, [&](std::uint32_t h, Units64 t, Literal literal) {
            const auto in_time = waits.at(arrival(h, t));
            if (in_time) {
                program_.implies(literal, *in_time);
            } else {
                program_.fix(!literal);
            }
        });
    }

    /// Whether one of these has been true by a time; only if that is so.
    Chain since(const char* what, NodeId node, const std::vector<std::vector<Literal>>& now) {
        const Chain by = chain(what, node, 0, horizon_);
        for (Units64 t = 0; t <= horizon_; ++t) {
            std::vector<Literal> why = now[static_cast<std::size_t>(t)];
            why.push_back(!*by.at(t));
            if (const auto before = by.at(t - 1)) why.push_back(*before);
            program_.choice(Promise::AtLeastOne, why);
        }
        return by;
    }

    /// E5: who passes the whole sum on has got it, or is a centre that has sent and been told. (Its own sum
    /// was complete when it sent.)
    void add_outward(NodeId node, const Parts& parts) {
        const auto &whole = whole_at_[node.index()], &told = told_[node.index()];
        std::vector<std::vector<Literal>> arrivals(static_cast<std::size_t>(std::max<Units64>(horizon_, 0)) +
                                                   1);
        each(network_.in[node.index()], parts.outward, [&](std::uint32_t h, Units64 t, Literal literal) {
            arrivals[static_cast<std::size_t>(arrival(h, t))].push_back(literal);
        });
        std::vector<std::vector<Literal>> asks(arrivals.size()), answers(arrivals.size());
        each(network_.out[node.index()], parts.exchanged, [&](std::uint32_t, Units64 t, Literal literal) {
            asks[static_cast<std::size_t>(t)].push_back(literal);
        });
        each(network_.in[node.index()], parts.exchanged, [&](std::uint32_t h, Units64 t, Literal literal) {
            answers[static_cast<std::size_t>(arrival(h, t))].push_back(literal);
        });
        const Chain asked = since("asked", node, asks), answered = since("answered", node, answers);
        for (Units64 t = whole.first; t <= whole.last; ++t) {
            for (const Chain& reason : {asked, answered}) program_.implies(*told.at(t), *reason.at(t));
            std::vector<Literal> why = arrivals[static_cast<std::size_t>(t)];
            why.push_back(!*whole.at(t));
            why.push_back(*told.at(t));
            if (const auto before = whole.at(t - 1)) {
                why.push_back(*before);
                program_.implies(*before, *whole.at(t));
            }
            program_.choice(Promise::AtLeastOne, why);
            for (const Literal literal : arrivals[static_cast<std::size_t>(t)]) {
                program_.implies(literal, *whole.at(t));
                if (const auto before = whole.at(t - 1)) program_.implies(literal, !*before);
            }
        }
        if (std::ranges::binary_search(commodity_.targets, node) && whole.last >= whole.first)
            program_.fix(*whole.at(whole.last));
        each(network_.out[node.index()], parts.outward,
             [&](std::uint32_t, Units64 t, Literal literal) { program_.implies(literal, *whole.at(t)); });
    }

    /// E6: two hops never pass a switch at one time, where it might pair them otherwise.
    void add_passages(const Parts& parts) {
        std::map<std::pair<NodeId, Units64>, std::vector<Literal>> passing;
        for (const Starts* of : {&parts.inward, &parts.exchanged, &parts.outward}) {
            of->each([&](std::uint32_t h, Units64 t, Literal literal) {
                for (const Network::Passage& passage : network_.passages[h])
                    passing[{passage.node, t + passage.due}].push_back(literal);
            });
        }
        for (const auto& [where, literals] : passing)
            if (literals.size() > 1) program_.choice(Promise::AtMostOne, literals);
    }

    Program& program_;
    const Network& network_;
    const Commodity& commodity_;
    const Units64 horizon_;
    const std::set<std::uint32_t> known_;
    const std::string name_;
    std::vector<Units64> whole_;   ///< per node: before that the whole sum cannot be there
    std::vector<Units64> useful_;  ///< per node: what comes later cannot be in the whole sum everywhere
    std::vector<Chain> waits_, whole_at_, told_;
};

/// What a solution does with a commodity's hops.
std::vector<Transfer> transfers(const Routing& routing, const Quotient& quotient,
                                const std::vector<std::optional<Parts>>& parts,
                                std::span<const std::int64_t> values) {
    std::vector<Transfer> result;
    for (std::size_t c = 0; c < routing.commodities().size(); ++c) {
        const Parts& own = *parts[quotient.representative[c]];
        const Network& network = routing.network_of(routing.commodities()[c]);
        std::vector<Transfer> exchanged;
        const auto read = [&](const Starts& starts, Op op, std::vector<Transfer>& into) {
            for (std::uint32_t h = 0; h < network.hops.size(); ++h) {
                const std::uint32_t of = quotient.hop(c, h);
                const Starts::Range& range = starts.range(of);
                for (Units64 t = range.first; t <= range.last; ++t) {
                    if (values[starts.at(of, t)->var.index] != 0) into.push_back({c, h, t, op});
                }
            }
        };
        read(own.inward, Op::Reduce, result);
        read(own.exchanged, Op::Reduce, exchanged);
        // A centre that has the other's sum when it sends sends the whole one.
        for (std::size_t i = 0; i < exchanged.size(); ++i) {
            const Transfer& other = exchanged[exchanged.size() - 1 - i];
            const Units64 told = other.start + network.hops[other.hop].ends.front().after;
            Transfer transfer = exchanged[i];
            if (told <= transfer.start) transfer.op = Op::Copy;
            result.push_back(transfer);
        }
        read(own.outward, Op::Copy, result);
    }
    return result;
}

}  // namespace

bool has_exchanges(const Routing& routing) {
    return !routing.commodities().empty() &&
           std::ranges::all_of(routing.commodities(),
                               [](const Commodity& c) { return c.moves == Moves::Sum; }) &&
           std::ranges::none_of(routing.networks(), [](const Network& network) { return network.has_trees; });
}

Question exchange(const Routing& routing, const Quotient& quotient, const Asked& asked) {
    Question question;
    question.refutes = false;
    auto parts = std::make_shared<std::vector<std::optional<Parts>>>(routing.commodities().size());
    const auto may_continue = [&] {
        question.stopped = question.stopped || asked.stop.requested();
        question.too_large = question.too_large || question.program.size() > asked.most_size;
        return !question.stopped && !question.too_large;
    };
    std::vector<std::vector<LinkUse>> uses(routing.instance().topology().links().size());
    for (std::size_t c = 0; c < routing.commodities().size() && may_continue(); ++c) {
        if (quotient.representative[c] != c) continue;
        const Commodity& commodity = routing.commodities()[c];
        std::set<std::uint32_t> known;
        for (const Transfer& transfer : asked.ways)
            if (transfer.commodity == c) known.insert(transfer.hop);
        (*parts)[c] = Exchange(question.program, routing, commodity, asked.horizon, std::move(known),
                               fmt::format("chunk{}", commodity.chunks.front().value()))
                          .add();
    }
    if (!may_continue()) return question;
    for (std::size_t c = 0; c < routing.commodities().size(); ++c) {
        const Network& network = routing.network_of(routing.commodities()[c]);
        const Parts& of = *(*parts)[quotient.representative[c]];
        for (std::uint32_t own = 0; own < network.hops.size(); ++own) {
            const std::uint32_t h = quotient.hop(c, own);
            for (const Leg& leg : network.hops[own].legs) {
                if (!quotient.counts[leg.link.index()]) continue;
                for (const Starts* starts : {&of.inward, &of.exchanged, &of.outward}) {
                    const Starts::Range& range = starts->range(h);
                    for (Units64 t = range.first; t <= range.last; ++t) {
                        const Units64 begin = t + leg.offset;
                        uses[leg.link.index()].push_back({begin, begin + leg.busy, *starts->at(h, t)});
                    }
                }
            }
        }
    }
    for (std::vector<LinkUse>& link : uses) {
        if (may_continue()) add_link_rows(question.program, std::move(link), may_continue);
    }
    question.read = [parts, quotient, routing = &routing](std::span<const std::int64_t> values) {
        return transfers(*routing, quotient, *parts, values);
    };
    return question;
}

}  // namespace tutti::models
