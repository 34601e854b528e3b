// SCCL's synchronous model (Cai et al., "Synthesizing optimal collective algorithms", PPoPP 2021, section 3):
// time is S steps; step s lasts r_s >= 1 rounds, R in sum; in step s an arc carries at most its capacity
// times r_s chunks; what arrives in one step can leave in the next.
//
// Chunks that are copied have a send literal for each (arc, step) and a literal "held by the end of step s"
// for each (node, step). SCCL gives every pair of source and destination of an all-to-all chunks with names
// too, and that is what makes it slow: here unicast chunks of one source (or, if these are fewer, of one
// destination) are one integer flow through the time-expanded network; names are given when a solution is
// split into paths. The flow needs no symmetry breaking, since it has nothing left to permute.
//
// Windows keep the program small: nothing leaves a node before it can have come there, nor enters a node from
// which no receiver can be reached in the steps that remain. The numbers S1…S9 are those of
// models/README.md.

#include "models/encode/step.hpp"

#include "core/expects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>

namespace tutti::models {
namespace {

bool has_node(std::span<const NodeId> sorted, NodeId node) {
    return std::ranges::binary_search(sorted, node);
}

/// Whether no symmetry maps the index to a smaller one; `images` says which list of a symmetry is meant.
bool is_first(std::size_t index, const std::vector<StepSymmetry>& group,
              std::vector<std::size_t> StepSymmetry::*images) {
    return std::ranges::all_of(group, [&](const StepSymmetry& g) { return (g.*images)[index] >= index; });
}

bool is_unicast(const StepClass& kind) { return kind.holders.size() == 1 && kind.receivers.size() == 1; }

}  // namespace

std::vector<int> hops(const StepProblem& problem, std::span<const NodeId> from, bool backwards) {
    std::vector<int> result(problem.nodes, kNever);
    for (const NodeId node : from) result[node.index()] = 0;
    // Bellman-Ford: networks here have few nodes, and so there is no adjacency to keep.
    for (bool changed = true; changed;) {
        changed = false;
        for (const StepArc& arc : problem.arcs) {
            const int near = result[(backwards ? arc.dst : arc.src).index()];
            int& far = result[(backwards ? arc.src : arc.dst).index()];
            if (near + 1 >= far) continue;
            far = near + 1;
            changed = true;
        }
    }
    return result;
}

StepModel::StepModel(const StepProblem& problem, const StepPoint& point, std::vector<StepSymmetry> group,
                     const Stop& stop)
    : problem_(problem), point_(point), group_(std::move(group)), stop_(stop) {
    expects(point.steps >= 1 && point.rounds >= point.steps && point.chunks >= 1);
    load_.resize(problem.arcs.size() * static_cast<std::size_t>(point.steps));
    add_rounds();
    for (std::size_t k = 0; k < problem.classes.size(); ++k) {
        const StepClass& kind = problem.classes[k];
        if (kind.receivers.empty() || is_unicast(kind)) continue;
        if (is_first(k, group_, &StepSymmetry::classes)) add_multicast(k);
        if (!goes_on()) return;
    }
    add_commodities();
    if (!goes_on()) return;
    add_capacities();
}

void StepModel::add_load(std::size_t arc, int step, Var var) {
    const auto steps = static_cast<std::size_t>(point_.steps), at = static_cast<std::size_t>(step) - 1;
    if (group_.empty()) return load_[arc * steps + at].push_back({var, 1});
    for (const StepSymmetry& g : group_) load_[g.arcs[arc] * steps + at].push_back({var, 1});
}

void StepModel::add_images(const StepSend& send, StepPlan& plan) const {
    if (group_.empty()) return plan.sends.push_back(send);
    for (const StepSymmetry& g : group_) {
        plan.sends.push_back({g.classes[send.chunk_class], send.index, g.arcs[send.arc], send.step});
    }
}

void StepModel::add_rounds() {
    std::vector<Term> sum;
    for (int s = 1; s <= point_.steps; ++s) {
        rounds_.push_back(program_.integer(1, point_.rounds - point_.steps + 1, fmt::format("r_{}", s)));
        sum.push_back({rounds_.back(), 1});
    }
    program_.row(sum, point_.rounds, point_.rounds);  // S1
}

void StepModel::add_multicast(std::size_t chunk_class) {
    const StepClass& kind = problem_.classes[chunk_class];
    const auto first = hops(problem_, kind.holders, false);
    expects(std::ranges::all_of(kind.receivers,
                                [&](NodeId node) { return first[node.index()] <= point_.steps; }));
    const auto tail = hops(problem_, kind.receivers, true);
    const auto steps = static_cast<std::size_t>(point_.steps);
    const auto useful = [&](const StepArc& arc, int s) {
        return first[arc.src.index()] < s && first[arc.dst.index()] > 0 &&
               s + tail[arc.dst.index()] <= point_.steps;
    };
    std::vector<std::vector<Literal>> at_witness;  // per chunk: held by the first receiver, after each step
    for (std::int64_t i = 0; i < kind.count * point_.chunks && goes_on(); ++i) {
        Multicast multicast{chunk_class, i, {}};
        // held[v][s]: after step s. None: known to be false; holders are known to be true.
        std::vector<std::vector<std::optional<Literal>>> held(problem_.nodes);
        for (std::size_t v = 0; v < problem_.nodes; ++v) {
            held[v].resize(steps + 1);
            if (first[v] == 0 || first[v] + tail[v] > point_.steps) continue;
            for (int s = first[v]; s <= point_.steps; ++s) {
                held[v][static_cast<std::size_t>(s)] =
                    program_.boolean(fmt::format("h_{}.{}_{}_{}", chunk_class, i, v, s));
            }
        }
        std::vector<std::vector<Literal>> arrivals(problem_.nodes * (steps + 1));
        for (std::size_t e = 0; e < problem_.arcs.size(); ++e) {
            const StepArc& arc = problem_.arcs[e];
            for (int s = 1; s <= point_.steps; ++s) {
                if (!useful(arc, s)) continue;
                const auto at = static_cast<std::size_t>(s);
                const Literal send = program_.boolean(
                    fmt::format("x_{}.{}_{}.{}_{}", chunk_class, i, arc.src.value(), arc.dst.value(), s));
                multicast.sends.push_back({send.var, e, s});
                add_load(e, s, send.var);
                arrivals[arc.dst.index() * (steps + 1) + at].push_back(send);
                if (first[arc.src.index()] > 0) program_.implies(send, *held[arc.src.index()][at - 1]);  // S4
            }
        }
        for (std::size_t v = 0; v < problem_.nodes; ++v) {
            for (std::size_t s = 1; s <= steps; ++s) {
                if (!held[v][s]) continue;
                std::vector<Literal> one = arrivals[v * (steps + 1) + s];
                if (held[v][s - 1]) one.push_back(*held[v][s - 1]);
                one.push_back(!*held[v][s]);
                program_.choice(Promise::ExactlyOne, one);  // S3
            }
            if (has_node(kind.receivers, NodeId(v))) program_.fix(*held[v][steps]);  // S5
        }
        std::vector<Literal> witness;
        for (const auto& literal : held[kind.receivers.front().index()]) {
            if (literal) witness.push_back(*literal);
        }
        at_witness.push_back(std::move(witness));
        multicasts_.push_back(std::move(multicast));
    }
    order(at_witness);
}

/// S9: chunks that are alike reach one receiver in the order of their numbers.
void StepModel::order(const std::vector<std::vector<Literal>>& at_witness) {
    for (std::size_t i = 1; i < at_witness.size(); ++i) {
        for (std::size_t s = 0; s < at_witness[i].size(); ++s) {
            program_.implies(at_witness[i][s], at_witness[i - 1][s]);
        }
    }
}

void StepModel::add_commodities() {
    std::map<NodeId, Commodity> by_source, by_destination;
    for (std::size_t k = 0; k < problem_.classes.size(); ++k) {
        const StepClass& kind = problem_.classes[k];
        if (!is_unicast(kind)) continue;
        for (auto* side : {&by_source, &by_destination}) {
            Commodity& commodity = (*side)[(side == &by_source ? kind.holders : kind.receivers).front()];
            commodity.supply.resize(problem_.nodes);
            commodity.demand.resize(problem_.nodes);
            commodity.classes.push_back(k);
            commodity.supply[kind.holders.front().index()] += kind.count * point_.chunks;
            commodity.demand[kind.receivers.front().index()] += kind.count * point_.chunks;
        }
    }
    std::size_t number = 0;
    for (auto& [node, commodity] : by_source.size() <= by_destination.size() ? by_source : by_destination) {
        if (!goes_on()) return;
        if (is_first(node.index(), group_, &StepSymmetry::nodes))
            add_commodity(std::move(commodity), number++);
    }
}

void StepModel::add_commodity(Commodity commodity, std::size_t number) {
    const auto steps = static_cast<std::size_t>(point_.steps);
    std::vector<NodeId> sources, destinations;
    std::int64_t total = 0;
    for (std::size_t v = 0; v < problem_.nodes; ++v) {
        if (commodity.supply[v] > 0) sources.emplace_back(v);
        if (commodity.demand[v] > 0) destinations.emplace_back(v);
        total += commodity.supply[v];
    }
    const auto first = hops(problem_, sources, false);
    const auto tail = hops(problem_, destinations, true);
    // What comes to node v in step s or is kept there (positive) must be kept or leave in step s + 1
    // (negative).
    std::vector<std::vector<Term>> balance(problem_.nodes * (steps + 1));
    const auto at = [&](std::size_t v, int s) -> std::vector<Term>& {
        return balance[v * (steps + 1) + static_cast<std::size_t>(s)];
    };
    for (int s = 1; s <= point_.steps; ++s) {
        for (std::size_t e = 0; e < problem_.arcs.size(); ++e) {
            const std::size_t u = problem_.arcs[e].src.index(), v = problem_.arcs[e].dst.index();
            if (first[u] >= s || s + tail[v] > point_.steps) continue;
            const std::int64_t most =
                std::min(total, problem_.arcs[e].capacity * (point_.rounds - point_.steps + 1));
            const Var flow = program_.integer(0, most, fmt::format("f_{}_{}.{}_{}", number, u, v, s));
            commodity.sends.push_back({flow, e, s});
            add_load(e, s, flow);
            at(u, s - 1).push_back({flow, -1});
            at(v, s).push_back({flow, 1});
        }
        for (std::size_t v = 0; v < problem_.nodes; ++v) {
            if (first[v] >= s || s + tail[v] > point_.steps) continue;
            const Var kept = program_.integer(0, total, fmt::format("w_{}_{}_{}", number, v, s));  // S7
            at(v, s - 1).push_back({kept, -1});
            at(v, s).push_back({kept, 1});
        }
    }
    for (std::size_t v = 0; v < problem_.nodes; ++v) {
        for (int s = 0; s <= point_.steps; ++s) {
            const std::int64_t wanted =
                (s == point_.steps ? commodity.demand[v] : 0) - (s == 0 ? commodity.supply[v] : 0);
            if (!at(v, s).empty()) program_.row(at(v, s), wanted, wanted);  // S6, S8
        }
    }
    commodities_.push_back(std::move(commodity));
}

void StepModel::add_capacities() {
    const auto steps = static_cast<std::size_t>(point_.steps);
    for (std::size_t i = 0; i < load_.size(); ++i) {
        // An arc's images carry what it carries.
        if (load_[i].empty() || !is_first(i / steps, group_, &StepSymmetry::arcs)) continue;
        const std::int64_t capacity = problem_.arcs[i / steps].capacity;
        std::vector<Term>& terms = load_[i];
        terms.push_back({rounds_[i % steps], -capacity});
        program_.row(terms, kMinusInfinity, 0);  // S2
    }
}

StepPlan StepModel::plan(std::span<const std::int64_t> values) const {
    expects(values.size() == program_.vars());
    StepPlan plan;
    for (const Var round : rounds_) plan.rounds.push_back(static_cast<int>(values[round.index]));
    for (const Multicast& multicast : multicasts_) plan_multicast(multicast, values, plan);
    for (const Commodity& commodity : commodities_) plan_commodity(commodity, values, plan);
    std::ranges::stable_sort(plan.sends, {}, &StepSend::step);
    return plan;
}

void StepModel::plan_multicast(const Multicast& multicast, std::span<const std::int64_t> values,
                               StepPlan& plan) const {
    const StepClass& kind = problem_.classes[multicast.chunk_class];
    std::vector<Flow> sends;
    for (const Flow& send : multicast.sends) {
        if (values[send.var.index] != 0) sends.push_back(send);
    }
    // From the last step backwards, who is served is known before who serves them.
    std::ranges::stable_sort(sends, std::ranges::greater{}, &Flow::step);
    std::vector<bool> serves(problem_.nodes, false);
    for (const NodeId receiver : kind.receivers) serves[receiver.index()] = true;
    for (const Flow& send : sends) {
        const StepArc& arc = problem_.arcs[send.arc];
        if (!serves[arc.dst.index()]) continue;
        serves[arc.src.index()] = true;
        add_images({multicast.chunk_class, multicast.index, send.arc, send.step}, plan);
    }
}

/// Splits the flow into the ways of single chunks, and gives each the number of a chunk that begins and ends
/// where it does.
void StepModel::plan_commodity(const Commodity& commodity, std::span<const std::int64_t> values,
                               StepPlan& plan) const {
    struct Path {
        std::size_t begin;
        std::vector<std::pair<std::size_t, int>> hops;  // arc, step
    };
    std::vector<Path> paths;
    std::vector<std::deque<std::size_t>> here(problem_.nodes), coming(problem_.nodes);
    for (std::size_t v = 0; v < problem_.nodes; ++v) {
        for (std::int64_t i = 0; i < commodity.supply[v]; ++i) {
            here[v].push_back(paths.size());
            paths.push_back({v, {}});
        }
    }
    const auto arrive = [&] {
        for (std::size_t v = 0; v < problem_.nodes; ++v) {
            here[v].insert(here[v].end(), coming[v].begin(), coming[v].end());
            coming[v].clear();
        }
    };
    int step = 1;
    for (const Flow& send : commodity.sends) {
        if (send.step != step) arrive();
        step = send.step;
        const StepArc& arc = problem_.arcs[send.arc];
        for (std::int64_t i = 0; i < values[send.var.index]; ++i) {
            const std::size_t path = here[arc.src.index()].front();
            here[arc.src.index()].pop_front();
            paths[path].hops.emplace_back(send.arc, send.step);
            coming[arc.dst.index()].push_back(path);
        }
    }
    arrive();
    std::map<std::pair<std::size_t, std::size_t>, std::vector<std::pair<std::size_t, std::int64_t>>> chunks;
    for (const std::size_t k : commodity.classes) {
        const StepClass& kind = problem_.classes[k];
        auto& list = chunks[{kind.holders.front().index(), kind.receivers.front().index()}];
        for (std::int64_t i = 0; i < kind.count * point_.chunks; ++i) list.emplace_back(k, i);
    }
    for (std::size_t v = 0; v < problem_.nodes; ++v) {
        for (const std::size_t number : here[v]) {
            Path& path = paths[number];
            auto& list = chunks.at({path.begin, v});
            const auto [kind, index] = list.back();
            list.pop_back();
            // A way that comes back to where it was before is cut short there.
            for (std::size_t i = 0; i < path.hops.size(); ++i) {
                const NodeId from = problem_.arcs[path.hops[i].first].src;
                for (std::size_t j = path.hops.size(); j > i; --j) {
                    if (problem_.arcs[path.hops[j - 1].first].dst != from) continue;
                    using Offset = std::ptrdiff_t;
                    path.hops.erase(path.hops.begin() + static_cast<Offset>(i),
                                    path.hops.begin() + static_cast<Offset>(j));
                    break;
                }
            }
            for (const auto& [arc, at_step] : path.hops) add_images({kind, index, arc, at_step}, plan);
        }
    }
}

}  // namespace tutti::models
