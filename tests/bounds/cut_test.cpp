#include "bounds/bounds.hpp"
#include "bounds/max_flow.hpp"
#include "core/generators/ring.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/random_instance.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>

using namespace tutti;

namespace {

Bound bound_of(const Instance& instance, std::string_view kind) {
    for (const Bound& bound : bounds::all_bounds(instance)) {
        if (bound.kind == kind) return bound;
    }
    FAIL("no such bound");
    return {};
}

/// Two cliques of so many NPUs, joined by one link each way between the first NPUs of both.
test::Net two_cliques(std::uint32_t npus, std::int64_t bridge_beta) {
    test::Net net(2 * npus);
    for (std::uint32_t side = 0; side < 2; ++side) {
        for (std::uint32_t a = 0; a < npus; ++a) {
            for (std::uint32_t b = a + 1; b < npus; ++b) net.both(side * npus + a, side * npus + b);
        }
    }
    net.both(0, npus, 0, bridge_beta);
    return net;
}

/// The formula of docs/bounds.md for CutCertificate, said again as plainly as possible: all sets, all chunks
/// one by one, T counted up. For tiny instances with small times.
class PlainCuts {
  public:
    static constexpr std::int64_t kInfinite = 1'000'000;

    explicit PlainCuts(const Instance& instance) : instance_(instance), topology_(instance.topology()) {}

    [[nodiscard]] std::int64_t most() {
        std::int64_t most = 0;
        for (std::uint32_t set = 1; set + 1 < 1U << topology_.nodes(); ++set)
            most = std::max(most, most_of(set));
        return most;
    }

  private:
    struct Entering {
        std::int64_t bytes = 0, soonest = -1, remaining = -1;
        std::vector<std::int64_t> head, rest;
    };

    [[nodiscard]] std::int64_t transit(std::size_t l, ChunkId chunk) const {
        return (instance_.alpha(LinkId(l)) + instance_.beta(LinkId(l), chunk)).count();
    }
    [[nodiscard]] std::int64_t step(std::size_t l, ChunkId chunk) const {
        return topology_.is_cut_through(topology_.link(LinkId(l)).dst) ? instance_.alpha(LinkId(l)).count()
                                                                       : transit(l, chunk);
    }
    [[nodiscard]] bool open(std::size_t l, ChunkId chunk) const {
        const Link& link = topology_.link(LinkId(l));
        const CollectiveId collective = instance_.demand(chunk).collective;
        return instance_.may_carry(link.src, collective) && instance_.may_carry(link.dst, collective);
    }

    /// D(c: from → v) by relaxing every link as often as there are nodes.
    /// With `released`, from each holder's release on.
    [[nodiscard]] std::vector<std::int64_t> distances(ChunkId chunk, const std::vector<NodeId>& from,
                                                      bool released = false) const {
        std::vector<std::int64_t> times(topology_.nodes(), kInfinite);
        for (const NodeId node : from)
            times[node.index()] = released ? instance_.release(chunk, node).count() : 0;
        for (std::size_t round = 0; round < topology_.nodes(); ++round) {
            for (std::size_t l = 0; l < topology_.links().size(); ++l) {
                const Link& link = topology_.link(LinkId(l));
                if (!open(l, chunk) || times[link.src.index()] == kInfinite) continue;
                times[link.dst.index()] =
                    std::min(times[link.dst.index()], times[link.src.index()] + step(l, chunk));
            }
        }
        return times;
    }

    [[nodiscard]] static bool in(std::uint32_t set, NodeId node) { return (set >> node.value() & 1U) != 0; }

    [[nodiscard]] Entering entering(std::uint32_t set, ChunkId chunk,
                                    const std::vector<std::size_t>& links) const {
        const Demand demand = instance_.demand(chunk);
        Entering result;
        result.bytes = demand.bytes.count;
        std::vector<std::vector<NodeId>> sources;
        if (demand.reduction) {
            for (const NodeId holder : demand.holders) {
                if (!in(set, holder)) sources.push_back({holder});
            }
        } else {
            sources.emplace_back(demand.holders.begin(), demand.holders.end());
        }
        for (const auto& source : sources) {
            const auto times = distances(chunk, source, true);
            std::vector<std::int64_t> head;
            std::int64_t soonest = kInfinite;
            for (const std::size_t l : links) {
                const std::int64_t time = times[topology_.link(LinkId(l)).src.index()];
                head.push_back(open(l, chunk) && time < kInfinite ? time : kInfinite);
                if (head.back() < kInfinite) soonest = std::min(soonest, head.back() + transit(l, chunk));
            }
            if (soonest > result.soonest) {
                result.soonest = soonest;
                result.head = head;
            }
        }
        for (const NodeId receiver : demand.receivers) {
            if (!in(set, receiver)) continue;
            std::vector<std::int64_t> rest;
            for (const std::size_t l : links) {
                const auto times = distances(chunk, {topology_.link(LinkId(l)).dst});
                const std::int64_t time = times[receiver.index()];
                rest.push_back(open(l, chunk) && time < kInfinite
                                   ? std::max(transit(l, chunk), step(l, chunk) + time)
                                   : kInfinite);
            }
            const std::int64_t remaining = rest.empty() ? kInfinite : *std::ranges::min_element(rest);
            if (remaining > result.remaining) {
                result.remaining = remaining;
                result.rest = rest;
            }
        }
        return result;
    }

    [[nodiscard]] std::int64_t most_of(std::uint32_t set) const {
        std::vector<std::size_t> links;
        for (std::size_t l = 0; l < topology_.links().size(); ++l) {
            const Link& link = topology_.link(LinkId(l));
            if (!in(set, link.src) && in(set, link.dst)) links.push_back(l);
        }
        std::vector<Entering> all;
        for (std::size_t c = 0; c < instance_.chunks(); ++c) {
            const Demand demand = instance_.demand(ChunkId(c));
            const auto inside = [&](NodeId node) { return in(set, node); };
            const auto holders = std::ranges::count_if(demand.holders, inside);
            const bool must = demand.reduction ? holders < static_cast<std::ptrdiff_t>(demand.holders.size())
                                               : holders == 0;
            if (must && std::ranges::any_of(demand.receivers, inside))
                all.push_back(entering(set, ChunkId(c), links));
        }
        std::int64_t most = 0;
        for (const Entering& least : all) {
            for (const Entering& size : all) {
                most = std::max(most, value(all, links, size.bytes, least.soonest, false));
                most = std::max(most, value(all, links, size.bytes, least.remaining, true));
            }
        }
        return most;
    }

    [[nodiscard]] std::int64_t value(const std::vector<Entering>& all, const std::vector<std::size_t>& links,
                                     std::int64_t bytes, std::int64_t earliest, bool backwards) const {
        std::vector<std::int64_t> first(links.size(), kInfinite), last(links.size(), kInfinite);
        std::int64_t transfers = 0;
        for (const Entering& c : all) {
            if (c.bytes < bytes || (backwards ? c.remaining : c.soonest) < earliest) continue;
            ++transfers;
            for (std::size_t e = 0; e < links.size(); ++e) {
                first[e] = std::min(first[e], c.head[e]);
                last[e] = std::min(last[e], c.rest[e]);
            }
        }
        for (std::int64_t end = 0;; ++end) {
            std::int64_t sends = 0;
            for (std::size_t e = 0; e < links.size(); ++e) {
                const LinkId id(links[e]);
                const std::int64_t busy = instance_.busy(id, topology_.beta(id, Bytes{bytes})).count();
                if (end >= first[e] + last[e]) sends += (end - first[e] - last[e]) / busy + 1;
            }
            if (sends >= transfers) return end;
        }
    }

    const Instance& instance_;
    const Topology& topology_;
};

}  // namespace

TEST_CASE("of few nodes the cut bound is the most that any cut proves") {
    const test::InstanceOptions options{.max_npus = 4,
                                        .max_switches = 1,
                                        .max_collectives = 2,
                                        .max_chunks = 2,
                                        .max_ticks = 3,
                                        .group_forwarding = true,
                                        .physical = false};
    test::for_seeds(test::cases(400), [&](Rng& rng, std::uint64_t) {
        const Instance instance(test::random_instance(rng, options));
        if (!test::is_feasible(instance) || instance.chunks() > 20) return;
        CHECK(bound_of(instance, "cut").value == Ticks(PlainCuts(instance).most()));
    });
}

TEST_CASE("a thin bridge between cliques is the worst cut, found by enumeration and by maximum flow") {
    for (const std::uint32_t npus : {4U, 12U}) {  // 8 nodes, and 24
        CAPTURE(npus);
        const Instance instance =
            test::on_all(two_cliques(npus, 3), {test::collective(CollectiveKind::AllGather)});
        const Bound bound = bound_of(instance, "cut");
        // All chunks of one side over one link of beta 3, and the last one goes one link on.
        CHECK(bound.value == Ticks(3 * npus + 1));
        const auto& cut = std::get<CutCertificate>(bound.certificate);
        CHECK(cut.inside.size() == npus);
        CHECK(cut.transfers == npus);
        CHECK(bound_of(instance, "ingress").value < bound.value);
    }
}

TEST_CASE("a bad cut that is neither block nor ball is found by maximum flow") {
    // Two rings of 12, each NPU with a slow link to its partner in the other ring, so that every ball spreads
    // over both; numbered so that no block is a ring.
    const auto number = [](std::size_t ring, std::size_t i) { return (ring * 12 + i % 12) * 7 % 24; };
    test::Net net(24);
    for (std::size_t i = 0; i < 12; ++i) {
        for (std::size_t ring = 0; ring < 2; ++ring) net.both(number(ring, i), number(ring, i + 1));
        net.both(number(0, i), number(1, i), 0, 30);
    }
    Collective four = test::collective(CollectiveKind::AllGather);
    four.chunks = 4;
    const Instance gather = test::on_all(net, {four});
    const Bound bound = bound_of(gather, "cut");
    CHECK(bound.value >= Ticks(4 * 30));
    CHECK(std::get<CutCertificate>(bound.certificate).inside.size() == 12);
    CHECK(bound_of(gather, "ingress").value < Ticks(100));
}

TEST_CASE("a reduction crosses a bridge as a broadcast does") {
    const Instance instance =
        test::on_all(two_cliques(12, 3), {test::collective(CollectiveKind::ReduceScatter)});
    CHECK(bound_of(instance, "cut").value >= Ticks(3 * 12));
}

TEST_CASE("on a symmetric ring equal lengths prove all that there is") {
    InstanceParts parts;
    parts.topology = generators::ring(8, {Ticks(0), Ticks(1), {}});
    parts.groups = {{"all", test::nodes({0, 1, 2, 3, 4, 5, 6, 7})}};
    Collective pairs = test::collective(CollectiveKind::AllToAll);
    pairs.chunks = 2;
    parts.collectives = {pairs};
    const Bound bound = bound_of(Instance(parts), "flow");
    // 2 * 8 * (2 * (1 + 2 + 3) + 4) transfers over 16 links.
    CHECK(bound.value == Ticks(16));
    CHECK(std::get<LengthsCertificate>(bound.certificate).length.size() == 16);
}

TEST_CASE("lengths see a slow detour that volume does not") {
    // 0 and 1 are joined by a slow link; idle fast links elsewhere do not help.
    test::Net net(4);
    net.both(0, 1, 0, 10).both(1, 2).both(2, 3);
    Collective pairs = test::collective(CollectiveKind::AllToAll);
    const Instance instance = test::on_all(net, {pairs});
    CHECK(bound_of(instance, "flow").value > bound_of(instance, "volume").value);
}

TEST_CASE("bounds that are stopped end soon and are still valid") {
    const std::atomic<bool> stopped = true;
    const Instance instance = test::on_all(two_cliques(12, 3), {test::collective(CollectiveKind::AllToAll)});
    const auto bounds = bounds::all_bounds(instance, Stop(std::nullopt, &stopped));
    CHECK(bounds.size() == 10);
    for (const Bound& bound : bounds) CHECK(bound.value <= bound_of(instance, bound.kind).value);
}

TEST_CASE("a maximum flow is as large as the minimum cut that it names") {
    test::for_seeds(test::cases(300), [](Rng& rng, std::uint64_t) {
        const std::size_t nodes = 2 + rng.below(6);
        bounds::MaxFlow flow(nodes);
        std::vector<std::vector<std::int64_t>> capacity(nodes, std::vector<std::int64_t>(nodes, 0));
        for (std::size_t i = 0; i < 3 * nodes; ++i) {
            const std::size_t a = rng.below(nodes), b = rng.below(nodes);
            if (a == b) continue;
            const auto size = static_cast<std::int64_t>(rng.below(10));
            capacity[a][b] += size;
            (void)flow.add_arc(a, b, size);
        }
        const std::int64_t found = flow.flow(0, 1);
        std::int64_t least = INT64_MAX;
        for (std::uint32_t set = 0; set < 1U << nodes; ++set) {
            if ((set & 1U) != 0 || (set & 2U) == 0) continue;
            std::int64_t size = 0;
            for (std::size_t a = 0; a < nodes; ++a) {
                for (std::size_t b = 0; b < nodes; ++b) {
                    if ((set >> a & 1U) == 0 && (set >> b & 1U) != 0) size += capacity[a][b];
                }
            }
            least = std::min(least, size);
        }
        CHECK(found == least);
        std::int64_t named = 0;
        for (std::size_t a = 0; a < nodes; ++a) {
            for (std::size_t b = 0; b < nodes; ++b) {
                if (!flow.cut_off(a) && flow.cut_off(b)) named += capacity[a][b];
            }
        }
        CHECK(named == found);
    });
}
