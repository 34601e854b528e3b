// Doubles choose sends in the heuristics (prices, rates). The schedules are the same on every machine as long
// as only operations are used that IEEE 754 defines to the last bit (heuristics/README.md).

#include "source_dir.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>

namespace fs = std::filesystem;

TEST_CASE("heuristics call no function of floating point whose result depends on the library") {
    const std::regex inexact(
        R"(\b(exp|exp2|expm1|log|log2|log10|log1p|pow|sqrt|cbrt|hypot|sin|cos|tan|tanh|erf|fma|powl|expf|logf|powf)\s*\()");
    REQUIRE(std::regex_search(std::string("price = std::exp(load)"), inexact));
    std::size_t files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(TUTTI_SOURCE_DIR) / "heuristics")) {
        if (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp") continue;
        ++files;
        std::ifstream in(entry.path());
        for (std::string line; std::getline(in, line);) {
            const std::string code = line.substr(0, line.find("//"));
            INFO(entry.path().string(), ": ", line);
            CHECK_FALSE(std::regex_search(code, inexact));
        }
    }
    CHECK(files > 60);
}

TEST_CASE("a product and a sum are rounded one after the other") {
    // (1 + e) * (1 - e) = 1 - e^2 rounds to 1, so the sum is 0; fused into one rounding it would be -e^2.
    volatile double e = 0x1p-30;
    const double a = 1 + e, b = 1 - e, c = -1;
    CHECK(a * b + c == 0);
}
