#include "verify/plan/program_graph.hpp"

#include "core/expects.hpp"

#include <algorithm>
#include <utility>

namespace tutti::verify {
namespace {

/// Edges grouped by one of their ends: `first[v] … first[v + 1]` are the other ends of v's edges, weak ones
/// last.
/// for_each_edge(visit) calls visit(from, to, kind) for all of them, whenever it is called.
template <bool kByTarget, class ForEachEdge>
void group(std::size_t ops, const ForEachEdge& for_each_edge, std::vector<std::uint32_t>& first,
           std::vector<plan::OpId>& ends) {
    first.assign(ops + 1, 0);
    std::size_t weak_ones = 0;
    for_each_edge([&](plan::OpId from, plan::OpId to, plan::EdgeKind kind) {
        ++first[(kByTarget ? to : from) + 1];
        if (kind == plan::EdgeKind::Weak) ++weak_ones;
    });
    for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
    ends.resize(first.back());
    // Each is put where the next one of its group goes: first[v] moves on to the group's end, and back again.
    const auto put = [&](bool weak) {
        for_each_edge([&](plan::OpId from, plan::OpId to, plan::EdgeKind kind) {
            if ((kind == plan::EdgeKind::Weak) != weak) return;
            ends[first[kByTarget ? to : from]++] = kByTarget ? from : to;
        });
    };
    put(false);
    if (weak_ones > 0) put(true);
    for (std::size_t i = first.size() - 1; i > 0; --i) first[i] = first[i - 1];
    first[0] = 0;
}

}  // namespace

ProgramGraph::ProgramGraph(const plan::Program& program) {
    const auto for_each_edge = [&](auto visit) {
        for (const plan::Edge& edge : program.edges) visit(edge.from, edge.to, edge.kind);
    };
    group<true>(program.ops.size(), for_each_edge, first_, sources_);
    for (const plan::Edge& edge : program.edges) {
        if (edge.kind != plan::EdgeKind::Weak) continue;
        weak_.resize(program.ops.size(), 0);
        ++weak_[edge.to];
    }
    std::vector<std::uint32_t> first_after;
    std::vector<plan::OpId> after;
    group<false>(program.ops.size(), for_each_edge, first_after, after);
    find_order(first_after, after);
}

ProgramGraph::ProgramGraph(std::vector<std::uint32_t> first_before, std::vector<plan::OpId> before)
    : first_(std::move(first_before)), sources_(std::move(before)) {
    const auto for_each_edge = [&](auto visit) {
        for (plan::OpId op = 0; op < ops(); ++op) {
            for (const plan::OpId source : sources(op)) visit(source, op, plan::EdgeKind::Order);
        }
    };
    std::vector<std::uint32_t> first_after;
    std::vector<plan::OpId> after;
    group<false>(ops(), for_each_edge, first_after, after);
    find_order(first_after, after);
}

/// Depth first along the chains: an op's successors follow at once, so that ops which touch the same places
/// are near each other in the order.
void ProgramGraph::find_order(const std::vector<std::uint32_t>& first_after,
                              const std::vector<plan::OpId>& after) {
    std::vector<std::uint32_t> waiting(ops());
    for (std::size_t op = 0; op < waiting.size(); ++op) waiting[op] = first_[op + 1] - first_[op];
    order_.reserve(waiting.size());
    std::vector<plan::OpId> ready;
    for (std::size_t op = waiting.size(); op-- > 0;) {
        if (waiting[op] == 0) ready.push_back(static_cast<plan::OpId>(op));
    }
    while (!ready.empty()) {
        const plan::OpId op = ready.back();
        ready.pop_back();
        order_.push_back(op);
        for (std::uint32_t i = first_after[op]; i < first_after[op + 1]; ++i) {
            if (--waiting[after[i]] == 0) ready.push_back(after[i]);
        }
    }
    has_cycle_ = order_.size() < waiting.size();
}

void ProgramGraph::forget_edges() {
    first_ = std::vector<std::uint32_t>();
    sources_ = std::vector<plan::OpId>();
    weak_ = std::vector<std::uint32_t>();
}

std::vector<plan::OpId> ProgramGraph::cycle() const {
    expects(has_cycle());
    const std::size_t ops = this->ops();
    std::vector<bool> stuck(ops, true);
    for (const plan::OpId op : order_) stuck[op] = false;
    // Every stuck op has a stuck predecessor, so walking back must reach a cycle.
    std::vector<std::uint32_t> seen_at(ops, 0);
    std::vector<plan::OpId> walk;
    auto op = static_cast<plan::OpId>(std::ranges::find(stuck, true) - stuck.begin());
    while (seen_at[op] == 0) {
        walk.push_back(op);
        seen_at[op] = static_cast<std::uint32_t>(walk.size());
        const auto preceding = sources(op);
        op = *std::ranges::find_if(preceding, [&](plan::OpId source) { return stuck[source]; });
    }
    walk.erase(walk.begin(), walk.begin() + (seen_at[op] - 1));

    // The walk is on a cycle; a breadth-first search from its first op finds the shortest cycle through it.
    const plan::OpId start = walk.front();
    std::vector<plan::OpId> towards(ops, plan::kNoOp);
    std::vector<plan::OpId> queue{start};
    for (std::size_t i = 0; i < queue.size(); ++i) {
        for (const plan::OpId source : sources(queue[i])) {
            if (!stuck[source] || towards[source] != plan::kNoOp) continue;
            towards[source] = queue[i];
            if (source != start) {
                queue.push_back(source);
                continue;
            }
            // start waits for …, which waits for …, which waits for start: follow `towards` from start.
            std::vector<plan::OpId> ring{start};
            for (plan::OpId at = towards[start]; at != start; at = towards[at]) ring.push_back(at);
            std::reverse(ring.begin() + 1, ring.end());
            return ring;
        }
    }
    return walk;
}

}  // namespace tutti::verify
