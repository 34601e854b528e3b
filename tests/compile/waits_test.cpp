#include "compile/waits.hpp"

#include <doctest/doctest.h>

namespace {

using namespace tutti::compile;
using Places = std::vector<std::size_t>;
using Steps = std::vector<StepOf>;

Steps next(Waits& waits, std::uint32_t block, const Places& reads, const Places& writes) {
    return waits.next(block, reads, writes);
}

}  // namespace

TEST_CASE("a reader waits for the last writer, and a writer for the readers since") {
    Waits waits(3, 1);
    CHECK(next(waits, 0, {}, {0}).empty());
    CHECK(next(waits, 1, {0}, {}) == Steps{{0, 0}});
    CHECK(next(waits, 2, {0}, {}) == Steps{{0, 0}});
    // The writer is over when its readers are.
    CHECK(next(waits, 0, {}, {0}) == Steps{{2, 0}, {1, 0}});
}

TEST_CASE("steps of one thread block do not wait for each other") {
    Waits waits(2, 2);
    CHECK(next(waits, 0, {}, {0}).empty());
    CHECK(next(waits, 0, {0}, {1}).empty());
    CHECK(next(waits, 0, {}, {0, 1}).empty());
}

TEST_CASE("what is known to be over from another wait is not waited for again") {
    Waits waits(3, 3);
    CHECK(next(waits, 0, {}, {0}).empty());
    CHECK(next(waits, 0, {}, {1}).empty());
    // A later step of the block says it of the earlier one.
    CHECK(next(waits, 1, {0, 1}, {2}) == Steps{{0, 1}});
    CHECK(next(waits, 1, {0}, {}).empty());
    // Block 1 knew of block 0, so who waits for block 1 knows too.
    CHECK(next(waits, 2, {0, 1, 2}, {}) == Steps{{1, 0}});
    // What block 2 has learnt it has learnt for all its later steps.
    CHECK(next(waits, 2, {1}, {}).empty());
}
