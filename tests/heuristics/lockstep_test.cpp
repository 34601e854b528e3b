// The lockstep engine on instances small enough for the verifier: that its schedules are valid and where they
// are optimal.

#include "heuristics/lockstep/lockstep.hpp"
#include "core/generators/hypercube.hpp"
#include "core/generators/mesh_torus.hpp"
#include "core/generators/ring.hpp"
#include "core/topology_ops.hpp"
#include "tests/support/builders.hpp"
#include "verify/schedule_verifier.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>

using namespace tutti;

namespace {

using Dims = std::vector<std::uint64_t>;

std::vector<Wire> wires(std::int64_t alpha, std::int64_t beta) { return {{Ticks(alpha), Ticks(beta), {}}}; }

Instance gather_on(TopologyParts parts, std::uint64_t chunks = 1) {
    InstanceParts whole;
    whole.name = "lockstep";
    whole.groups = {{"all", {}}};
    for (std::size_t n = 0; n < parts.npus; ++n) whole.groups[0].members.emplace_back(n);
    whole.topology = std::move(parts);
    Collective collective = test::collective(CollectiveKind::AllGather);
    collective.chunks = chunks;
    whole.collectives = {collective};
    return Instance(std::move(whole));
}

/// Hands on what another source gives, and counts.
class Counted final : public SendSource {
  public:
    explicit Counted(SendSource& source) : source_(source) {}
    std::span<const Send> next() override {
        const auto sends = source_.next();
        count_ += sends.size();
        return sends;
    }
    [[nodiscard]] Ticks makespan() const override { return source_.makespan(); }
    [[nodiscard]] std::uint64_t position(std::size_t i) const override { return source_.position(i); }
    [[nodiscard]] std::uint64_t count() const { return count_; }

  private:
    SendSource& source_;
    std::uint64_t count_ = 0;
};

/// Plays the schedule to the verifier. Returns the makespan.
Ticks checked_makespan(const Instance& instance, std::uint64_t seed = 1) {
    REQUIRE(heuristics::fits_lockstep(instance));
    const Stop stop;
    heuristics::LockstepGather gather(instance, seed, stop);
    Counted counted(gather);
    const Verdict verdict = verify::verify(instance, counted);
    CHECK(gather.is_complete());
    for (const Violation& violation : verdict.violations) FAIL_CHECK(violation.message);
    std::uint64_t wanted = 0;
    for (std::size_t c = 0; c < instance.chunks(); ++c)
        wanted += instance.topology().npus() - instance.demand(ChunkId(c)).holders.size();
    CHECK(counted.count() == wanted);  // nobody is sent anything twice
    return verdict.makespan;
}

/// No NPU can receive what it lacks faster than over all its in-links at once.
std::int64_t ingress_steps(const Instance& instance) {
    std::vector<std::int64_t> lacks(instance.topology().npus(), static_cast<std::int64_t>(instance.chunks()));
    for (std::size_t c = 0; c < instance.chunks(); ++c)
        for (const NodeId holder : instance.demand(ChunkId(c)).holders) --lacks[holder.index()];
    std::int64_t steps = 0;
    for (std::size_t n = 0; n < lacks.size(); ++n) {
        const auto degree = static_cast<std::int64_t>(instance.topology().in_links(NodeId(n)).size());
        steps = std::max(steps, (lacks[n] + degree - 1) / std::max<std::int64_t>(degree, 1));
    }
    return steps;
}

TopologyParts random_digraph(std::uint32_t npus, std::size_t degree, Rng& rng) {
    test::Net net(npus);
    std::vector<std::size_t> order(npus);
    for (std::size_t i = 0; i < npus; ++i) order[i] = i;
    for (std::size_t d = 0; d < degree; ++d) {
        rng.shuffle(order);
        for (std::size_t i = 0; i < npus; ++i) net.link(order[i], order[(i + 1) % npus]);
    }
    return net.parts();
}

std::vector<Send> all_sends(const Instance& instance, std::uint64_t seed) {
    const Stop stop;
    heuristics::LockstepGather gather(instance, seed, stop);
    std::vector<Send> sends;
    for (auto batch = gather.next(); !batch.empty(); batch = gather.next())
        sends.insert(sends.end(), batch.begin(), batch.end());
    return sends;
}

}  // namespace

TEST_CASE("lockstep all-gathers meet the ingress bound on meshes, tori, hypercubes and random digraphs") {
    // On a torus of 21 x 21 no NPU may miss a single chance: the bound is met without rounding up.
    std::vector<TopologyParts> nets;
    for (const Dims& dims :
         {Dims{8, 8}, Dims{16, 16}, Dims{15, 17}, Dims{21, 21}, Dims{24, 25}, Dims{6, 7, 8}}) {
        nets.push_back(generators::mesh(dims, wires(0, 1)));
        nets.push_back(generators::torus(dims, wires(0, 1)));
    }
    nets.push_back(generators::hypercube(9, wires(0, 1)));
    Rng rng(5);
    nets.push_back(random_digraph(600, 6, rng));
    for (std::size_t i = 0; i < nets.size(); ++i) {
        for (const std::uint64_t seed : {1U, 2U, 3U}) {
            CAPTURE(i);
            CAPTURE(seed);
            const Instance instance = gather_on(nets[i]);
            CHECK(checked_makespan(instance, seed) == Ticks(ingress_steps(instance)));
        }
    }
}

TEST_CASE("lockstep schedules are valid on random digraphs of all sizes, delays and numbers of holders") {
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
        CAPTURE(seed);
        Rng rng(seed);
        const auto npus = static_cast<std::uint32_t>(2 + rng.below(40));
        TopologyParts parts = random_digraph(npus, 1 + rng.below(3), rng);
        const Ticks alpha(static_cast<std::int64_t>(rng.below(8)));
        const Ticks beta(static_cast<std::int64_t>(1 + rng.below(4)));
        for (Link& link : parts.links) link.wire = {alpha, beta, {}};
        if (rng.below(2) == 0) parts.busy = Busy::AlphaPlusBeta;
        InstanceParts whole;
        whole.topology = parts;
        whole.groups = {{"all", {}}};
        for (std::size_t n = 0; n < npus; ++n) whole.groups[0].members.emplace_back(n);
        Collective custom = test::collective(CollectiveKind::Custom);
        custom.release = Ticks(static_cast<std::int64_t>(rng.below(3)));
        const std::uint64_t chunks = 1 + rng.below(rng.below(4) == 0 ? 1500 : 40);
        for (std::uint64_t c = 0; c < chunks; ++c) {
            CustomDemand demand;
            demand.receivers = whole.groups[0].members;
            demand.holders = {NodeId(rng.below(npus))};
            if (const NodeId other(rng.below(npus)); other != demand.holders[0])
                demand.holders.push_back(other);
            custom.demands.push_back(demand);
        }
        whole.collectives = {custom};
        (void)checked_makespan(Instance(whole), seed);
    }
}

TEST_CASE("a network with failed links is served at the rate of its worst NPU") {
    TopologyEdits edits(generators::mesh(Dims{14, 15}, wires(0, 3)));
    for (const std::size_t a : {17U, 64U, 90U, 133U}) {
        edits.remove(LinksBetween{NodeId(a), NodeId(a + 1)});
        edits.remove(LinksBetween{NodeId(a + 1), NodeId(a)});
    }
    const Instance instance = gather_on(std::move(edits).apply());
    CHECK(checked_makespan(instance) == Ticks(3 * ingress_steps(instance)));
}

TEST_CASE(
    "a corner behind a chain of NPUs is served in time, though only its suppliers' suppliers are many") {
    // 0 … 63 are a torus; 64, 65 and 66 hang from it, one behind the other.
    TopologyParts parts = generators::torus(Dims{8, 8}, wires(0, 1));
    parts.npus = 67;
    for (const auto& [a, b] : {std::pair{0U, 64U}, {64U, 65U}, {65U, 66U}}) {
        parts.links.push_back({NodeId(a), NodeId(b), parts.links[0].wire});
        parts.links.push_back({NodeId(b), NodeId(a), parts.links[0].wire});
    }
    const Instance instance = gather_on(parts);
    CHECK(checked_makespan(instance) == Ticks(66));
}

TEST_CASE("with a latency, a chunk in flight cannot be forwarded yet") {
    for (const auto& [alpha, beta] : {std::pair{2, 1}, {1, 2}, {5, 3}, {3, 3}}) {
        TopologyParts parts = generators::torus(Dims{6, 6}, wires(alpha, beta));
        CHECK(checked_makespan(gather_on(parts)) >= Ticks(6 * (alpha + beta)));
        parts.busy = Busy::AlphaPlusBeta;
        CHECK(checked_makespan(gather_on(parts)) == Ticks(9 * (alpha + beta)));
    }
}

TEST_CASE("lockstep handles parallel links, several chunks, broadcasts and a single NPU") {
    TopologyParts twice = generators::torus(Dims{6, 6}, wires(0, 1));
    for (std::size_t l = 0, links = twice.links.size(); l < links; ++l) twice.links.push_back(twice.links[l]);
    const Instance doubled = gather_on(twice, 3);
    CHECK(checked_makespan(doubled) == Ticks(ingress_steps(doubled)));

    const Instance many = gather_on(generators::torus(Dims{5, 5}, wires(0, 1)), 50);
    CHECK(checked_makespan(many) == Ticks(ingress_steps(many)));

    test::Net line = test::line(6);
    Collective broadcast = test::collective(CollectiveKind::Broadcast);
    broadcast.root = Rank(0);
    broadcast.chunks = 10;
    CHECK(checked_makespan(test::on_all(line, {broadcast})) == Ticks(10 + 4));

    CHECK(checked_makespan(gather_on(test::Net(1).parts(), 3)) == Ticks(0));
}

TEST_CASE("lockstep declines instances where an NPU does not want a chunk or links differ") {
    const auto fits = [](const TopologyParts& parts) { return heuristics::fits_lockstep(gather_on(parts)); };
    TopologyParts parts = test::line(4, 1, 2).parts();
    CHECK(fits(parts));
    parts.links[0].wire.beta = Ticks(3);
    CHECK_FALSE(fits(parts));
    CHECK_FALSE(fits(test::star(4, {}).parts()));
    test::Net one_way(3);
    one_way.link(0, 1).link(1, 2);
    CHECK_FALSE(fits(one_way.parts()));
    const test::Net line = test::line(4);
    CHECK_FALSE(heuristics::fits_lockstep(test::on_all(line, {test::collective(CollectiveKind::AllReduce)})));
    CHECK_FALSE(heuristics::fits_lockstep(test::on_all(line, {test::collective(CollectiveKind::AllToAll)})));
    CHECK_FALSE(heuristics::fits_lockstep(
        test::on_group(line, {0, 1}, {test::collective(CollectiveKind::AllGather)})));
}

TEST_CASE("a lockstep schedule depends on the seed and nothing else") {
    const Instance instance = gather_on(generators::mesh(Dims{9, 10}, wires(1, 2)), 7);
    const auto sends = all_sends(instance, 4);
    CHECK(sends == all_sends(instance, 4));
    CHECK(sends != all_sends(instance, 5));
    CHECK(std::ranges::is_sorted(sends, starts_before));
}

TEST_CASE("a stopped lockstep schedule is marked as incomplete") {
    const Instance instance = gather_on(generators::mesh(Dims{5, 5}, wires(0, 1)));
    std::atomic<bool> flag = false;
    const Stop stop(std::nullopt, &flag);
    heuristics::LockstepGather gather(instance, 1, stop);
    CHECK_FALSE(gather.next().empty());
    flag = true;
    CHECK(gather.next().empty());
    CHECK_FALSE(gather.is_complete());
}

TEST_CASE("lockstep in memory also works on the network turned round, after links that are booked") {
    const Instance instance = gather_on(generators::mesh(Dims{6, 7}, wires(1, 2)), 2);
    for (const bool turned : {false, true}) {
        const heuristics::HopGraph there(instance);
        const heuristics::HopGraph graph = turned ? there.reversed() : heuristics::HopGraph(instance);
        heuristics::SpreadProblem problem{
            graph, {}, heuristics::LinkCalendar(instance.topology().links().size()), Ticks(0)};
        problem.calendar.book(graph, heuristics::HopId(0), ChunkId(0), Ticks(3));
        for (std::size_t c = 0; c < instance.chunks(); ++c) {
            const Demand demand = instance.demand(ChunkId(c));
            problem.spreads.push_back({ChunkId(c), demand.holders, Ticks(0), demand.receivers});
        }
        Rng rng(3);
        const auto solution = heuristics::lockstep(problem, rng, Stop());
        REQUIRE(solution);
        CHECK(solution->transfers.size() == 84 * 41);
        Schedule schedule{"", solution->makespan, {}};
        for (const auto& [hop, chunk, start] : solution->transfers) {
            CHECK(start >= Ticks(5));
            const LinkId link = graph.hop(hop).legs.front();
            schedule.sends.push_back({chunk, link, start, Op::Copy});
            if (!turned) continue;
            // The mesh has every link both ways: what runs on a link turned round may run on its opposite.
            const Link& forward = instance.topology().link(link);
            for (const LinkId back : instance.topology().out_links(forward.dst))
                if (instance.topology().link(back).dst == forward.src) schedule.sends.back().link = back;
        }
        CHECK(verify::verify(instance, schedule).valid());
    }
}
