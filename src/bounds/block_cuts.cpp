// Where every chunk goes from one NPU to one other, the bad cuts are mostly regular, and counting is enough
// to find them: halves and planes of meshes, nodes and rails of clusters. Each such set is weighed by a look
// at some of the pairs; the heaviest are then rated as `cut` would. So a mesh's all-to-all has its middle cut
// among the fast bounds, long before `cut` has tried everything.

#include "bounds/cut_rating.hpp"
#include "bounds/cut_search.hpp"
#include "bounds/families.hpp"
#include "core/rng.hpp"

#include <algorithm>

namespace tutti::bounds {
namespace {

constexpr std::size_t kMostBlockWork = 10'000'000;  ///< pairs and links looked at
constexpr std::size_t kMostBlockPairs = 20'000;     ///< more than this are sampled
constexpr std::size_t kMostRated = 2;
/// The loads are estimates; less than this above the best bound is not worth a rating.
constexpr double kWorthwhile = 1.01;

struct Pair {
    std::uint32_t holder, receiver;
    double chunks;
};

/// All pairs of holder and receiver, or a sample that stands for them. None unless every class is of one NPU
/// for one other.
std::vector<Pair> pairs_of(const Traffic& traffic) {
    const auto classes = traffic.classes();
    for (const ChunkClass& c : classes) {
        const Demand demand = traffic.demand(c);
        if (demand.holders.size() > 1 || demand.receivers.size() > 1) return {};
    }
    Rng rng(1);
    const bool all = classes.size() <= kMostBlockPairs;
    const std::size_t count = all ? classes.size() : kMostBlockPairs;
    const double each =
        static_cast<double>(classes.size()) / static_cast<double>(std::max<std::size_t>(count, 1));
    std::vector<Pair> pairs;
    for (std::size_t i = 0; i < count; ++i) {
        const ChunkClass& c = classes[all ? i : rng.below(classes.size())];
        const Demand demand = traffic.demand(c);
        pairs.push_back(
            {demand.holders[0].value(), demand.receivers[0].value(), each * static_cast<double>(c.count)});
    }
    return pairs;
}

struct Weighed {
    double load = 0;
    std::vector<bool> inside;
};

/// The set, or its complement, whichever has more to let in; the loads only choose, so they may be rounded.
Weighed weighed(const Traffic& traffic, const std::vector<Pair>& pairs, std::vector<bool> inside) {
    double in = 0, out = 0, speed_in = 0, speed_out = 0;
    for (const Pair& pair : pairs) {
        const bool from = inside[pair.holder], to = inside[pair.receiver];
        in += !from && to ? pair.chunks : 0;
        out += from && !to ? pair.chunks : 0;
    }
    const Topology& topology = traffic.topology();
    for (std::size_t l = 0; l < topology.links().size(); ++l) {
        const Link& link = topology.link(LinkId(l));
        const bool from = inside[link.src.index()], to = inside[link.dst.index()];
        if (from == to) continue;
        (to ? speed_in : speed_out) += 1 / static_cast<double>(traffic.smallest().busy[l].count());
    }
    in = speed_in > 0 ? in / speed_in : 0;
    out = speed_out > 0 ? out / speed_out : 0;
    if (out > in) inside.flip();
    return {std::max(in, out), std::move(inside)};
}

}  // namespace

Bound block_cuts(Traffic& traffic, Ticks above, const Stop& stop) {
    Bound best{"cut", Ticks(0), {}, 0};
    const auto pairs = pairs_of(traffic);
    if (pairs.empty()) return best;
    Effort effort(kMostBlockWork, stop);
    std::vector<Weighed> heaviest;
    const double worthwhile = kWorthwhile * static_cast<double>(above.count());
    visit_blocks(traffic.topology(), [&](std::vector<bool> inside) {
        if (!effort.spend(pairs.size() + traffic.topology().links().size())) return false;
        Weighed set = weighed(traffic, pairs, std::move(inside));
        if (set.load < worthwhile) return true;
        const auto lighter = [&](const Weighed& other) { return set.load > other.load; };
        heaviest.insert(std::ranges::find_if(heaviest, lighter), std::move(set));
        if (heaviest.size() > kMostRated) heaviest.pop_back();
        return true;
    });
    const CutRater rater(traffic);
    for (Weighed& set : heaviest) {
        const Cut cut(traffic.topology(), std::move(set.inside));
        if (const auto rating = rater.rough(cut, best.value)) best = bound_of(*rating, "cut", cut);
    }
    return best;
}

}  // namespace tutti::bounds
