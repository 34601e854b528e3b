// Ingress and egress: the cuts around one NPU. What it lacks must come over its incoming links; what it alone
// has (of a reduction: its contribution) must leave over its outgoing ones, early enough for the farthest
// receiver. Counting by earliest arrival, or by remaining time, joins latency and bandwidth in one bound.
//
// First the transfers of every NPU are only counted, set by set: all-gathers name the same receivers for
// every chunk, so that this is linear in what the instance says. Then, from the most loaded NPU on, as many
// as the work limit allows are rated with the times of their chunks: all NPUs of a network of some 128, a few
// of a large one, where they mostly are as alike as the corners of a mesh.

#include "bounds/families.hpp"
#include "bounds/port_rating.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace tutti::bounds {
namespace {

constexpr std::size_t kCountLimit = 400'000'000;
constexpr std::size_t kRatingLimit = 400'000;

/// What must pass through a port, at least as many, none released or smaller than that.
struct Count {
    std::uint64_t transfers = 0;
    Ticks release = kNever;
    Bytes bytes{INT64_MAX};

    void add(std::uint64_t chunks, Ticks first, Bytes least) {
        transfers += chunks;
        release = std::min(release, first);
        bytes = std::min(bytes, least);
    }
};

class Ports {
  public:
    Ports(Traffic& traffic, Port port, std::string kind, const Stop& stop)
        : traffic_(traffic),
          topology_(traffic.topology()),
          port_(port),
          kind_(std::move(kind)),
          effort_(kCountLimit, stop) {}

    Bound run() {
        best_ = {kind_, Ticks(0), {}, 0};
        if (traffic_.classes().empty() || !count()) return best_;
        order_by_load();
        look_at_counts();
        look_at_times();
        return best_;
    }

  private:
    /// The NPUs that the chunks must enter or leave, and those at the other end.
    [[nodiscard]] std::span<const NodeId> here(const Demand& demand) const {
        return port_ == Port::Ingress ? demand.receivers : demand.holders;
    }

    /// Adds up the classes that name the same NPUs here before it goes through these; then takes away what
    /// some of them need not pass.
    bool count() {
        counts_.assign(topology_.npus(), {});
        std::vector<std::pair<NodeId, std::uint64_t>> spared;
        std::span<const NodeId> set;
        Count of_set;
        // Of the NPU itself, where that is what must leave it, and releases differ.
        std::function<Ticks(NodeId)> own_release;
        const auto close = [&] {
            if (of_set.transfers == 0) return true;
            if (!effort_.spend(set.size())) return false;
            for (const NodeId npu : set) {
                counts_[npu.index()].add(of_set.transfers, own_release ? own_release(npu) : of_set.release,
                                         of_set.bytes);
            }
            of_set = {};
            return true;
        };
        for (const ChunkClass& c : traffic_.classes()) {
            const Demand demand = traffic_.demand(c);
            const bool only = demand.holders.size() == 1;
            if (port_ == Port::Egress && !demand.reduction && !only) continue;
            if (here(demand).data() != set.data() || here(demand).size() != set.size()) {
                if (!close()) return false;
                set = here(demand);
                own_release = nullptr;
                if (port_ == Port::Egress && traffic_.instance().is_staggered(c.chunk))
                    own_release = [&](NodeId npu) { return traffic_.release(c, npu); };
            }
            of_set.add(c.count, traffic_.release(c), demand.bytes);
            if (port_ == Port::Ingress && (!demand.reduction || only)) {
                if (!effort_.spend(demand.holders.size())) return false;
                for (const NodeId holder : demand.holders) {
                    if (std::ranges::binary_search(set, holder)) spared.emplace_back(holder, c.count);
                }
            }
            if (port_ == Port::Egress && demand.receivers.size() == 1 &&
                std::ranges::binary_search(set, demand.receivers[0])) {
                spared.emplace_back(demand.receivers[0], c.count);
            }
        }
        if (!close()) return false;
        for (const auto& [npu, chunks] : spared) counts_[npu.index()].transfers -= chunks;
        return true;
    }

    [[nodiscard]] std::span<const LinkId> links(NodeId npu) const {
        return port_ == Port::Ingress ? topology_.in_links(npu) : topology_.out_links(npu);
    }

    /// The loads only choose where to look, so that they may be rounded.
    void order_by_load() {
        std::vector<double> load(topology_.npus(), 0);
        const auto& busy = traffic_.smallest().busy;
        for (std::size_t n = 0; n < load.size(); ++n) {
            if (counts_[n].transfers == 0) continue;
            double speed = 0;
            for (const LinkId id : links(NodeId(n)))
                speed += 1 / static_cast<double>(busy[id.index()].count());
            load[n] = static_cast<double>(counts_[n].transfers) / std::max(speed, 1e-300);
            order_.push_back(n);
        }
        std::ranges::stable_sort(order_, std::ranges::greater{}, [&](std::size_t n) { return load[n]; });
    }

    void look_at_counts() {
        std::vector<LinkWindow> windows;
        const Passage& smallest = traffic_.smallest();
        for (const std::size_t n : order_) {
            const Count& count = counts_[n];
            windows.clear();
            for (const LinkId id : links(NodeId(n))) {
                if (count.bytes == smallest.bytes) {
                    windows.push_back(
                        {count.release, smallest.transit[id.index()], smallest.busy[id.index()]});
                    continue;
                }
                const Ticks beta = topology_.beta(id, count.bytes);
                windows.push_back({count.release, traffic_.instance().alpha(id) + beta,
                                   traffic_.instance().busy(id, beta)});
            }
            if (enough(windows, Wide{count.transfers}, best_.value)) continue;
            const auto end = least_end(windows, Wide{count.transfers});
            if (end) accept(NodeId(n), {*end, port_ == Port::Egress, count.transfers, Ticks(0), count.bytes});
        }
    }

    void look_at_times() {
        PortRater rater(traffic_, port_);
        const auto classes_at = [&](std::size_t n) {
            return static_cast<std::size_t>(
                std::min<std::uint64_t>(traffic_.classes().size(), counts_[n].transfers));
        };
        std::size_t work = 0, few = 0;
        while (few < order_.size()) {
            work += rater.work(NodeId(order_[few]), classes_at(order_[few]));
            if (few > 0 && work > kRatingLimit) break;
            ++few;
        }
        order_.resize(few);
        const auto passing = passing_classes();
        for (std::size_t i = 0; i < few; ++i) {
            if (!effort_.spend(rater.work(NodeId(order_[i]), passing[i].size()))) return;
            const auto rating = rater.exact(NodeId(order_[i]), passing[i], best_.value);
            if (rating) accept(NodeId(order_[i]), *rating);
        }
    }

    /// The classes that must pass through the port of each NPU of order_.
    [[nodiscard]] std::vector<std::vector<const ChunkClass*>> passing_classes() const {
        constexpr std::uint32_t kNone = UINT32_MAX;
        std::vector<std::uint32_t> place(topology_.npus(), kNone);
        for (std::size_t i = 0; i < order_.size(); ++i) place[order_[i]] = static_cast<std::uint32_t>(i);
        std::vector<std::vector<const ChunkClass*>> passing(order_.size());
        for (const ChunkClass& c : traffic_.classes()) {
            const Demand demand = traffic_.demand(c);
            const auto look = [&](std::size_t n) {
                if (must_pass(demand, port_, NodeId(n))) passing[place[n]].push_back(&c);
            };
            if (here(demand).size() < order_.size()) {
                for (const NodeId npu : here(demand)) {
                    if (place[npu.index()] != kNone) look(npu.index());
                }
            } else {
                for (const std::size_t n : order_) look(n);
            }
        }
        return passing;
    }

    void accept(NodeId npu, const Rating& rating) {
        const bool egress = port_ == Port::Egress;
        best_ = {
            kind_, rating.value,
            CutCertificate{{npu}, egress, rating.backwards, rating.transfers, rating.earliest, rating.bytes},
            0};
    }

    Traffic& traffic_;
    const Topology& topology_;
    Port port_;
    std::string kind_;
    Effort effort_;
    std::vector<Count> counts_;       ///< per NPU
    std::vector<std::size_t> order_;  ///< NPUs, the most loaded first
    Bound best_;
};

}  // namespace

Bound ingress(Traffic& traffic, const Stop& stop) {
    return Ports(traffic, Port::Ingress, "ingress", stop).run();
}
Bound egress(Traffic& traffic, const Stop& stop) {
    return Ports(traffic, Port::Egress, "egress", stop).run();
}

}  // namespace tutti::bounds
