#include "batch/known_values.hpp"

#include "tests/batch/scratch.hpp"

using namespace tutti;
using namespace tutti::batch;
using io::SoluEntry;
using io::SoluTag;

namespace {

io::ResultLine found(std::int64_t makespan, std::int64_t bound, const std::string& name = "a") {
    io::ResultLine line;
    line.instance = name;
    line.status = makespan == bound ? Status::Optimal : Status::Feasible;
    line.makespan = Ticks(makespan);
    line.lower_bound = Ticks(bound);
    line.verified = true;
    return line;
}

io::ResultLine infeasible(const std::string& name = "a") {
    io::ResultLine line;
    line.instance = name;
    line.status = Status::Infeasible;
    line.error = "cut";
    return line;
}

Known between(std::int64_t bound, std::int64_t best) { return {Ticks(best), Ticks(bound), false}; }

std::vector<SoluEntry> updated_by(const std::vector<SoluEntry>& entries,
                                  const std::vector<io::ResultLine>& lines) {
    std::vector<NamedResult> results;
    for (const io::ResultLine& line : lines) results.push_back({line.instance, &line});
    return updated(entries, results);
}

}  // namespace

TEST_CASE("a result better than a proven optimum is a contradiction") {
    CHECK_FALSE(contradiction(found(10, 10), between(10, 10)));
    CHECK_FALSE(contradiction(found(12, 8), between(10, 10)));
    const auto complaint = contradiction(found(9, 8), between(10, 10));
    REQUIRE(complaint);
    CHECK(*complaint == "better than the proven optimum: makespan 9 is below 10; one of them is wrong");
}

TEST_CASE("a result below a known bound, or a bound above a known makespan, is a contradiction") {
    CHECK_FALSE(contradiction(found(9, 8), between(9, 12)));
    CHECK(contradiction(found(8, 8), between(9, 12)));
    CHECK_FALSE(contradiction(found(20, 12), between(9, 12)));
    CHECK(contradiction(found(20, 13), between(9, 12)));
}

TEST_CASE("infeasible and solved contradict each other") {
    CHECK(contradiction(found(9, 8), {std::nullopt, std::nullopt, true}));
    CHECK(contradiction(infeasible(), between(9, 12)));
    CHECK_FALSE(contradiction(infeasible(), {std::nullopt, std::nullopt, true}));
    CHECK_FALSE(contradiction(infeasible(), {}));
}

TEST_CASE("an update keeps what is better and proves what meets") {
    const std::vector<SoluEntry> entries{{SoluTag::Best, "b", Ticks(10)},
                                         {SoluTag::BestDual, "b", Ticks(7)},
                                         {SoluTag::Optimal, "a", Ticks(5)},
                                         {SoluTag::Best, "c", Ticks(10)},
                                         {SoluTag::BestDual, "c", Ticks(8)}};
    const auto merged = updated_by(entries, {found(12, 8, "b"), found(6, 4, "a"), found(8, 6, "c"),
                                             found(3, 3, "z"), found(9, 2, "y"), infeasible("x")});
    CHECK(merged == std::vector<SoluEntry>{{SoluTag::Best, "b", Ticks(10)},
                                           {SoluTag::BestDual, "b", Ticks(8)},
                                           {SoluTag::Optimal, "a", Ticks(5)},
                                           {SoluTag::Optimal, "c", Ticks(8)},
                                           {SoluTag::Infeasible, "x", {}},
                                           {SoluTag::Best, "y", Ticks(9)},
                                           {SoluTag::BestDual, "y", Ticks(2)},
                                           {SoluTag::Optimal, "z", Ticks(3)}});
}

TEST_CASE("failures and contradictions do not change known values") {
    const std::vector<SoluEntry> entries{{SoluTag::Optimal, "a", Ticks(5)}};
    io::ResultLine failed = found(9, 9, "b");
    failed.error = "out of memory";
    CHECK(updated_by(entries, {found(4, 4, "a"), infeasible("a"), failed}) == entries);
}

TEST_CASE("the .solu file of a folder is in it or beside it") {
    const test::ScratchTree scratch;
    const std::filesystem::path folder = scratch.at("all/ring");
    scratch.put("all/ring/a.json");
    CHECK(solu_path(folder) == folder / "ring.solu");
    const std::string beside = scratch.put("all/ring.solu", "");
    CHECK(solu_path(folder) == std::filesystem::path(beside));
    scratch.put("all/ring/ring.solu", "");
    CHECK(solu_path(folder) == folder / "ring.solu");
}
