#include "plan/slices.hpp"
#include "tests/support/execution_builder.hpp"

#include <doctest/doctest.h>

namespace tutti::plan {

TEST_SUITE("plan: slices") {
    TEST_CASE("chunks are cut only as far as thread block groups need") {
        test::ExecutionBuilder plan("test", 2);
        plan.gpu(12, 12).tb("copy i0+4 -> o0+4 part 1/4", "copy i0+2 -> o0+2 part 3/4");
        plan.gpu(12, 12);
        // Four thread blocks share four chunks without cutting one, and two chunks by halves.
        REQUIRE(parts_per_chunk(plan) == 2);
        const auto& ops = plan.plan().gpus[0].blocks[0].ops;
        const PartRange whole = slice_of(ops[0], ops[0].src[0], 2), half = slice_of(ops[1], ops[1].dst[0], 2);
        CHECK(whole.first == 2);
        CHECK(whole.count == 2);
        CHECK(half.first == 3);
        CHECK(half.count == 1);
    }

    TEST_CASE("an operation outside a group takes its operands whole") {
        test::ExecutionBuilder plan("test", 1);
        plan.gpu(4, 4).tb("copy i1+2 -> o0+2");
        CHECK(parts_per_chunk(plan) == 1);
        const auto& op = plan.plan().gpus[0].blocks[0].ops[0];
        CHECK(slice_of(op, op.src[0], 3).first == 3);
        CHECK(slice_of(op, op.src[0], 3).count == 6);
    }

    TEST_CASE("groups that cut chunks finer than any executor does have no parts") {
        test::ExecutionBuilder plan("test", 1);
        plan.gpu(4, 4).tb("copy i0 -> o0 part 0/65537");
        CHECK_FALSE(parts_per_chunk(plan));
    }
}

}  // namespace tutti::plan
