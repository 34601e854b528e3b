#include "core/search_options.hpp"

#include "source_dir.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <set>
#include <string>

using namespace tutti;

namespace {

std::string row_of(const SearchOption& option) {
    return "| `" + std::string(option.name) + "` | " + option_text(option.value(SearchOptions{})) + " | " +
           option_text(option.least) + " … " + option_text(option.most) +
           (option.is_count() ? "" : ", real") + " | " + std::string(option.meaning) + " |";
}

}  // namespace

TEST_CASE("every search option has a default within its range") {
    for (const SearchOption& option : search_option_table()) {
        INFO(option.name);
        CHECK(option.allows(option.value(SearchOptions{})));
        CHECK(option.least < option.most);
    }
}

TEST_CASE("no two search options turn the same thing, and each turns one") {
    std::set<std::string> changed;
    for (const SearchOption& option : search_option_table()) {
        INFO(option.name);
        SearchOptions options;
        const double usual = option.value(options);
        option.set(options, usual == option.most ? option.least : option.most);
        const auto changes = changed_options(options);
        REQUIRE(changes.size() == 1);
        CHECK(changes.begin()->first == option.name);
        CHECK(changes.begin()->second == option.value(options));
        changed.insert(changes.begin()->first);
    }
    CHECK(changed.size() == search_option_table().size());
    // Every member of the struct has a row: eight bytes each.
    CHECK(sizeof(SearchOptions) == 8 * search_option_table().size());
}

TEST_CASE("a count takes whole numbers of its range only, a real number any") {
    const SearchOption& tries = *find_search_option("tries");
    CHECK(tries.allows(1));
    CHECK_FALSE(tries.allows(0));
    CHECK_FALSE(tries.allows(1.5));
    CHECK_FALSE(tries.allows(1e9));
    const SearchOption& share = *find_search_option("exact-share");
    CHECK(share.allows(0.25));
    CHECK_FALSE(share.allows(1.25));
    CHECK(find_search_option("exact") == nullptr);
}

TEST_CASE("docs/options.md lists the search options as they are") {
    std::ifstream page(std::string(TUTTI_SOURCE_DIR) + "/docs/options.md");
    std::set<std::string> rows;
    for (std::string line; std::getline(page, line);) {
        if (line.starts_with("| `")) rows.insert(line);
    }
    std::set<std::string> expected;
    for (const SearchOption& option : search_option_table()) expected.insert(row_of(option));
    for (const std::string& row : expected) {
        INFO("missing: ", row);
        CHECK(rows.contains(row));
    }
    for (const std::string& row : rows) {
        INFO("too much: ", row);
        CHECK(expected.contains(row));
    }
}
