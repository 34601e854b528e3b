// V4, and what a verdict tells: how many violations, which of them, and where.

#include "tests/support/builders.hpp"
#include "verify/schedule_verifier.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace tutti;
using namespace tutti::test;

namespace {

/// A stream that hands out its sends as they are.
class AsListed final : public SendSource {
  public:
    explicit AsListed(Schedule schedule) : schedule_(std::move(schedule)) {}
    [[nodiscard]] std::span<const Send> next() override {
        return std::exchange(given_, true) ? std::span<const Send>() : std::span<const Send>(schedule_.sends);
    }
    [[nodiscard]] Ticks makespan() const override { return schedule_.makespan; }
    [[nodiscard]] std::uint64_t position(std::size_t i) const override { return i; }

  private:
    Schedule schedule_;
    bool given_ = false;
};

bool names(const Verdict& verdict, Rule rule) {
    return std::ranges::any_of(verdict.violations, [&](const Violation& v) { return v.rule == rule; });
}

Instance two_chunks() {
    Collective broadcast = collective(CollectiveKind::Broadcast, "bc");
    broadcast.chunks = 2;
    return on_all(Net(2).link(0, 1, 0, 2), {broadcast});
}

}  // namespace

TEST_CASE("V4: a stream's sends come in order of start") {
    const Instance instance = two_chunks();
    AsListed ordered(schedule(4, {copy(0, 0, 0), copy(1, 0, 2)}));
    CHECK(verify::verify(instance, ordered).valid());
    AsListed unordered(schedule(4, {copy(1, 0, 2), copy(0, 0, 0)}));
    const Verdict verdict = verify::verify(instance, unordered);
    CHECK(!verdict.valid());
    CHECK(names(verdict, Rule::OutOfOrder));
}

TEST_CASE("V4: a schedule in memory may be in any order") {
    CHECK(verify::verify(two_chunks(), schedule(4, {copy(1, 0, 2), copy(0, 0, 0)})).valid());
}

TEST_CASE("a verdict counts sends and all violations but keeps only the first") {
    std::vector<Send> sends;
    for (int i = 0; i < 50; ++i) sends.push_back(copy(7, 0, i));
    sends.insert(sends.end(), {copy(0, 0, 60), copy(1, 0, 62)});
    const Verdict verdict = verify::verify(two_chunks(), schedule(64, sends), {.max_violations = 3});
    CHECK(verdict.violation_count == 50);
    CHECK(verdict.violations.size() == 3);
    CHECK(verdict.sends == 52);
    CHECK(verdict.makespan == Ticks(64));
    CHECK(!verdict.valid());
    CHECK(verify::verify(two_chunks(), schedule(64, sends)).violations.size() == 20);
}

TEST_CASE("a verdict that keeps no violations is still invalid") {
    const Verdict verdict = verify::verify(two_chunks(), schedule(0, {}), {.max_violations = 0});
    CHECK(verdict.violations.empty());
    CHECK(verdict.violation_count == 2);
    CHECK(!verdict.valid());
}

TEST_CASE("an overlap names both sends by their places in the file, the link and the tick") {
    const Verdict verdict = verify::verify(two_chunks(), schedule(3, {copy(1, 0, 1), copy(0, 0, 0)}));
    REQUIRE(verdict.violations.size() == 1);
    const Violation& violation = verdict.violations.front();
    CHECK(violation.rule == Rule::LinkOverlap);
    auto places = violation.sends;
    std::ranges::sort(places);
    CHECK(places == std::vector<std::uint64_t>{0, 1});
    CHECK(violation.link == LinkId(0));
    CHECK(violation.tick == Ticks(1));
    CHECK(!violation.message.empty());
}

TEST_CASE("a send of what is not there names the send, the chunk, the node, the collective and the group") {
    const Instance instance = on_group(line(3), {0, 2}, {collective(CollectiveKind::Broadcast, "bc")});
    const Verdict verdict =
        verify::verify(instance, schedule(2, {copy(0, 0, 0), copy(0, 2, 0), copy(0, 2, 1)}));
    REQUIRE(verdict.violation_count >= 1);
    const Violation& violation = verdict.violations.front();
    CHECK(violation.rule == Rule::NotHeld);
    CHECK(violation.sends == std::vector<std::uint64_t>{1});
    CHECK(violation.chunk == ChunkId(0));
    CHECK(violation.node == NodeId(1));
    CHECK(violation.tick == Ticks(0));
    CHECK(violation.collective == "bc");
    CHECK(violation.group == "g");
}

TEST_CASE("an unmet demand names the receiver, the chunk and the group") {
    const Verdict verdict = verify::verify(two_chunks(), schedule(2, {copy(0, 0, 0)}));
    REQUIRE(verdict.violations.size() == 1);
    const Violation& violation = verdict.violations.front();
    CHECK(violation.rule == Rule::DemandUnmet);
    CHECK(violation.chunk == ChunkId(1));
    CHECK(violation.node == NodeId(1));
    CHECK(violation.collective == "bc");
    CHECK(violation.group == "g");
}
