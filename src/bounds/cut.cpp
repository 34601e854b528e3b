// The worst cut. Up to 16 nodes every set is looked at, the most loaded first, and rated exactly. Beyond, the
// sets come from cut_search: those that maximum flows find for each receiver and each source (the throughput
// optimum of ForestColl, Zhao et al. 2024, section 4), and sweeps for demands of all to all.

#include "bounds/cut_rating.hpp"
#include "bounds/cut_search.hpp"
#include "bounds/families.hpp"

#include <algorithm>

namespace tutti::bounds {
namespace {

constexpr std::size_t kMostNodesToEnumerate = 16;
constexpr std::size_t kMostCutWork = 100'000'000;
constexpr std::size_t kEnumerationLimit = 80'000'000;  ///< about half a second
/// Above this a cut among many is only rated roughly.
constexpr std::size_t kWorkForOneCut = 20'000'000;

/// What a rough rating takes per chunk class and link, in the unit of the limits.
constexpr std::size_t kRough = 8;

using Mask = std::uint32_t;

Mask mask_of(std::span<const NodeId> nodes) {
    Mask mask = 0;
    for (const NodeId node : nodes) mask |= Mask{1} << node.value();
    return mask;
}

class EveryCut {
  public:
    EveryCut(Traffic& traffic, const Stop& stop) : traffic_(traffic), effort_(kEnumerationLimit, stop) {
        for (const ChunkClass& c : traffic.classes()) {
            const Demand demand = traffic.demand(c);
            classes_.push_back({&c, mask_of(demand.holders), mask_of(demand.receivers), demand.reduction});
        }
        const Topology& topology = traffic.topology();
        for (std::size_t l = 0; l < topology.links().size(); ++l) {
            const Link& link = topology.link(LinkId(l));
            links_.push_back({Mask{1} << link.src.value(), Mask{1} << link.dst.value(),
                              1.0 / static_cast<double>(traffic.smallest().busy[l].count())});
        }
    }

    Bound run() {
        Bound best{"cut", Ticks(0), {}, 0};
        CutRater rater(traffic_);
        find_least_rooms();
        std::vector<const ChunkClass*> entering;
        const std::size_t nodes = traffic_.topology().nodes();
        for (const auto& [load, set] : by_load()) {
            entering.clear();
            std::uint64_t transfers = 0;
            for (const MaskedClass& c : classes_) {
                if (!c.enters(set)) continue;
                entering.push_back(c.chunks);
                transfers += c.chunks->count;
            }
            if (!effort_.spend(classes_.size() + links_.size())) break;
            if (cannot_beat(set, transfers, best.value)) continue;
            std::vector<bool> inside(nodes);
            for (std::size_t n = 0; n < nodes; ++n) inside[n] = (set >> n & 1U) != 0;
            const Cut cut(traffic_.topology(), std::move(inside));
            if (!effort_.spend(rater.work(cut, entering))) break;
            const auto rating = rater.exact(cut, entering, Sense::Both, best.value);
            if (rating) best = bound_of(*rating, "cut", cut);
        }
        return best;
    }

  private:
    struct MaskedClass {
        const ChunkClass* chunks;
        Mask holders, receivers;
        bool reduction;
        [[nodiscard]] bool enters(Mask set) const {
            return (receivers & set) != 0 && (reduction ? (holders & ~set) != 0 : (holders & set) == 0);
        }
    };
    struct MaskedLink {
        Mask src, dst;
        double speed;
    };

    /// The sets that something must enter, the most loaded first: where there is not the time for all, those
    /// matter most. The loads decide nothing else, so they may be rounded.
    std::vector<std::pair<double, Mask>> by_load() {
        std::vector<std::pair<double, Mask>> sets;
        const Mask all = (Mask{1} << traffic_.topology().nodes()) - 1;
        for (Mask set = 1; set < all; ++set) {
            if (!effort_.spend(classes_.size() + links_.size())) break;
            double chunks = 0, speed = 0;
            for (const MaskedClass& c : classes_) {
                if (c.enters(set)) chunks += static_cast<double>(c.chunks->count);
            }
            if (chunks == 0) continue;
            for (const MaskedLink& link : links_) {
                if ((link.src & set) == 0 && (link.dst & set) != 0) speed += link.speed;
            }
            sets.emplace_back(chunks / speed, set);
        }
        std::ranges::stable_sort(sets, std::ranges::greater{}, [](const auto& entry) { return entry.first; });
        return sets;
    }

    /// The window that a link has at the least, whichever chunks are counted: from the latest head, to the
    /// longest rest, by the longest busy time.
    void find_least_rooms() {
        const Topology& topology = traffic_.topology();
        for (std::size_t l = 0; l < links_.size(); ++l) {
            const Link& link = topology.link(LinkId(l));
            LinkWindow window{Ticks(0), Ticks(0), Ticks(1)};
            for (const MaskedClass& c : classes_) {
                const Demand demand = traffic_.demand(*c.chunks);
                const Passage& passage = traffic_.passage(*c.chunks);
                window.busy = std::max(window.busy, passage.busy[l]);
                for (const NodeId holder : demand.holders) {
                    const Ticks time = traffic_.from(*c.chunks, holder)[link.src.index()];
                    window.first = std::max(window.first, sum(traffic_.release(*c.chunks, holder), time));
                }
                for (const NodeId receiver : demand.receivers) {
                    const Ticks time = traffic_.to(*c.chunks, receiver)[link.dst.index()];
                    window.last = std::max({window.last, passage.transit[l], sum(passage.step[l], time)});
                }
            }
            least_windows_.push_back(window);
        }
    }

    /// Whether the links into the set manage all transfers by `best` even at their worst.
    [[nodiscard]] bool cannot_beat(Mask set, std::uint64_t transfers, Ticks best) const {
        std::uint64_t managed = 0;
        for (std::size_t l = 0; l < links_.size(); ++l) {
            if ((links_[l].src & set) != 0 || (links_[l].dst & set) == 0) continue;
            managed += static_cast<std::uint64_t>(least_windows_[l].sends(best));
            if (managed >= transfers) return true;
        }
        return false;
    }

    Traffic& traffic_;
    Effort effort_;
    std::vector<MaskedClass> classes_;
    std::vector<MaskedLink> links_;
    std::vector<LinkWindow> least_windows_;
};

Bound searched(Traffic& traffic, const Stop& stop) {
    Bound best{"cut", Ticks(0), {}, 0};
    Effort effort(kMostCutWork, stop);
    CutRater rater(traffic);
    std::vector<const ChunkClass*> entering;
    search_cuts(traffic, stop, [&](std::vector<bool> inside) {
        const Cut cut(traffic.topology(), std::move(inside));
        if (cut.entering.empty() ||
            !effort.spend(kRough * (traffic.classes().size() + traffic.topology().links().size()))) {
            return !effort.ended();
        }
        auto rating = rater.rough(cut, best.value);
        if (rating) best = bound_of(*rating, "cut", cut);
        if (traffic.huge()) return true;
        entering.clear();
        for (const ChunkClass& c : traffic.classes()) {
            if (must_enter(traffic.demand(c), cut.inside)) entering.push_back(&c);
        }
        const std::size_t work = rater.work(cut, entering);
        if (work > kWorkForOneCut || work > effort.left() || !effort.spend(work)) return true;
        rating = rater.exact(cut, entering, Sense::Both, best.value);
        if (rating) best = bound_of(*rating, "cut", cut);
        return true;
    });
    return best;
}

}  // namespace

Bound cut(Traffic& traffic, const Stop& stop) {
    if (traffic.classes().empty()) return {"cut", Ticks(0), {}, 0};
    const bool few = traffic.topology().nodes() <= kMostNodesToEnumerate && !traffic.huge();
    return few ? EveryCut(traffic, stop).run() : searched(traffic, stop);
}

}  // namespace tutti::bounds
