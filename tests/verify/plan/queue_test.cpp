// Queues of links, as TACOS writes them.

#include "io/tacos_csv.hpp"
#include "tests/support/send_plans.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace tutti;
using namespace tutti::test;
using plan::TacosPlan;

namespace {

TacosPlan read(const std::string& lines, int npus = 3, int chunks = 3) {
    const auto links = std::count(lines.begin(), lines.end(), '\n');
    io::Source source =
        io::Source::of_text("NPUs Count," + std::to_string(npus) + "\nLinks Count," + std::to_string(links) +
                                "\nChunks Count," + std::to_string(chunks) + "\nChunk Size,1073741824,B\n" +
                                "SrcID,DestID,Latency (ns),Bandwidth (GB/s),Chunks\n" + lines,
                            "x.csv");
    return io::read_tacos_csv(source);
}

/// A chunk takes 1 + 10^9 ns.
const std::string kRing = "0,1,1,1,0,2\n1,2,1,1,1,0\n2,0,1,1,2,1\n";

}  // namespace

TEST_CASE("queues written by TACOS run to their end and complete the all-gather") {
    io::Source source(step_file("tacos-mesh3x3.csv"));
    const auto verdict = judged(io::read_tacos_csv(source));
    CHECK(told(verdict) == "valid");
    CHECK(verdict.collective == "allgather");
    CHECK(verdict.mode == "queues");
    // TACOS printed 80.125 us for it; but six chunks go over the link 3 -> 0, at 20.03125 us each.
    CHECK(verdict.own_cost == "120.188 us");
    CHECK(warned(verdict) == "lacks redundant");
}

TEST_CASE("a link sends the next chunk when it is free and the source has it") {
    const auto verdict = judged(read(kRing), as(CollectiveKind::AllGather));
    CHECK(told(verdict) == "valid");
    CHECK(warned(verdict) == "");
    CHECK(verdict.own_cost == "2000000.002 us");
}

TEST_CASE("a queue that waits for a chunk that never comes is a deadlock") {
    // Node 1 waits for chunk 0, node 0 for chunk 2, node 2 for chunk 1, and nobody sends its own.
    const auto verdict = judged(read("0,1,1,1,2,0\n1,2,1,1,0,1\n2,0,1,1,1,2\n"));
    CHECK(told(verdict) == "invalid: deadlock deadlock deadlock value value value");
    CHECK(verdict.violations[0].message ==
          "node 0 sends chunk 2 to node 1 as number 0 of its link's queue, which waits for ever: node 2 "
          "should send "
          "it there as number 1 of its link's queue, but that queue has stopped too");
    CHECK(verdict.violations[0].others.size() == 1);
    CHECK(told(read("0,1,1,1,2\n")).starts_with("invalid: not-held value"));
}

TEST_CASE("every node must get every chunk") {
    const auto verdict = judged(read("0,1,1,1,0,2\n1,2,1,1,1,0\n2,0,1,1,2\n"));
    CHECK(told(verdict) == "invalid: value");
    CHECK(verdict.violations[0].message == "node 0 never gets 1 of the 3 chunks; the first is chunk 1");
    CHECK(told(read(kRing, 3, 6)) == "invalid: value value value");
    CHECK(told(read(kRing, 3, 4)).starts_with("invalid: chunks value"));
}

TEST_CASE("chunks of an all-gather are numbered round by round") {
    // Two nodes with two chunks each: 0 and 2 start on node 0, 1 and 3 on node 1.
    CHECK(told(read("0,1,1,1,0,2\n1,0,1,1,1,3\n", 2, 4)) == "valid");
    CHECK(told(read("0,1,1,1,0,1\n1,0,1,1,2,3\n", 2, 4)).starts_with("invalid"));
}

TEST_CASE("other collectives of queues are judged as far as the file says where chunks start") {
    auto reading = as(CollectiveKind::Broadcast);
    reading.root = Rank(1);
    CHECK(told(read("1,2,1,1,0\n2,0,1,1,0\n", 3, 1), reading) == "valid");
    reading.root = Rank(0);
    CHECK(told(read("1,2,1,1,0\n2,0,1,1,0\n", 3, 1), reading).starts_with("invalid"));
    reading.root = Rank(3);
    CHECK(told(read(kRing), reading) == "invalid: root");
    CHECK(told(read(kRing), as(CollectiveKind::AllToAll)) == "structure-only");
}

TEST_CASE("a file that counts a million million chunks and sends ten is judged at once") {
    auto plan = read(kRing);
    plan.chunks = 3'000'000'000'000;
    const auto verdict = judged(plan);
    CHECK(told(verdict) == "invalid: value value value");
    CHECK(verdict.violations[0].message ==
          "node 0 never gets 1999999999998 of the 3000000000000 chunks; the first is chunk 4");
}
