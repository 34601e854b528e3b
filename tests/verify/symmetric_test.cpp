// The symbolic verdict against the ordinary one on the expansion, and the faults that only a symmetric
// schedule can have.

#include "verify/symmetric_verifier.hpp"

#include "core/generators/mesh_torus.hpp"
#include "core/generators/ring.hpp"
#include "heuristics/symmetry/quotient.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/symmetric_instance.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>

using namespace tutti;
using namespace tutti::test;

namespace {

constexpr Wire kUnit{Ticks(0), Ticks(1), {}};

symmetry::SymmetricSchedule synthesised(const Instance& instance, std::uint64_t seed = 1) {
    Rng rng(seed);
    const auto schedule = heuristics::quotient_synthesis(instance, Ticks(0), rng, Stop(), 500);
    REQUIRE(schedule);
    return *schedule;
}

bool only_not_symmetric(const Verdict& verdict) {
    return std::ranges::any_of(verdict.violations,
                               [](const Violation& v) { return v.rule == Rule::NotSymmetric; });
}

Rule rule_of(const Instance& instance, const symmetry::SymmetricSchedule& schedule) {
    const Verdict verdict = verify::verify(instance, schedule);
    REQUIRE_FALSE(verdict.valid());
    return verdict.violations[0].rule;
}

/// Changes something; mostly for the worse.
void mutate(const Instance& instance, symmetry::SymmetricSchedule& schedule, Rng& rng) {
    auto& sends = schedule.sends;
    Send& send = sends[rng.below(sends.size())];
    symmetry::Generator& generator = schedule.generators[rng.below(schedule.generators.size())];
    switch (rng.below(13)) {
        case 0:
            send.start += Ticks(1);
            break;
        case 1:
            send.start -= Ticks(static_cast<std::int64_t>(1 + rng.below(2)));
            break;
        case 2:
            send.start = sends[rng.below(sends.size())].start;
            break;
        case 3:
            send.chunk = ChunkId(rng.below(instance.chunks()));
            break;
        case 4:
            send.chunk = sends[rng.below(sends.size())].chunk;
            break;
        case 5:
            send.link = LinkId(rng.below(instance.topology().links().size()));
            break;
        case 6:
            send.link = sends[rng.below(sends.size())].link;
            break;
        case 7:
            send.op = send.op == Op::Copy ? Op::Reduce : Op::Copy;
            break;
        case 8:
            sends.erase(sends.begin() + static_cast<std::ptrdiff_t>(rng.below(sends.size())));
            break;
        case 9:
            sends.push_back(send);
            sends.back().start = schedule.makespan;
            break;
        case 10:
            std::swap(generator.images[rng.below(generator.images.size())],
                      generator.images[rng.below(generator.images.size())]);
            break;
        case 11:
            if (rng.below(2) == 0) {
                generator.order = static_cast<std::uint32_t>(2 + rng.below(4));
            } else {
                schedule.generators.pop_back();
            }
            break;
        default:
            // A whole branch later: often still valid but for the makespan.
            for (Send& other : sends) {
                if (other.start >= send.start) other.start += Ticks(1);
            }
            schedule.makespan += Ticks(static_cast<std::int64_t>(rng.below(2)));
    }
}

}  // namespace

TEST_CASE("a symmetric schedule is valid exactly when its expansion is") {
    std::size_t valid = 0, invalid = 0, shapeless = 0;
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
        Rng rng(seed);
        const Instance instance = random_symmetric_instance(rng);
        const symmetry::SymmetricSchedule original = synthesised(instance, seed);
        for (int i = 0; i < 25; ++i) {
            symmetry::SymmetricSchedule schedule = original;
            for (int k = 0; k < i && k < 3 && !schedule.sends.empty() && !schedule.generators.empty(); ++k)
                mutate(instance, schedule, rng);
            CAPTURE(seed);
            CAPTURE(i);
            const Verdict symbolic = verify::verify(instance, schedule);
            if (i == 0) REQUIRE(symbolic.valid());
            if (only_not_symmetric(symbolic)) {
                ++shapeless;
                continue;
            }
            std::optional<Schedule> whole;
            try {
                whole = expanded(instance, schedule);
            } catch (const InputError&) {
                // A send that names nothing, or generators that are none.
                CHECK_FALSE(symbolic.valid());
                continue;
            }
            const Verdict verdict = verify::verify(instance, *whole);
            REQUIRE(symbolic.valid() == verdict.valid());
            CHECK(symbolic.makespan == verdict.makespan);
            CHECK(symbolic.finish == verdict.finish);
            CHECK(symbolic.sends == verdict.sends);
            ++(symbolic.valid() ? valid : invalid);
        }
    }
    CHECK(valid > 200);
    CHECK(invalid > 1000);
    CHECK(shapeless > 200);
}

TEST_CASE("collectives that are images of each other finish when the expansion says") {
    // Rows of a torus exchange two chunks per pair, columns one: shifts move a row to the next.
    InstanceParts parts;
    parts.topology = generators::torus(std::array<std::uint64_t, 2>{4, 4}, std::array{kUnit});
    for (std::size_t i = 0; i < 4; ++i) {
        Group row{"row" + std::to_string(i), {}}, column{"column" + std::to_string(i), {}};
        for (std::size_t j = 0; j < 4; ++j) {
            row.members.emplace_back(4 * i + j);
            column.members.emplace_back(4 * j + i);
        }
        parts.groups.push_back(row);
        parts.groups.push_back(column);
        for (const bool is_row : {true, false}) {
            Collective collective;
            collective.id = (is_row ? row : column).name;
            collective.kind = CollectiveKind::AllToAll;
            collective.chunks = is_row ? 2 : 1;
            collective.group = GroupId(parts.groups.size() - (is_row ? 2 : 1));
            parts.collectives.push_back(collective);
        }
    }
    const Instance instance(parts);
    const symmetry::SymmetricSchedule schedule = synthesised(instance);
    const Verdict symbolic = verify::verify(instance, schedule);
    REQUIRE(symbolic.valid());
    REQUIRE(symbolic.finish.size() == 8);
    CHECK(symbolic.finish == verify::verify(instance, expanded(instance, schedule)).finish);
    for (std::size_t i = 2; i < 8; ++i) CHECK(symbolic.finish[i] == symbolic.finish[i % 2]);
    CHECK(*std::ranges::max_element(symbolic.finish) == symbolic.makespan);
    CHECK(*std::ranges::min_element(symbolic.finish) > Ticks(0));
}

TEST_CASE("generators that are no free abelian group are refused") {
    const Instance instance = on_all_npus(generators::ring(6, kUnit), CollectiveKind::AllGather);
    const symmetry::SymmetricSchedule good = synthesised(instance);
    REQUIRE(verify::verify(instance, good).valid());
    const auto changed = [&](auto change) {
        symmetry::SymmetricSchedule bad = good;
        change(bad.generators);
        return rule_of(instance, bad);
    };
    CHECK(changed([](auto& g) { g[0].images[0] = g[0].images[1]; }) == Rule::NotSymmetric);
    CHECK(changed([](auto& g) { g[0].images[0] = NodeId(6); }) == Rule::NotSymmetric);
    CHECK(changed([](auto& g) { g[0].images.pop_back(); }) == Rule::NotSymmetric);
    CHECK(changed([](auto& g) { g[0].order = 3; }) == Rule::NotSymmetric);
    CHECK(changed([](auto& g) { g[0].order = 12; }) == Rule::NotSymmetric);
    CHECK(changed([](auto& g) { g.push_back(g[0]); }) == Rule::NotSymmetric);
    // A reflection has fixed points and does not commute with the shift.
    const symmetry::Generator reflection{nodes({0, 5, 4, 3, 2, 1}), 2};
    CHECK(changed([&](auto& g) { g = {reflection}; }) == Rule::NotSymmetric);
    CHECK(changed([&](auto& g) {
              g = {{nodes({3, 4, 5, 0, 1, 2}), 2}, {nodes({1, 0, 3, 2, 5, 4}), 2}};
          }) == Rule::NotSymmetric);
}

TEST_CASE("a link whose image is missing or slower is named") {
    for (const bool slow : {false, true}) {
        TopologyParts parts = generators::ring(6, kUnit);
        const Instance whole = on_all_npus(parts, CollectiveKind::AllGather);
        const symmetry::SymmetricSchedule schedule = synthesised(whole);
        if (slow) {
            parts.links[5].wire.beta = Ticks(2);
        } else {
            parts.links.push_back(parts.links[5]);
            parts.links[5] = {NodeId(0), NodeId(3), kUnit};
            parts.links.pop_back();
        }
        const Verdict verdict = verify::verify(on_all_npus(parts, CollectiveKind::AllGather), schedule);
        REQUIRE(verdict.violations.size() == 1);
        CHECK(verdict.violations[0].rule == Rule::NotSymmetric);
        CHECK(verdict.violations[0].link);
        CHECK(verdict.violations[0].message.find("there is no such link with the same times") !=
              std::string::npos);
    }
}

TEST_CASE("links that are not used need no images") {
    TopologyParts parts = generators::ring(6, kUnit);
    parts.links.push_back({NodeId(0), NodeId(3), kUnit});
    const symmetry::SymmetricSchedule schedule =
        synthesised(on_all_npus(generators::ring(6, kUnit), CollectiveKind::AllGather));
    const Instance instance = on_all_npus(parts, CollectiveKind::AllGather);
    CHECK(verify::verify(instance, schedule).valid());
    CHECK(verify::verify(instance, expanded(instance, schedule)).valid());
}

TEST_CASE("two images on one link at once are an overlap, though no send of the file shares a link") {
    const Instance instance =
        on_all_npus(generators::ring(4, kUnit, generators::Direction::OneWay), CollectiveKind::AllGather);
    symmetry::SymmetricSchedule schedule{
        "symmetric", Ticks(3), {{nodes({1, 2, 3, 0}), 4}}, {copy(0, 0, 0), copy(0, 1, 1), copy(0, 2, 2)}};
    REQUIRE(verify::verify(instance, schedule).valid());
    // With two chunks each, the second's first hop meets the image of the first's second hop.
    const Instance twice =
        on_all_npus(generators::ring(4, kUnit, generators::Direction::OneWay), CollectiveKind::AllGather, 2);
    schedule.sends.insert(schedule.sends.end(), {copy(1, 0, 1), copy(1, 1, 3), copy(1, 2, 4)});
    schedule.makespan = Ticks(5);
    const Verdict verdict = verify::verify(twice, schedule);
    REQUIRE(verdict.violation_count == 1);
    CHECK(verdict.violations[0].rule == Rule::LinkOverlap);
    CHECK(verdict.violations[0].tick == Ticks(1));
}

TEST_CASE("a chunk that is no image of a sent one must ask for nothing") {
    const Instance instance = on_all_npus(generators::ring(4, kUnit), CollectiveKind::AllGather, 2);
    symmetry::SymmetricSchedule schedule = synthesised(instance);
    const ChunkId dropped = schedule.sends.back().chunk;
    std::erase_if(schedule.sends, [&](const Send& send) { return send.chunk == dropped; });
    const Verdict verdict = verify::verify(instance, schedule);
    CHECK(std::ranges::count(verdict.violations, Rule::DemandUnmet, &Violation::rule) == 12);
}

TEST_CASE("one chunk may not be the image of two that are sent") {
    const Instance instance = on_all_npus(generators::ring(4, kUnit), CollectiveKind::AllGather);
    symmetry::SymmetricSchedule schedule = synthesised(instance);
    schedule.sends.push_back(copy(1, 2, 9));
    CHECK(rule_of(instance, schedule) == Rule::NotSymmetric);
}

TEST_CASE("a network with switches has no symmetric schedules yet") {
    const Instance instance = on_all(star(3, {}), {collective(CollectiveKind::AllGather)});
    CHECK(rule_of(instance, {"symmetric", Ticks(0), {}, {}}) == Rule::NotSymmetric);
}
