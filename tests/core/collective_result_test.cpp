#include "core/collective_result.hpp"

#include "core/call.hpp"
#include "core/generators/full.hpp"
#include "core/variation.hpp"
#include "tests/support/builders.hpp"

#include <doctest/doctest.h>

using namespace tutti;
using namespace tutti::test;

namespace {

/// Four NPUs, each with a link to each other: no latency, 1 GB/s, so that a byte takes 1000 ticks.
TopologyParts four() { return generators::fully_connected(4, Wire{Ticks(0), Ticks(0), Decimal{1, 0}}); }

Collective on(std::size_t group, CollectiveKind kind, std::string id, std::int64_t chunk_bytes) {
    Collective one = collective(kind, std::move(id));
    one.group = GroupId(group);
    one.chunk_bytes = {chunk_bytes};
    return one;
}

/// An all-gather of the pair {0, 1} beside an all-reduce of {1, 2, 3}.
InstanceParts mixed() {
    return {"x",
            four(),
            {{"tp", nodes({0, 1})}, {"dp", nodes({1, 2, 3})}},
            {on(0, CollectiveKind::AllGather, "ag", 100), on(1, CollectiveKind::AllReduce, "ar", 7)}};
}

}  // namespace

TEST_CASE("each of several collectives has its own finish, size and bandwidths") {
    InstanceParts parts = mixed();
    parts.collectives[1].release = Ticks(6'000);
    const Instance instance(parts);
    const auto results = collective_results(instance, std::vector{Ticks(100'000), Ticks(20'000)});
    REQUIRE(results.size() == 2);
    CHECK(results[0].id == "ag");
    CHECK(results[0].group == "tp");
    CHECK(results[0].ranks == 2);
    CHECK(results[0].finish == Ticks(100'000));
    // 200 bytes in 100 ns; half of them travel.
    CHECK(results[0].bytes == 200);
    CHECK(results[0].algbw_GBps == doctest::Approx(2));
    CHECK(results[0].busbw_GBps == doctest::Approx(1));
    // 21 bytes in the 14 ns after its release; 2 * (3 - 1) / 3.
    CHECK(results[1].kind == CollectiveKind::AllReduce);
    CHECK(results[1].ranks == 3);
    CHECK(results[1].release == Ticks(6'000));
    CHECK(results[1].bytes == 21);
    CHECK(results[1].algbw_GBps == doctest::Approx(1.5));
    CHECK(results[1].busbw_GBps == doctest::Approx(2));
    // Of the whole there is no one size.
    CHECK_FALSE(call_bytes(instance).has_value());
    CHECK_FALSE(bandwidths_of(instance, Ticks(100'000)).algbw_GBps.has_value());
}

TEST_CASE("what was asked for is the size of every call, though chunks are whole") {
    InstanceParts parts = mixed();
    vary(parts, {.chunks = 3, .bytes = Bytes{1000}});
    CHECK(parts.collectives[0].chunk_bytes == Bytes{167});  // of 2 * 3 chunks
    CHECK(parts.collectives[1].chunk_bytes == Bytes{112});  // of 3 * 3
    CHECK(parts.collectives[0].chunks == 3);
    const Instance instance(parts);
    const std::vector finish{Ticks(500'000), Ticks(1'000'000)};
    CHECK(collective_results(instance, finish)[0].bytes == 1002);
    const auto asked = collective_results(instance, finish, Bytes{1000});
    CHECK(asked[0].bytes == 1000);
    CHECK(asked[1].bytes == 1000);
    CHECK(asked[0].algbw_GBps == doctest::Approx(2));
    CHECK(asked[1].busbw_GBps == doctest::Approx(1 * 4.0 / 3));
    // As a whole it has a size now, but kinds with different factors.
    CHECK(bandwidths_of(instance, Ticks(1'000'000), Bytes{1000}).algbw_GBps == doctest::Approx(1));
    CHECK_FALSE(bandwidths_of(instance, Ticks(1'000'000), Bytes{1000}).busbw_GBps.has_value());
}

TEST_CASE("collectives of one kind and size have bandwidths as a whole") {
    InstanceParts parts = mixed();
    parts.collectives[1] = on(1, CollectiveKind::AllGather, "other", 50);
    CHECK_FALSE(call_bytes(Instance(parts)).has_value());
    parts.groups[1].members = nodes({2, 3});
    parts.collectives[1].chunk_bytes = {100};
    CHECK(call_bytes(Instance(parts)) == Bytes{200});
    const Bandwidths whole = bandwidths_of(Instance(parts), Ticks(100'000));
    CHECK(whole.algbw_GBps == doctest::Approx(2));
    CHECK(whole.busbw_GBps == doctest::Approx(1));
}

TEST_CASE("abstract units, custom demands and what is not sent have no bandwidth") {
    const Instance abstract = on_all(line(2), {collective(CollectiveKind::AllGather)});
    const auto plain = collective_results(abstract, std::vector{Ticks(3)});
    CHECK_FALSE(plain[0].bytes.has_value());
    CHECK_FALSE(plain[0].algbw_GBps.has_value());
    InstanceParts parts = mixed();
    parts.collectives[0] = custom({0}, {1});
    parts.collectives[0].chunk_bytes = {5};
    const auto results = collective_results(Instance(parts), std::vector{Ticks(5'000), Ticks(0)});
    CHECK_FALSE(results[0].bytes.has_value());
    CHECK(results[1].bytes == 21);
    CHECK_FALSE(results[1].algbw_GBps.has_value());
}

TEST_CASE("an instance is varied group by group, and what cannot be is said with its place") {
    InstanceParts unequal{"x", four(), {{"a", nodes({0, 1, 2})}, {"b", nodes({3})}}, {}};
    for (const std::size_t group : {0UL, 1UL})
        unequal.collectives.push_back(on(group, CollectiveKind::AllGather, "c" + std::to_string(group), 1));
    vary(unequal, {.bytes = Bytes{10}});
    CHECK(unequal.collectives[0].chunk_bytes == Bytes{4});
    CHECK(unequal.collectives[1].chunk_bytes == Bytes{10});

    const auto place = [](InstanceParts parts, const Variation& variation) -> std::string {
        try {
            vary(parts, variation);
        } catch (const InputError& error) {
            return error.place();
        }
        return "none";
    };
    InstanceParts parts = mixed();
    CHECK(place(parts, {}) == "none");
    parts.collectives[1] = custom({1}, {2});
    CHECK(place(parts, {.chunks = 2}) == "/collectives/1");
    CHECK(place(parts, {.bytes = Bytes{8}}) == "/collectives/1");
    CHECK(place({"x", line(2).parts(), {}, {}}, {.bytes = Bytes{8}}) == "/topology");
    CHECK(place(mixed(), {.bytes = Bytes{0}}) == "/collectives/0");
    CHECK(place(mixed(), {.bytes = Bytes{kMaxCallBytes.count + 1}}) == "/collectives/0");
    // What is wrong otherwise is not asked here, and does no harm.
    parts = mixed();
    parts.groups[0].members.clear();
    parts.collectives[1].group = GroupId(7);
    parts.collectives.push_back(on(1, CollectiveKind::AllToAllV, "v", 1));
    parts.collectives.back().counts = {{1, 2, 3, 4}, {1}};
    CHECK(place(parts, {.bytes = Bytes{8}}) == "none");
}
