// What every backend owes, whatever its solver.

#include "models/backends/registry.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

using namespace tutti::models;

TEST_CASE("every backend that was built opens, and for others a reason is given") {
    for (const BackendEntry& entry : backends()) {
        CAPTURE(entry.name);
        const OpenedBackend opened = entry.open();
        CAPTURE(opened.absence);
        CHECK(static_cast<bool>(opened) == entry.built());
        CHECK(opened.absence.empty() == entry.built());
    }
}

TEST_CASE("every backend that is there names its library's version and file") {
    for (const BackendEntry& entry : backends()) {
        const OpenedBackend opened = entry.open();
        if (!opened) continue;
        CAPTURE(entry.name);
        const SolverLibrary library = opened.backend->library();
        CAPTURE(library.version);
        CAPTURE(library.file);
        CHECK(std::ranges::count(library.version, '.') >= 1);
        CHECK(std::filesystem::is_regular_file(library.file));
        CHECK(library.file.find(".so") != std::string::npos);
    }
}

TEST_CASE("every backend solves a toy program, more than once and after the others") {
    for (int round = 0; round < 2; ++round) {
        for (const BackendEntry& entry : backends()) {
            const OpenedBackend opened = entry.open();
            if (!opened) continue;
            CAPTURE(entry.name);
            const Answer answer = opened.backend->solve(toy(), {});
            CAPTURE(answer.words);
            CHECK(answer.ended == Ended::Optimal);
            CHECK(answer.objective == kToyOptimum);
            CHECK(answer.bound == kToyOptimum);
            CHECK(answer.values == std::vector<std::int64_t>{3, 1});
        }
    }
}

TEST_CASE("a backend is found by its name, and only by its name") {
    for (const BackendEntry& entry : backends()) CHECK(find_backend(entry.name) == &entry);
    CHECK(find_backend("cplex") == nullptr);
    CHECK(find_backend("") == nullptr);
}

TEST_CASE("all three solvers are there where they are required") {
    const char* const required = std::getenv("TUTTI_REQUIRE_SOLVERS");
    if (required == nullptr || std::string_view(required) != "1") return;
    for (const std::string_view name : {"cpsat", "highs", "z3"}) {
        CAPTURE(name);
        const BackendEntry* const entry = find_backend(name);
        REQUIRE(entry != nullptr);
        const OpenedBackend opened = entry->open();
        CAPTURE(opened.absence);
        CHECK(static_cast<bool>(opened));
    }
}
