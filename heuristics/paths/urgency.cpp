// Urgencies are times; the queues need few ranks. The times are first put into kBins equal bins. Where at
// most kRanks bins are used (a homogeneous network has as many as its diameter) each gets its own rank;
// otherwise the ranks get equal shares of the arcs.

#include "heuristics/paths/urgency.hpp"

#include "core/rng.hpp"

#include <algorithm>
#include <array>

namespace tutti::heuristics {
namespace {

constexpr std::int64_t kBins = 4096;

/// The urgencies of one spread's arcs, into `urgency`.
void measure(const SpreadProblem& problem, const HopTimes& times, const TreePlan& plan, std::size_t spread,
             Urgency rule, std::vector<std::int64_t>& urgency) {
    const std::uint32_t begin = plan.begin[spread];
    const std::uint32_t end = plan.begin[spread + 1];
    const std::uint32_t kind = times.kind(spread);
    urgency.assign(end - begin, 0);
    if (rule == Urgency::InTurn) {
        const auto turn = static_cast<std::int64_t>(shift_of(problem, problem.spreads[spread]));
        const std::int64_t npus = problem.graph.instance().topology().npus();
        std::ranges::fill(urgency, npus - turn);
        return;
    }
    for (std::uint32_t arc = end; arc-- > begin;) {
        const HopId hop = plan.hops[arc];
        std::int64_t& own = urgency[arc - begin];
        own += rule == Urgency::FarthestFirst ? times.transit(hop, kind) : times.busy(hop, kind);
        const std::uint32_t parent = parent_of(plan, begin, arc);
        if (parent == TreePlan::kRoot) continue;
        std::int64_t& above = urgency[parent - begin];
        above = rule == Urgency::FarthestFirst ? std::max(above, own) : above + own;
    }
}

std::array<std::uint8_t, kBins> ranks_of_bins(const std::array<std::uint64_t, kBins>& arcs) {
    std::array<std::uint8_t, kBins> ranks{};
    const auto used = std::ranges::count_if(arcs, [](std::uint64_t n) { return n > 0; });
    std::uint64_t total = 0;
    for (const std::uint64_t n : arcs) total += n;
    std::uint64_t before = 0;
    std::uint64_t rank = 0;
    for (std::size_t bin = 0; bin < arcs.size(); ++bin) {
        if (arcs[bin] == 0) continue;
        ranks[bin] = static_cast<std::uint8_t>(used <= kRanks ? rank++ : before * kRanks / total);
        before += arcs[bin];
    }
    return ranks;
}

}  // namespace

std::vector<std::uint8_t> urgency_ranks(const SpreadProblem& problem, const HopTimes& times,
                                        const TreePlan& plan, const ListOptions& options) {
    std::vector<std::int64_t> urgency;
    std::int64_t largest = 1;
    const std::size_t spreads = plan.begin.size() - 1;
    for (std::size_t i = 0; i < spreads; ++i) {
        measure(problem, times, plan, i, options.urgency, urgency);
        for (const std::int64_t u : urgency) largest = std::max(largest, u);
    }
    const double scale = static_cast<double>(kBins - 1) / static_cast<double>(largest) /
                         (1.0 + static_cast<double>(options.jitter) / 100);
    Rng rng(options.seed);
    std::array<std::uint64_t, kBins> population{};
    std::vector<std::uint16_t> bins(plan.hops.size());
    for (std::size_t i = 0; i < spreads; ++i) {
        measure(problem, times, plan, i, options.urgency, urgency);
        const double raised = options.jitter == 0
                                  ? scale
                                  : scale * (1.0 + static_cast<double>(rng.below(options.jitter + 1)) / 100);
        for (std::size_t a = 0; a < urgency.size(); ++a) {
            const auto bin = static_cast<std::uint16_t>(static_cast<double>(urgency[a]) * raised);
            bins[plan.begin[i] + a] = bin;
            ++population[bin];
        }
    }
    const auto ranks = ranks_of_bins(population);
    std::vector<std::uint8_t> result(plan.hops.size());
    for (std::size_t a = 0; a < bins.size(); ++a) result[a] = ranks[bins[a]];
    return result;
}

}  // namespace tutti::heuristics
