// Lower bounds of the synchronous model. A cut counts the chunks that must enter a set of nodes. It is
// sharpened by distance at both ends: a chunk whose holder is three hops outside the set cannot enter in the
// first two steps, and one whose receiver is two hops behind the border must not enter in the last two; but
// these steps last a round each all the same. That turns "R/C >= 7/6" into "R >= 2 + 7 C / 6" and the like,
// which ends most questions about few steps. Per cut O(classes + arcs); all 2^n cuts of up to 16 nodes take
// milliseconds to a second.

#include "models/step_bounds.hpp"

#include "core/expects.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace tutti::models {
namespace {

std::uint64_t bit(NodeId node) { return std::uint64_t{1} << node.index(); }

std::uint64_t set_of(std::span<const NodeId> nodes) {
    std::uint64_t set = 0;
    for (const NodeId node : nodes) set |= bit(node);
    return set;
}

std::uint64_t all_nodes(std::size_t nodes) {
    return nodes == kMostStepNodes ? ~std::uint64_t{0} : (std::uint64_t{1} << nodes) - 1;
}

/// Counts of chunks by how long they take to the border (first) and from it (second).
using Histogram = std::array<std::array<std::int64_t, kMostStepNodes>, kMostStepNodes>;

}  // namespace

Ratio Ratio::of(std::int64_t num, std::int64_t den) {
    const std::int64_t common = std::gcd(num, den);
    return common == 0 ? Ratio{} : Ratio{num / common, den / common};
}

StepBounds::StepBounds(const StepProblem& problem) : problem_(problem), out_(problem.nodes) {
    expects(problem.nodes <= kMostStepNodes);
    for (const StepArc& arc : problem.arcs) out_[arc.src.index()] |= bit(arc.dst);
    std::vector<std::uint64_t> candidates;
    const std::uint64_t all = all_nodes(problem.nodes);
    for (const StepClass& kind : problem.classes) {
        holders_.push_back(set_of(kind.holders));
        receivers_.push_back(set_of(kind.receivers));
        const auto distance = hops(problem, kind.holders, false);
        for (const NodeId receiver : kind.receivers) {
            expects(static_cast<std::size_t>(distance[receiver.index()]) < problem.nodes);
            fewest_steps_ = std::max(fewest_steps_, distance[receiver.index()]);
        }
        within_.emplace_back();
        for (std::size_t d = 0; d < problem.nodes; ++d) {
            std::uint64_t reached = 0;
            for (std::size_t v = 0; v < problem.nodes; ++v) {
                if (distance[v] <= static_cast<int>(d)) reached |= bit(NodeId(v));
            }
            within_.back().push_back(reached);
        }
        candidates.insert(candidates.end(), within_.back().begin(), within_.back().end());
    }
    if (problem.nodes <= kAllCutsNodes) {
        for (std::uint64_t inside = 1; inside < all; ++inside) try_cut(inside);
        return;
    }
    for (std::size_t a = 0; a < problem.nodes; ++a) {
        std::uint64_t interval = 0;
        for (std::size_t b = a; b < problem.nodes; ++b) candidates.push_back(interval |= bit(NodeId(b)));
    }
    for (std::size_t v = 0; v < problem.nodes; ++v) {
        for (const bool backwards : {false, true}) {
            const std::array<NodeId, 1> centre{NodeId(v)};
            const auto distance = hops(problem, centre, backwards);
            for (int radius = 0; radius < 8; ++radius) {
                std::uint64_t ball = 0;
                for (std::size_t u = 0; u < problem.nodes; ++u) {
                    if (distance[u] <= radius) ball |= bit(NodeId(u));
                }
                candidates.push_back(ball);
            }
        }
    }
    for (const std::size_t i : {0U, 1U}) {
        for (const std::uint64_t set : candidates) {
            const std::uint64_t inside = i == 0 ? set : all & ~set;
            if (inside != 0 && inside != all) try_cut(inside);
        }
    }
}

void StepBounds::try_cut(std::uint64_t inside) {
    std::int64_t capacity = 0;
    std::uint64_t border = 0;
    for (const StepArc& arc : problem_.arcs) {
        if ((bit(arc.src) & inside) != 0 || (bit(arc.dst) & inside) == 0) continue;
        capacity += arc.capacity;
        border |= bit(arc.dst);
    }
    if (capacity == 0) return;
    // behind[d]: whom one can get to in at most d steps from the border without leaving the set again.
    std::vector<std::uint64_t> behind{border};
    while (true) {
        std::uint64_t next = behind.back();
        for (std::uint64_t rest = next; rest != 0; rest &= rest - 1) {
            next |= out_[static_cast<std::size_t>(std::countr_zero(rest))] & inside;
        }
        if (next == behind.back()) break;
        behind.push_back(next);
    }
    static thread_local Histogram chunks;
    std::size_t most_before = 0, most_after = 0;
    const auto clear = [&] {
        for (std::size_t i = 0; i <= most_before; ++i) std::fill_n(chunks[i].begin(), most_after + 1, 0);
    };
    bool any = false;
    for (std::size_t k = 0; k < holders_.size(); ++k) {
        const std::uint64_t inner = receivers_[k] & inside;
        if ((holders_[k] & inside) != 0 || inner == 0) continue;
        std::size_t before = 0, after = 0;
        while ((within_[k][before + 1] & inside) == 0) ++before;
        while ((inner & ~behind[after]) != 0) ++after;
        chunks[before][after] += problem_.classes[k].count;
        most_before = std::max(most_before, before);
        most_after = std::max(most_after, after);
        any = true;
    }
    if (!any) return;
    for (std::size_t i = 0; i <= most_before; ++i) {
        for (std::size_t j = 0; j <= most_after; ++j) {
            std::int64_t demand = 0;
            for (std::size_t a = i; a <= most_before; ++a) {
                demand =
                    std::accumulate(chunks[a].begin() + static_cast<std::ptrdiff_t>(j),
                                    chunks[a].begin() + static_cast<std::ptrdiff_t>(most_after) + 1, demand);
            }
            if (demand == 0) continue;
            if (cuts_.size() <= i + j) cuts_.resize(i + j + 1);
            StepCut& best = cuts_[i + j];
            if (!(Ratio{best.demand, best.capacity} < Ratio{demand, capacity})) continue;
            best = {{}, demand, capacity, static_cast<int>(i), static_cast<int>(j)};
            for (std::size_t v = 0; v < problem_.nodes; ++v) {
                if ((bit(NodeId(v)) & inside) != 0) best.inside.emplace_back(v);
            }
        }
    }
    clear();
}

Ratio StepBounds::least_ratio() const {
    return cuts_.empty() ? Ratio{} : Ratio::of(cuts_.front().demand, cuts_.front().capacity);
}

std::optional<std::string> StepBounds::refutation(const StepPoint& point) const {
    if (point.steps < fewest_steps_) return fmt::format("a chunk has to go {} hops", fewest_steps_);
    for (const StepCut& cut : cuts_) {
        const std::int64_t rounds = point.rounds - cut.before - cut.after;
        if (rounds * cut.capacity >= point.chunks * cut.demand) continue;
        std::vector<std::uint32_t> nodes;
        for (const NodeId node : cut.inside) nodes.push_back(node.value());
        const std::string less =
            cut.before + cut.after == 0
                ? std::string()
                : fmt::format(", none of them in the first {} or the last {} steps", cut.before, cut.after);
        return fmt::format("{} chunks must enter {{{}}}{}; {} rounds let {} in", point.chunks * cut.demand,
                           fmt::join(nodes, ", "), less, std::max<std::int64_t>(rounds, 0),
                           std::max<std::int64_t>(rounds, 0) * cut.capacity);
    }
    return std::nullopt;
}

}  // namespace tutti::models
