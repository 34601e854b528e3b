#include "text/size.hpp"

#include <doctest/doctest.h>

using tutti::text::size_in;

TEST_CASE("K, KB and KiB are 1024 bytes, in any case, and so on up to P") {
    for (const char* size : {"64K", "64k", "64KB", "64kb", "64Kb", "64KiB", "64kib", "64KIB", "64 KB",
                             "65536", "65536B", "65536 b", "64.0K", "0.0625M"}) {
        CAPTURE(size);
        CHECK(size_in(size) == 65536);
    }
    CHECK(size_in("3M") == std::int64_t{3} << 20);
    CHECK(size_in("3GiB") == std::int64_t{3} << 30);
    CHECK(size_in("3TB") == std::int64_t{3} << 40);
    CHECK(size_in("1P") == std::int64_t{1} << 50);
    CHECK(size_in("0") == 0);
    CHECK(size_in("9223372036854775807") == std::int64_t{9223372036854775807});
}

TEST_CASE("a size with decimals is taken where it is a whole number of bytes") {
    CHECK(size_in("1.5G") == std::int64_t{3} << 29);
    CHECK(size_in("0.5K") == 512);
    CHECK(size_in("1.0009765625K") == 1025);
    CHECK(size_in("2.000") == 2);
    for (const char* bad : {"0.3M", "1.5", "1.0001K", "0.0000000000000000001P"}) {
        CAPTURE(bad);
        CHECK_FALSE(size_in(bad));
    }
}

TEST_CASE("what is no size, or none of 63 bits, is none") {
    for (const char* bad : {"",
                            "K",
                            "KB",
                            "1X",
                            "1KX",
                            "1KiBs",
                            "1Ki",
                            "1BK",
                            "1  K",
                            " 1K",
                            "1K ",
                            "-1",
                            "+1",
                            "1e3",
                            ".5K",
                            "1.K",
                            "1.2.3K",
                            "0x10",
                            "1,000",
                            "9223372036854775808",
                            "8192P",
                            "99999999999999999999",
                            "99999999999999999999999999999P"}) {
        CAPTURE(bad);
        CHECK_FALSE(size_in(bad));
    }
}
