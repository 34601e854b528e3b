// Three families of bounds from one sweep over the demands.
//
// Latency: a chunk needs at least the time of the fastest way from its nearest holder to each receiver; of a
// reduction every contribution must make its way, so from the farthest holder.
//
// Ports: count what must pass through the links of one NPU. A receiver must get each chunk it lacks over its
// incoming links (of a reduction at least one arrival, that of the farthest contribution or later). If m of
// those chunks cannot be there before r, then the arrivals in [r, T] must be m at least, and a link has at
// most floor((T - r) / busy) + 1 of them. The least such T, over all r, is the bound; it counts latency and
// bandwidth together. Egress is the same, read backwards in time: what only one NPU
// holds must leave it, early enough to reach its farthest receiver.
//
// Volume: all demands together need some number of transfers over any links at all, and all links together
// manage only so many by T. A unicast chunk needs as many as its way has links, a multicast one for each
// receiver, an all-reduce over n NPUs 2(n-1) (one-way gossip).
//
// Where chunks differ in size, the smallest size stands for all.

#include "bounds/bounds.hpp"

#include "bounds/distances.hpp"

#include <algorithm>
#include <tuple>

namespace tutti::bounds {
namespace {

/// Work, in links relaxed and receivers counted, that the bounds may spend, and between two looks at the
/// clock.
constexpr std::size_t kWorkLimit = 200'000'000;
constexpr std::size_t kWorkBetweenPolls = 100'000;

/// What must pass through the links of one NPU: how many chunks by how soon, the smallest, and the first
/// release.
struct Traffic {
    std::vector<Ticks> earliest;  ///< one for each chunk, in any order
    std::optional<ChunkId> smallest;
    Ticks release = Ticks::max();
};

/// How many transfers of the chunk can end on the link in [first, last], if none can before `start` + its
/// transit.
std::uint64_t transfers_in(const Instance& instance, LinkId link, ChunkId chunk, Ticks start, Ticks first,
                           Ticks last) {
    const Ticks beta = instance.beta(link, chunk);
    const Ticks arrival = std::max(first, start + instance.alpha(link) + beta);
    if (last < arrival) return 0;
    return static_cast<std::uint64_t>((last - arrival).count() / instance.busy(link, beta).count()) + 1;
}

/// The least T by which the links manage so many transfers in [first, T].
Ticks least_time(const Instance& instance, std::span<const LinkId> links, ChunkId chunk, Ticks start,
                 Ticks first, std::uint64_t transfers) {
    const auto enough = [&](Ticks last) {
        std::uint64_t total = 0;
        for (const LinkId link : links) {
            total += transfers_in(instance, link, chunk, start, first, last);
            if (total >= transfers) return true;
        }
        return false;
    };
    // Any one link manages all of them by then.
    const LinkId link = links.front();
    const Ticks beta = instance.beta(link, chunk);
    Ticks high = std::max(first, start + instance.alpha(link) + beta) +
                 instance.busy(link, beta) * static_cast<std::int64_t>(transfers - 1);
    Ticks low = first;
    while (low < high) {
        const Ticks middle((low.count() / 2) + (high.count() / 2) + ((low.count() & high.count()) & 1));
        if (enough(middle)) {
            high = middle;
        } else {
            low = middle + Ticks(1);
        }
    }
    return high;
}

class Bounds {
  public:
    Bounds(const Instance& instance, const Stop& stop)
        : instance_(instance),
          stop_(stop),
          ingress_(instance.topology().npus()),
          egress_(instance.topology().npus()) {}

    std::vector<Bound> run() {
        for (std::size_t c = 0; c < instance_.chunks(); ++c) {
            if (!count(ChunkId(c))) break;
        }
        std::vector<Bound> bounds{latency_};
        ports(ingress_, true, bounds);
        ports(egress_, false, bounds);
        volume(bounds);
        std::ranges::stable_sort(bounds, std::ranges::greater{}, &Bound::value);
        return bounds;
    }

  private:
    using Key = std::tuple<const NodeId*, std::size_t, const NodeId*, CollectiveId, Bytes>;

    /// Adds one demand to all counts; false when the work limit or the stop has been reached.
    bool count(ChunkId chunk) {
        const Demand demand = instance_.demand(chunk);
        spent_ += demand.holders.size() + demand.receivers.size();
        if (spent_ - polled_ > kWorkBetweenPolls) {
            polled_ = spent_;
            if (spent_ > kWorkLimit || stop_.requested()) return false;
        }
        const Key key{demand.holders.data(), demand.holders.size(), demand.receivers.data(),
                      demand.collective, demand.bytes};
        if (demand.reduction) {
            if (last_ != key) measure_reduction(chunk, demand);
            count_reduction(chunk, demand);
        } else {
            if (last_ == std::nullopt || std::get<0>(*last_) != std::get<0>(key) ||
                std::get<3>(*last_) != std::get<3>(key) || std::get<4>(*last_) != std::get<4>(key)) {
                measured_ = measure(chunk, demand.holders, Direction::Forwards);
            }
            count_plain(chunk, demand);
        }
        last_ = key;
        return true;
    }

    Distances measure(ChunkId chunk, std::span<const NodeId> set, Direction direction) {
        spent_ += instance_.topology().links().size() + instance_.topology().nodes();
        return distances(instance_, chunk, set, direction);
    }

    void count_plain(ChunkId chunk, const Demand& demand) {
        const Ticks release = instance_.release(chunk);
        std::optional<NodeId> farthest;
        std::uint64_t lacking = 0;
        std::uint32_t most_links = 0;
        for (const NodeId receiver : demand.receivers) {
            const Ticks time = measured_.time[receiver.index()];
            if (time == Ticks(0)) continue;
            ++lacking;
            most_links = std::max(most_links, measured_.link_count[receiver.index()]);
            if (!farthest || time > measured_.time[farthest->index()]) farthest = receiver;
            add(ingress_[receiver.index()], release + time, chunk, release);
        }
        if (!farthest) return;
        const Ticks time = measured_.time[farthest->index()];
        if (demand.holders.size() == 1) add(egress_[demand.holders[0].index()], time, chunk, release);
        if (release + time > latency_.value) {
            latency_ = {
                "latency", release + time,
                PathCertificate{chunk, measured_.path(instance_.topology(), *farthest, Direction::Forwards),
                                release}};
        }
        add_volume(chunk, std::max<std::uint64_t>(lacking, most_links), release);
    }

    /// For a reduction: how far the farthest holder is from each receiver, and the farthest receiver from
    /// each holder.
    void measure_reduction(ChunkId chunk, const Demand& demand) {
        from_holders_.assign(instance_.topology().nodes(), Ticks(0));
        to_receivers_.assign(instance_.topology().nodes(), Ticks(0));
        for (const NodeId receiver : demand.receivers) {
            const Distances to = measure(chunk, std::span(&receiver, 1), Direction::Backwards);
            for (const NodeId holder : demand.holders) {
                const Ticks time = to.time[holder.index()];
                if (time == Ticks(0)) continue;  // what is there already waits for no release
                if (time > from_holders_[receiver.index()]) from_holders_[receiver.index()] = time;
                if (time > to_receivers_[holder.index()]) to_receivers_[holder.index()] = time;
                if (instance_.release(chunk) + time > latency_.value) {
                    latency_ = {
                        "latency", instance_.release(chunk) + time,
                        PathCertificate{chunk, to.path(instance_.topology(), holder, Direction::Backwards),
                                        instance_.release(chunk)}};
                }
            }
            if (spent_ > kWorkLimit || stop_.requested()) break;
        }
    }

    void count_reduction(ChunkId chunk, const Demand& demand) {
        const Ticks release = instance_.release(chunk);
        std::uint64_t arrivals = 0;
        std::uint64_t departures = 0;
        for (const NodeId receiver : demand.receivers) {
            if (from_holders_[receiver.index()] == Ticks(0)) continue;
            ++arrivals;
            add(ingress_[receiver.index()], release + from_holders_[receiver.index()], chunk, release);
        }
        for (const NodeId holder : demand.holders) {
            if (to_receivers_[holder.index()] == Ticks(0)) continue;
            ++departures;
            add(egress_[holder.index()], to_receivers_[holder.index()], chunk, release);
        }
        const bool all_reduce = std::ranges::equal(demand.holders, demand.receivers);
        add_volume(chunk, all_reduce ? 2 * (demand.holders.size() - 1) : std::max(arrivals, departures),
                   release);
    }

    void add(Traffic& traffic, Ticks earliest, ChunkId chunk, Ticks release) {
        traffic.earliest.push_back(earliest);
        note(traffic, chunk, release);
    }

    void add_volume(ChunkId chunk, std::uint64_t transfers, Ticks release) {
        if (transfers == 0) return;
        volume_ += transfers;
        note(all_, chunk, release);
    }

    void note(Traffic& traffic, ChunkId chunk, Ticks release) const {
        traffic.release = std::min(traffic.release, release);
        if (!traffic.smallest || instance_.demand(chunk).bytes < instance_.demand(*traffic.smallest).bytes) {
            traffic.smallest = chunk;
        }
    }

    void ports(std::vector<Traffic>& traffic, bool ingress, std::vector<Bound>& bounds) const {
        const Topology& topology = instance_.topology();
        Bound best{ingress ? "ingress" : "egress", Ticks(0), {}};
        std::size_t work = 0;
        for (std::size_t n = 0; n < traffic.size(); ++n) {
            auto& [earliest, smallest, release] = traffic[n];
            const auto links = ingress ? topology.in_links(NodeId(n)) : topology.out_links(NodeId(n));
            if (earliest.empty() || links.empty()) continue;
            work += earliest.size() * links.size();
            if (work > kWorkLimit || ((n & 15U) == 0 && stop_.requested())) break;
            std::ranges::sort(earliest, std::ranges::greater{});
            for (std::size_t i = 0; i < earliest.size(); ++i) {
                if (i + 1 < earliest.size() && earliest[i + 1] == earliest[i]) continue;
                const std::uint64_t transfers = i + 1;
                // Egress is counted back from the end, so its releases come at the far end.
                Ticks value = least_time(instance_, links, *smallest, ingress ? release : Ticks(0),
                                         earliest[i], transfers);
                if (!ingress) value += release;
                if (value <= best.value) continue;
                best.value = value;
                best.certificate = PortCertificate{NodeId(n), ingress, transfers, earliest[i],
                                                   instance_.demand(*smallest).bytes};
            }
        }
        bounds.push_back(best);
    }

    void volume(std::vector<Bound>& bounds) const {
        Bound bound{"volume", Ticks(0), {}};
        if (volume_ > 0) {
            std::vector<LinkId> links;
            for (std::size_t l = 0; l < instance_.topology().links().size(); ++l) links.emplace_back(l);
            bound.value = least_time(instance_, links, *all_.smallest, all_.release, all_.release, volume_);
            bound.certificate = VolumeCertificate{volume_, instance_.demand(*all_.smallest).bytes};
        }
        bounds.push_back(bound);
    }

    const Instance& instance_;
    const Stop& stop_;
    std::vector<Traffic> ingress_, egress_;
    Traffic all_;
    std::uint64_t volume_ = 0;
    Bound latency_{"latency", Ticks(0), {}};
    std::optional<Key> last_;
    Distances measured_;
    std::vector<Ticks> from_holders_, to_receivers_;
    std::size_t spent_ = 0;
    std::size_t polled_ = 0;  ///< what was spent when the stop was last asked
};

}  // namespace

std::vector<Bound> simple_bounds(const Instance& instance, const Stop& stop) {
    return Bounds(instance, stop).run();
}

}  // namespace tutti::bounds
