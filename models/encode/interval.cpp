// Arrival times and optional intervals. Between two nodes that keep the chunk it takes a chain: one hop, or
// several with waits in switches that pass each copy once. A literal chooses the chain by which a node gets
// the chunk; the start of its last hop follows from the arrival, so a chain of one hop needs no variable of
// its own.
//
// Times are actual ones, so that spreading chunks and gathering sums can share links: backwards the time of a
// node is the horizon minus its own time, and the inequalities are reversed.

#include "models/encode/interval.hpp"

#include "core/expects.hpp"
#include "models/encode/sum_interval.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

namespace tutti::models {
namespace {

constexpr std::size_t kMostChains = 200'000;

/// Hops from one keeper to another; at the stops between, the chunk may wait.
struct HopChain {
    NodeId from, to;
    std::vector<std::uint32_t> hops;
    Units64 length = 0;
};

std::vector<HopChain> chains_of(const Network& network) {
    std::vector<HopChain> chains;
    std::vector<HopChain> open;
    for (std::size_t n = 0; n < network.rule.size(); ++n) {
        if (network.rule[n] != StopRule::Keeps) continue;
        open.push_back({NodeId(n), NodeId(n), {}, 0});
        while (!open.empty() && chains.size() + open.size() < kMostChains) {
            const HopChain chain = open.back();
            open.pop_back();
            for (const std::uint32_t h : network.out[chain.to.index()]) {
                const Hop& hop = network.hops[h];
                const NodeId to = hop.ends.front().node;
                // No node is passed twice.
                if (to == chain.from || std::ranges::any_of(chain.hops, [&](std::uint32_t other) {
                        return network.hops[other].ends.front().node == to;
                    })) {
                    continue;
                }
                HopChain next = chain;
                next.to = to;
                next.hops.push_back(h);
                next.length += hop.ends.front().after;
                (network.rule[to.index()] == StopRule::Keeps ? chains : open).push_back(std::move(next));
            }
        }
        open.clear();
    }
    return chains;
}

/// A chunk that spreads; a flow is taken as one for each of its chunks.
struct Item {
    std::size_t commodity;
    NodeId target;  ///< of a flow's chunk
};

class IntervalEncoder {
  public:
    IntervalEncoder(const Routing& routing, const Asked& asked)
        : routing_(routing), asked_(asked), uses_(routing.instance().topology().links().size()) {
        for (const Network& network : routing.networks()) chains_.push_back(chains_of(network));
    }

    Question make() {
        for (std::size_t c = 0; c < routing_.commodities().size(); ++c) {
            if (asked_.stop.requested()) return stopped();
            if (program_.size() > asked_.most_size) {
                Question question;
                question.too_large = true;
                return question;
            }
            const Commodity& commodity = routing_.commodities()[c];
            if (commodity.moves == Moves::Sum) {
                add_sum(c, commodity);
                continue;
            }
            if (commodity.moves != Moves::Flow) {
                add(c, commodity, commodity.targets);
                continue;
            }
            for (const NodeId target : commodity.targets) add(c, commodity, {target});
        }
        if (asked_.stop.requested()) return stopped();
        for (const auto& uses : uses_) {
            if (uses.size() > 1) program_.no_overlap(uses);
        }
        Question question;
        question.program = std::move(program_);
        // A sum takes each hop once.
        question.refutes = routing_.incomplete().empty() && !routing_.has_sums();
        question.read = [choices = std::move(choices_),
                         sums = std::move(sums_)](std::span<const std::int64_t> values) {
            std::vector<Transfer> transfers;
            for (const auto& [commodity, use] : sums) {
                if (values[use.used.var.index] == 0) continue;
                const Op op = values[use.copies.var.index] != 0 ? Op::Copy : Op::Reduce;
                transfers.push_back({commodity, use.hop, values[use.start.index], op});
            }
            for (const Chosen& chosen : choices) {
                if (values[chosen.literal.var.index] == 0) continue;
                for (const Started& start : chosen.starts) {
                    const std::int64_t value = values[start.var.index];
                    transfers.push_back(
                        {chosen.commodity, start.hop, start.base + start.sign * value, Op::Copy});
                }
            }
            return transfers;
        };
        return question;
    }

  private:
    [[nodiscard]] static Question stopped() {
        Question question;
        question.stopped = true;
        return question;
    }

    /// The own time of a hop's start is base + sign * var.
    struct Started {
        std::uint32_t hop;
        Var var;
        Units64 base, sign;
    };
    struct Chosen {
        std::size_t commodity;
        Literal literal;
        std::vector<Started> starts;
    };
    /// What a chunk's time at a node is: a variable, or known.
    struct Time {
        std::optional<Var> var;
        Units64 own = 0;  ///< if known
    };

    [[nodiscard]] Units64 actual(const Network& network, Units64 own) const {
        return network.backwards ? asked_.horizon - own : own;
    }
    [[nodiscard]] Var time_var(const Network& network, Units64 first, Units64 last, std::string name) {
        const Units64 a = actual(network, first), b = actual(network, last);
        return program_.integer(std::min(a, b), std::max(a, b), std::move(name));
    }

    /// own(later) - own(earlier) >= gap, where the literal holds.
    void after(const Network& network, const Time& later, const Time& earlier, Units64 gap, Literal literal) {
        std::vector<Term> terms;
        const std::int64_t sign = network.backwards ? -1 : 1;
        Units64 known = 0;  // own(later) - own(earlier) is sum of terms + known
        if (later.var) {
            terms.push_back({*later.var, sign});
            known += network.backwards ? asked_.horizon : 0;
        } else {
            known += later.own;
        }
        if (earlier.var) {
            terms.push_back({*earlier.var, -sign});
            known -= network.backwards ? asked_.horizon : 0;
        } else {
            known -= earlier.own;
        }
        program_.row(terms, gap - known, kPlusInfinity, literal);
    }

    void add_sum(std::size_t c, const Commodity& commodity) {
        const std::string name = fmt::format("chunk{}", commodity.chunks.front().value());
        for (const SumUse& use : add_sum_intervals(program_, routing_, commodity, asked_, name, uses_)) {
            sums_.emplace_back(c, use);
            const auto hint = std::ranges::find_if(asked_.hint, [&](const Transfer& transfer) {
                return transfer.commodity == c && transfer.hop == use.hop;
            });
            if (!asked_.stays.empty() && asked_.stays[c]) {
                const bool taken = hint != asked_.hint.end();
                program_.fix(taken ? use.used : !use.used);
                if (taken) program_.fix(hint->op == Op::Copy ? use.copies : !use.copies);
            }
        }
    }

    void add(std::size_t c, const Commodity& commodity, const std::vector<NodeId>& targets) {
        const Network& network = routing_.network_of(commodity);
        Commodity item = commodity;
        item.targets = targets;
        const Windows windows = windows_of(routing_, item, asked_.horizon);
        const std::string name =
            fmt::format("chunk{}{}", commodity.chunks.front().value(),
                        commodity.moves == Moves::Flow ? fmt::format("_{}", serial_++) : std::string());

        std::vector<Time> at(network.rule.size());
        std::vector<bool> there(network.rule.size(), false);
        for (std::size_t n = 0; n < network.rule.size(); ++n) {
            if (network.rule[n] != StopRule::Keeps) continue;
            const Units64 first = windows.earliest[n], last = windows.latest[n];
            const bool is_source = std::ranges::binary_search(item.sources, NodeId(n));
            if (is_source) {
                at[n] = {std::nullopt, item.ready};
                there[n] = true;
                continue;
            }
            if (first == Windows::kNever || last == Windows::kNever || first > last) continue;
            at[n] = {time_var(network, first, last, fmt::format("{}.at{}", name, n)), 0};
            there[n] = true;
        }
        std::vector<std::vector<Literal>> in(network.rule.size()), out(network.rule.size());
        for (const HopChain& chain : chains_[commodity.network]) {
            if (asked_.stop.requested()) return;
            const std::size_t from = chain.from.index(), to = chain.to.index();
            if (!there[from] || !there[to] || !at[to].var) continue;
            if (windows.earliest[from] + chain.length > windows.latest[to]) continue;
            const Literal literal = add_chain(c, network, chain, at, windows, name);
            in[to].push_back(literal);
            if (at[from].var) out[from].push_back(literal);
        }
        for (std::size_t n = 0; n < network.rule.size(); ++n) {
            if (asked_.stop.requested()) return;
            const bool is_target = std::ranges::find(targets, NodeId(n)) != targets.end();
            if (is_target) {
                program_.choice(Promise::ExactlyOne, in[n]);  // I1
                continue;
            }
            if (in[n].size() > 1) program_.choice(Promise::AtMostOne, in[n]);
            for (const auto& [some, others] : {std::pair(&out[n], &in[n]), std::pair(&in[n], &out[n])}) {
                if (!there[n] || !at[n].var) continue;
                for (const Literal literal : *some) {  // I2: a sender has received it, a receiver sends it
                    std::vector<Literal> why(*others);
                    why.push_back(!literal);
                    program_.choice(Promise::AtLeastOne, why);
                }
            }
        }
        add_order(c, commodity, targets, at, network);
    }

    Literal add_chain(std::size_t c, const Network& network, const HopChain& chain,
                      const std::vector<Time>& at, const Windows& windows, const std::string& name) {
        std::string links;
        for (const std::uint32_t h : chain.hops) {
            for (const Leg& leg : network.hops[h].legs) {
                links += fmt::format("{}{}", links.empty() ? "" : "_", leg.link.value());
            }
        }
        const Literal literal = program_.boolean(fmt::format("{}.by{}", name, links));
        Chosen chosen{c, literal, {}};
        const std::size_t from = chain.from.index(), to = chain.to.index();
        // Own times of the hops' starts; the last one follows from the arrival.
        Time before = at[from];
        Units64 least = windows.earliest[from], rest = chain.length, needed = 0;
        for (std::size_t i = 0; i < chain.hops.size(); ++i) {
            const Hop& hop = network.hops[chain.hops[i]];
            const Units64 length = hop.ends.front().after;
            const bool is_last = i + 1 == chain.hops.size();
            Var var = *at[to].var;
            Units64 shift = length;  // own start = own(var) - shift
            if (!is_last) {
                var = time_var(network, least, windows.latest[to] - rest,
                               fmt::format("{}.by{}.hop{}", name, links, i));
                shift = 0;
            }
            after(network, {var, 0}, before, needed + shift, literal);  // I3
            for (const Leg& leg : hop.legs) {                           // I4
                const Units64 offset = network.backwards ? shift - leg.offset - leg.busy : leg.offset - shift;
                uses_[leg.link.index()].push_back({var, leg.busy, literal, offset});
            }
            chosen.starts.push_back({chain.hops[i], var, network.backwards ? asked_.horizon - shift : -shift,
                                     network.backwards ? -1 : 1});
            before = {var, 0};
            needed = length;
            least += length;
            rest -= length;
        }
        choices_.push_back(std::move(chosen));
        return literal;
    }

    /// I5: chunks alike in everything arrive at one target in order.
    void add_order(std::size_t c, const Commodity& commodity, const std::vector<NodeId>& targets,
                   const std::vector<Time>& at, const Network& network) {
        const NodeId target = targets.back();
        const auto var = at[target.index()].var;
        const bool alike =
            last_ && last_->targets == targets && last_->at && var &&
            (last_->commodity == c || same(routing_.commodities()[last_->commodity], commodity));
        if (alike) {
            const std::int64_t sign = network.backwards ? -1 : 1;
            program_.row(std::vector<Term>{{*var, sign}, {*last_->at, -sign}}, 0, kPlusInfinity);
        }
        last_ = Last{c, targets, var};
    }
    [[nodiscard]] static bool same(const Commodity& a, const Commodity& b) {
        return a.moves == Moves::Spread && b.moves == Moves::Spread && a.network == b.network &&
               a.sources == b.sources && a.targets == b.targets && a.ready == b.ready && a.spare == b.spare &&
               a.late == b.late;
    }

    const Routing& routing_;
    const Asked asked_;
    Program program_;
    std::vector<std::vector<HopChain>> chains_;  ///< per network
    std::vector<std::vector<Interval>> uses_;
    std::vector<Chosen> choices_;
    std::vector<std::pair<std::size_t, SumUse>> sums_;  ///< by commodity
    std::size_t serial_ = 0;
    struct Last {
        std::size_t commodity;
        std::vector<NodeId> targets;
        std::optional<Var> at;
    };
    std::optional<Last> last_;
};

}  // namespace

Question interval(const Routing& routing, const Asked& asked) {
    expects(why_no_interval(routing).empty());
    return IntervalEncoder(routing, asked).make();
}

std::string why_no_interval(const Routing& routing) {
    if (routing.has_limited_buffers()) return "a switch has a limited buffer";
    for (const Network& network : routing.networks()) {
        if (network.has_trees) return "a cut-through switch branches";
        const bool passes = std::ranges::any_of(network.passages, [](const auto& p) { return !p.empty(); });
        if (passes && network.order_matters) return "links at cut-through switches differ in beta";
        if (chains_of(network).size() + 1 >= kMostChains) return "there are too many paths through switches";
    }
    return {};
}

IntervalSize interval_size(const Routing& routing) {
    IntervalSize size;
    std::vector<std::vector<HopChain>> chains;
    for (const Network& network : routing.networks()) chains.push_back(chains_of(network));
    std::vector<std::size_t> uses(routing.instance().topology().links().size(), 0);
    for (const Commodity& commodity : routing.commodities()) {
        if (commodity.moves == Moves::Sum) {
            size.chains += sum_interval_size(routing.network_of(commodity), commodity);
            continue;
        }
        const std::size_t chunks = commodity.moves == Moves::Flow ? commodity.targets.size() : 1;
        for (const HopChain& chain : chains[commodity.network]) {
            size.chains += chunks;
            for (const std::uint32_t h : chain.hops) {
                for (const Leg& leg : routing.network_of(commodity).hops[h].legs)
                    uses[leg.link.index()] += chunks;
            }
        }
    }
    for (const std::size_t count : uses) size.pairs += count * count / 2;
    return size;
}

}  // namespace tutti::models
