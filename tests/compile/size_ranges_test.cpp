#include "compile/size_ranges.hpp"

#include <doctest/doctest.h>

using tutti::compile::size_ranges;
using tutti::compile::SizeRange;

using Ranges = std::vector<SizeRange>;
using Sizes = std::vector<std::int64_t>;

TEST_CASE("plans share all sizes at the geometric means, without overlap or gap") {
    CHECK(size_ranges(Sizes{1024, 4096, 65536}, 0, 0, true) == Ranges{{0, 2048}, {2049, 16384}, {16385, 0}});
    // A runtime that stops short of maxBytes.
    CHECK(size_ranges(Sizes{1024, 4096}, 16, 8192, false) == Ranges{{16, 2049}, {2049, 8192}});
    CHECK(size_ranges(Sizes{7}, 1, 0, true) == Ranges{{1, 0}});
}

TEST_CASE("neighbouring and huge sizes have a mean between them") {
    CHECK(size_ranges(Sizes{5, 6}, 0, 0, true) == Ranges{{0, 5}, {6, 0}});
    const std::int64_t huge = std::int64_t{1} << 60;
    CHECK(size_ranges(Sizes{1, huge}, 0, 0, true)[0].max_bytes == std::int64_t{1} << 30);
    CHECK(size_ranges(Sizes{huge - 1, huge}, 0, 0, true)[0].max_bytes == huge - 1);
}
