// Sums through switches that are counted instead of kept as sets.

#include "verify/reduction_counts.hpp"
#include "tests/support/builders.hpp"

#include <doctest/doctest.h>

using namespace tutti;
using namespace tutti::test;
using namespace tutti::verify;

namespace {

/// The sums of an all-reduce on a star of three with one switch. Link 2i leads from NPU i, 2i + 1 to it.
class Counting {
  public:
    explicit Counting(const SwitchRule& rule, std::int64_t alpha = 0)
        : instance_(on_all(star(3, rule, alpha), {custom({0, 1, 2}, {0, 1, 2}, true)})),
          tables_(instance_),
          exact_(instance_, tables_),
          counts_(instance_, tables_, exact_) {}

    /// Whether the send can be counted.
    bool send(const Send& send) {
        counts_.arrive_until(send.start, handed_);
        return counts_.leave(send, tables_.hops(0)[send.link.index()], 0);
    }
    /// The number of contributions of each copy that is handed over; 0 for one that left and is not known.
    std::vector<std::size_t> opened() {
        counts_.open({ChunkId(0)}, handed_);
        std::vector<std::size_t> sizes;
        for (const StoredCopy& copy : handed_.copies)
            sizes.push_back(copy.value ? copy.value->bits.count() : 0);
        return sizes;
    }
    std::vector<NumberedSend> undone(std::int64_t start) {
        std::vector<NumberedSend> sends;
        counts_.undo(Ticks(start), std::nullopt, sends);
        return sends;
    }
    [[nodiscard]] bool is_complete() {
        counts_.arrive_until(Ticks::max(), handed_);
        return !exact_.is_open(ChunkId(0)) && counts_.is_complete(ChunkId(0));
    }
    [[nodiscard]] const HandedOver& handed() const { return handed_; }
    [[nodiscard]] std::size_t size_at(std::size_t npu) const {
        const Value value = exact_.value(NodeId(npu), ChunkId(0), Ticks::max());
        return value ? value->bits.count() : 0;
    }

  private:
    Instance instance_;
    Tables tables_;
    ExactSums exact_;
    ReductionCounts counts_;
    HandedOver handed_;
};

}  // namespace

TEST_CASE("an all-reduce along a tree through a switch is counted to the end") {
    Counting counting({});
    // 1 and 2 send to 0, which sends the sum to both.
    for (const Send& send : {copy(0, 2, 0), reduce(0, 1, 1), copy(0, 4, 1), reduce(0, 1, 2), copy(0, 0, 3),
                             copy(0, 3, 4), copy(0, 0, 4), copy(0, 5, 5)})
        CHECK(counting.send(send));
    CHECK(counting.is_complete());
}

TEST_CASE("a switch that copies sends a counted full sum to all") {
    Counting counting({.copy = true});
    for (const Send& send : {copy(0, 2, 0), reduce(0, 1, 1), copy(0, 4, 1), reduce(0, 1, 2), copy(0, 0, 3),
                             copy(0, 5, 4), copy(0, 3, 4)})
        CHECK(counting.send(send));
    CHECK(counting.is_complete());
}

TEST_CASE("a part of a sum that would leave a switch twice is not counted") {
    for (const bool copies : {false, true}) {
        Counting counting({.copy = copies});
        CHECK(counting.send(copy(0, 2, 0)));
        CHECK(counting.send(reduce(0, 1, 1)));
        CHECK_FALSE(counting.send(reduce(0, 5, 2)));
        // Only a switch that copies needs to know what it was.
        CHECK(counting.opened() == std::vector<std::size_t>{copies ? 1U : 0U});
        CHECK(counting.handed().copies[0].has_left);
        CHECK(counting.size_at(0) == 2);
    }
}

TEST_CASE("a part that arrives as a copy, and one that a switch should add, are not counted") {
    Counting counting({});
    CHECK_FALSE(counting.send(reduce(0, 2, 0)));
    CHECK(counting.send(copy(0, 2, 0)));
    CHECK_FALSE(counting.send(copy(0, 1, 1)));
    CHECK(counting.send(reduce(0, 1, 1)));
}

TEST_CASE("copies leave a switch in order of link number, whatever the order of the sends") {
    Counting counting({});
    CHECK(counting.send(copy(0, 2, 0)));
    CHECK(counting.send(copy(0, 4, 0)));
    CHECK(counting.send(reduce(0, 3, 1)));
    CHECK_FALSE(counting.send(reduce(0, 1, 1)));
    CHECK(counting.undone(1).size() == 1);
    CHECK(counting.send(reduce(0, 1, 1)));
    CHECK(counting.send(reduce(0, 3, 1)));
}

TEST_CASE("a chunk that is opened hands over what waits, what is in flight and what has arrived") {
    Counting counting({});
    CHECK(counting.send(copy(0, 2, 0)));
    CHECK(counting.send(reduce(0, 1, 1)));  // arrives at 0
    CHECK(counting.send(copy(0, 4, 1)));    // waits at the switch
    CHECK(counting.send(copy(0, 0, 2)));    // in flight
    CHECK(counting.opened() == std::vector<std::size_t>{1});
    REQUIRE(counting.handed().arrivals.size() == 1);
    CHECK(counting.handed().arrivals[0].value->bits.count() == 2);
    CHECK(counting.size_at(0) == 2);
    CHECK(counting.size_at(1) == 1);
}

TEST_CASE("sums through a cut-through switch are counted, as long as they leave in time") {
    Counting counting({.cut_through = true}, 1);
    for (const Send& send : {copy(0, 2, 0), reduce(0, 1, 1), copy(0, 4, 1), reduce(0, 1, 2), copy(0, 0, 4),
                             copy(0, 3, 5), copy(0, 0, 5), copy(0, 5, 6)})
        CHECK(counting.send(send));
    CHECK(counting.is_complete());

    Counting early({.cut_through = true}, 1);
    CHECK(early.send(copy(0, 2, 0)));
    CHECK_FALSE(early.send(reduce(0, 1, 0)));
    CHECK_FALSE(early.send(copy(0, 1, 1)));
    CHECK(early.send(reduce(0, 1, 1)));
}

TEST_CASE("a part of a sum that never leaves a cut-through switch is handed over with its value") {
    Counting counting({.cut_through = true}, 1);
    CHECK(counting.send(copy(0, 2, 0)));
    CHECK_FALSE(counting.send(copy(0, 4, 0)));  // both would be due at one tick
    CHECK_FALSE(counting.is_complete());
    REQUIRE(counting.handed().passages.size() == 1);
    CHECK(counting.handed().passages[0].second->bits.count() == 1);
}
