// Where the NPUs of a network belong together. Most bounds through switches ask what crosses the border of a
// node, a leaf or a group, and such parts show in times and speeds: the time of a message from one NPU to
// another through switches only takes few values in a built network, and joining all NPUs within each value
// gives one partition after the other (single linkage; Prim's algorithm finds the values at which parts
// merge). Links that are no slower than some beta join NPUs and switches too: nodes with a fast switch
// inside.
//
// A switch is on the side of a part if all NPUs nearest to it, in links, are of that part.

#include "bounds/parts.hpp"

#include "bounds/paced_paths.hpp"

#include <algorithm>
#include <numeric>

namespace tutti::bounds {
namespace {

constexpr std::size_t kMostMessageWork = 20'000'000;  ///< links relaxed for the times of all messages
constexpr std::size_t kMostThresholds = 8;            ///< of times, and of betas
constexpr std::size_t kMostSuspects = 3;              ///< per partition and direction
constexpr std::size_t kMostCounting = 20'000'000;     ///< holders and receivers looked at
constexpr std::uint32_t kMixed = UINT32_MAX, kUnknown = UINT32_MAX - 1;

class Joined {
  public:
    explicit Joined(std::size_t size) : up_(size) { std::iota(up_.begin(), up_.end(), std::size_t{0}); }
    std::size_t root(std::size_t i) {
        while (up_[i] != i) i = up_[i] = up_[up_[i]];
        return i;
    }
    void join(std::size_t a, std::size_t b) { up_[root(a)] = root(b); }

    Partition partition(std::size_t npus) {
        Partition result;
        std::vector<std::uint32_t> number(up_.size(), kUnknown);
        for (std::size_t n = 0; n < npus; ++n) {
            std::uint32_t& of_root = number[root(n)];
            if (of_root == kUnknown) of_root = result.parts++;
            result.part.push_back(of_root);
        }
        return result;
    }

  private:
    std::vector<std::size_t> up_;
};

/// At most kMostThresholds of them, spread evenly.
std::vector<Ticks> thinned(std::vector<Ticks> values) {
    std::ranges::sort(values);
    values.erase(std::ranges::unique(values).begin(), values.end());
    if (values.size() <= kMostThresholds) return values;
    std::vector<Ticks> few;
    for (std::size_t i = 0; i < kMostThresholds; ++i)
        few.push_back(values[i * (values.size() - 1) / (kMostThresholds - 1)]);
    return few;
}

class NaturalPartitions {
  public:
    explicit NaturalPartitions(const Traffic& traffic) : traffic_(traffic), topology_(traffic.topology()) {}

    std::vector<Partition> run(const Stop& stop) {
        by_first_switch();
        by_links(traffic_.smallest().busy);
        by_links(traffic_.smallest().transit);
        const PacedNetwork paced(traffic_.instance(), traffic_.smallest().bytes);
        if (topology_.npus() * paced.work() <= kMostMessageWork) by_messages(paced, stop);
        return std::move(found_);
    }

  private:
    void add(Partition partition) {
        if (partition.parts < 2 || partition.parts == topology_.npus()) return;
        if (std::ranges::find(found_, partition) == found_.end()) found_.push_back(std::move(partition));
    }

    /// NPUs whose only switch is the same.
    void by_first_switch() {
        Joined joined(topology_.nodes());
        for (std::size_t n = 0; n < topology_.npus(); ++n) {
            const auto links = topology_.out_links(NodeId(n));
            if (links.empty()) continue;
            const NodeId first = topology_.link(links.front()).dst;
            const bool only =
                std::ranges::all_of(links, [&](LinkId id) { return topology_.link(id).dst == first; });
            if (only && topology_.is_switch(first)) joined.join(n, first.index());
        }
        add(joined.partition(topology_.npus()));
    }

    void by_links(const std::vector<Ticks>& time) {
        for (const Ticks most : thinned(time)) {
            Joined joined(topology_.nodes());
            for (std::size_t l = 0; l < time.size(); ++l) {
                const Link& link = topology_.link(LinkId(l));
                if (time[l] <= most) joined.join(link.src.index(), link.dst.index());
            }
            add(joined.partition(topology_.npus()));
        }
    }

    void by_messages(const PacedNetwork& paced, const Stop& stop) {
        const std::size_t npus = topology_.npus();
        std::vector<Ticks> time(npus * npus, kNever);
        for (std::size_t n = 0; n < npus; ++n) {
            if (stop.requested()) return;
            const auto times = paced.times({{NodeId(n), Ticks(0)}}, Direction::Forwards,
                                           [&](NodeId node) { return topology_.is_switch(node); });
            for (std::size_t to = 0; to < npus; ++to) {
                for (const LinkId id : topology_.in_links(NodeId(to))) {
                    Ticks& least = time[std::min(n, to) * npus + std::max(n, to)];
                    least = std::min(least, paced.at_end(times, id, Direction::Forwards).time);
                }
            }
        }
        const auto edges = spanning_tree(time);
        std::vector<Ticks> values;
        for (const Edge& edge : edges) values.push_back(edge.time);
        for (const Ticks most : thinned(values)) {
            Joined joined(npus);
            for (const Edge& edge : edges) {
                if (edge.time <= most && edge.time != kNever) joined.join(edge.a, edge.b);
            }
            add(joined.partition(npus));
        }
    }

    struct Edge {
        std::size_t a, b;
        Ticks time;
    };

    /// Prim's algorithm on the complete graph.
    [[nodiscard]] std::vector<Edge> spanning_tree(const std::vector<Ticks>& time) const {
        const std::size_t npus = topology_.npus();
        std::vector<Edge> nearest(npus, Edge{0, 0, kNever}), tree;
        std::vector<bool> in(npus, false);
        std::size_t last = 0;
        for (std::size_t round = 1; round < npus; ++round) {
            in[last] = true;
            std::size_t next = npus;
            for (std::size_t n = 0; n < npus; ++n) {
                if (in[n]) continue;
                const Ticks here = time[std::min(last, n) * npus + std::max(last, n)];
                if (here < nearest[n].time) nearest[n] = {last, n, here};
                if (next == npus || nearest[n].time < nearest[next].time) next = n;
            }
            tree.push_back({nearest[next].a, next, nearest[next].time});
            last = next;
        }
        return tree;
    }

    const Traffic& traffic_;
    const Topology& topology_;
    std::vector<Partition> found_;
};

std::vector<bool> side(const std::vector<std::uint32_t>& part_of_node, std::uint32_t part) {
    std::vector<bool> inside;
    for (const std::uint32_t own : part_of_node) inside.push_back(own == part);
    return inside;
}

/// How many chunks must enter and leave each part, over how much speed.
class Loads {
  public:
    Loads(const Traffic& traffic, const Partition& partition, const std::vector<std::uint32_t>& part_of_node)
        : in(partition.parts, 0),
          out(partition.parts, 0),
          traffic_(traffic),
          partition_(partition),
          held_(partition.parts, 0),
          wanted_(partition.parts, 0) {
        std::vector<double> speed_in(in.size(), 0), speed_out(in.size(), 0);
        const Topology& topology = traffic.topology();
        for (std::size_t l = 0; l < topology.links().size(); ++l) {
            const std::uint32_t from = part_of_node[topology.link(LinkId(l)).src.index()];
            const std::uint32_t to = part_of_node[topology.link(LinkId(l)).dst.index()];
            if (from == to) continue;
            const double speed = 1 / static_cast<double>(traffic.smallest().busy[l].count());
            if (from < partition.parts) speed_out[from] += speed;
            if (to < partition.parts) speed_in[to] += speed;
        }
        for (const ChunkClass& c : traffic.classes()) {
            if (!count(c)) break;
        }
        for (std::size_t p = 0; p < in.size(); ++p) {
            in[p] = speed_in[p] > 0 ? in[p] / speed_in[p] : 0;
            out[p] = speed_out[p] > 0 ? out[p] / speed_out[p] : 0;
        }
    }
    std::vector<double> in, out;

  private:
    bool count(const ChunkClass& c) {
        const Demand demand = traffic_.demand(c);
        work_ += demand.holders.size() + demand.receivers.size();
        if (work_ > kMostCounting) return false;
        ++stamp_;
        std::size_t holder_parts = 0, receiver_parts = 0;
        for (const NodeId node : demand.holders) holder_parts += mark(held_, node);
        for (const NodeId node : demand.receivers) receiver_parts += mark(wanted_, node);
        const auto chunks = static_cast<double>(c.count);
        for (const NodeId node : demand.receivers) {
            const std::uint32_t p = partition_.part[node.index()];
            if (wanted_[p] != stamp_) continue;
            const bool here = held_[p] == stamp_;
            if (demand.reduction ? holder_parts > 1 || !here : !here) in[p] += chunks;
            wanted_[p] = stamp_ + kSeen;
        }
        for (const NodeId node : demand.holders) {
            const std::uint32_t p = partition_.part[node.index()];
            if (held_[p] != stamp_) continue;
            held_[p] = 0;
            const bool here = wanted_[p] == stamp_ + kSeen;
            const bool alone = demand.reduction || holder_parts == 1;
            if (alone && (receiver_parts > 1 || !here)) out[p] += chunks;
        }
        return true;
    }
    std::size_t mark(std::vector<std::uint64_t>& marks, NodeId node) const {
        std::uint64_t& own = marks[partition_.part[node.index()]];
        if (own == stamp_) return 0;
        own = stamp_;
        return 1;
    }

    static constexpr std::uint64_t kSeen = std::uint64_t{1} << 40;
    const Traffic& traffic_;
    const Partition& partition_;
    std::vector<std::uint64_t> held_, wanted_;  ///< per part: the stamp of the class that was seen last
    std::uint64_t stamp_ = 0;
    std::size_t work_ = 0;
};

/// The parts of the largest loads.
std::vector<std::uint32_t> worst(const std::vector<double>& load) {
    std::vector<std::uint32_t> order(load.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::uint32_t p) { return load[p]; });
    std::vector<std::uint32_t> few;
    for (const std::uint32_t p : order) {
        if (load[p] > 0 && few.size() < kMostSuspects) few.push_back(p);
    }
    return few;
}

}  // namespace

std::vector<Partition> natural_partitions(const Traffic& traffic, const Stop& stop) {
    if (traffic.classes().empty() || traffic.topology().links().empty()) return {};
    return NaturalPartitions(traffic).run(stop);
}

std::vector<std::uint32_t> parts_of_nodes(const Topology& topology, const Partition& partition) {
    std::vector<std::uint32_t> part(partition.part);
    part.resize(topology.nodes(), kUnknown);
    std::vector<std::uint32_t> level(topology.nodes(), UINT32_MAX);
    std::vector<NodeId> queue;
    for (std::size_t n = 0; n < topology.npus(); ++n) {
        level[n] = 0;
        queue.emplace_back(n);
    }
    for (std::size_t next = 0; next < queue.size(); ++next) {
        const NodeId node = queue[next];
        const auto look = [&](NodeId to) {
            const std::size_t t = to.index();
            if (level[t] == UINT32_MAX) {
                level[t] = level[node.index()] + 1;
                queue.push_back(to);
            }
            if (level[t] != level[node.index()] + 1 || part[t] == part[node.index()]) return;
            part[t] = part[t] == kUnknown ? part[node.index()] : kMixed;
        };
        for (const LinkId id : topology.out_links(node)) look(topology.link(id).dst);
        for (const LinkId id : topology.in_links(node)) look(topology.link(id).src);
    }
    return part;
}

std::vector<bool> side_of(const Topology& topology, const Partition& partition, std::uint32_t part) {
    return side(parts_of_nodes(topology, partition), part);
}

Suspects suspects(const Traffic& traffic, const Stop& stop) {
    Suspects found;
    for (const Partition& partition : natural_partitions(traffic, stop)) {
        const auto part_of_node = parts_of_nodes(traffic.topology(), partition);
        const Loads loads(traffic, partition, part_of_node);
        for (const std::uint32_t part : worst(loads.in)) found.entered.push_back(side(part_of_node, part));
        for (const std::uint32_t part : worst(loads.out)) found.left.push_back(side(part_of_node, part));
    }
    return found;
}

}  // namespace tutti::bounds
