#define TUTTI_EXPECTS 0  // whatever the build
#include "core/expects.hpp"

#include <doctest/doctest.h>

TEST_CASE("without checks a precondition is compiled and not evaluated") {
    int evaluated = 0;
    const auto holds = [&] { return ++evaluated > 1; };
    expects(holds());
    CHECK(evaluated == 0);
}
