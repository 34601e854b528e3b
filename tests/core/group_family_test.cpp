#include "core/group_family.hpp"

#include "tests/support/cases.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace tutti;
using namespace tutti::test;

namespace {

std::vector<std::vector<std::uint32_t>> numbers(const GroupFamily& family) {
    std::vector<std::vector<std::uint32_t>> result;
    for (const auto& group : family) {
        auto& row = result.emplace_back();
        for (const NodeId member : group) row.push_back(member.value());
    }
    return result;
}

using Rows = std::vector<std::vector<std::uint32_t>>;

RankMesh mesh_of(const std::vector<std::size_t>& sizes) {
    RankMesh mesh;
    for (const std::size_t size : sizes) mesh.axes.push_back({std::string(mesh.axes.size() + 1, 'a'), size});
    return mesh;
}

/// Places along all axes, computed digit by digit from the right: the last axis is the fastest.
std::vector<std::size_t> places_of(std::size_t rank, const RankMesh& mesh) {
    std::vector<std::size_t> places(mesh.axes.size());
    for (std::size_t a = mesh.axes.size(); a-- > 0;) {
        places[a] = rank % mesh.axes[a].size;
        rank /= mesh.axes[a].size;
    }
    return places;
}

void check_partition(const GroupFamily& family, std::size_t ranks) {
    std::set<NodeId> met;
    std::size_t members = 0;
    for (const auto& group : family) {
        REQUIRE_FALSE(group.empty());
        members += group.size();
        met.insert(group.begin(), group.end());
    }
    CHECK(members == ranks);
    CHECK(met.size() == ranks);
    CHECK(std::ranges::is_sorted(family, {}, [](const auto& group) { return group.front(); }));
    if (ranks > 0) CHECK(met.rbegin()->index() == ranks - 1);
}

}  // namespace

TEST_CASE("lines of a mesh of ranks are those of DeviceMesh: the last axis is the fastest") {
    const RankMesh mesh = mesh_of({2, 4});  // ("dp", 2), ("tp", 4): [[0, 1, 2, 3], [4, 5, 6, 7]]
    CHECK(numbers(lines_along(mesh, {1})) == Rows{{0, 1, 2, 3}, {4, 5, 6, 7}});
    CHECK(numbers(lines_along(mesh, {0})) == Rows{{0, 4}, {1, 5}, {2, 6}, {3, 7}});
    CHECK(numbers(lines_along(mesh, {0, 1})) == Rows{{0, 1, 2, 3, 4, 5, 6, 7}});
    CHECK(numbers(lines_along(mesh, {1, 0})) == Rows{{0, 4, 1, 5, 2, 6, 3, 7}});
    CHECK(numbers(lines_along(mesh_of({2, 2, 3}), {0, 2})) == Rows{{0, 1, 2, 6, 7, 8}, {3, 4, 5, 9, 10, 11}});
}

TEST_CASE("a family along any axes of any mesh divides the ranks into lines that differ only along them") {
    for_seeds(cases(200), [](Rng& rng, std::uint64_t) {
        std::vector<std::size_t> sizes(1 + rng.below(4));
        for (std::size_t& size : sizes) size = 1 + rng.below(5);
        const RankMesh mesh = mesh_of(sizes);
        std::vector<std::size_t> along;
        for (std::size_t a = 0; a < sizes.size(); ++a) {
            if (along.empty() || rng.below(2) == 0)
                along.insert(along.begin() + static_cast<std::ptrdiff_t>(rng.below(along.size() + 1)), a);
        }
        const std::size_t ranks = *mesh.ranks(1000);
        const GroupFamily family = lines_along(mesh, along);
        check_partition(family, ranks);
        std::size_t length = 1;
        for (const std::size_t axis : along) length *= sizes[axis];
        for (const auto& group : family) {
            CHECK(group.size() == length);
            const auto first = places_of(group.front().index(), mesh);
            std::vector<std::size_t> before;
            for (const NodeId member : group) {
                const auto places = places_of(member.index(), mesh);
                std::vector<std::size_t> way;
                for (const std::size_t axis : along) way.push_back(places[axis]);
                for (std::size_t a = 0; a < sizes.size(); ++a) {
                    if (std::ranges::find(along, a) == along.end()) CHECK(places[a] == first[a]);
                }
                // Ranks of a group are in the order of their places, the last of `along` fastest.
                if (!before.empty()) CHECK(before < way);
                before = way;
            }
        }
    });
}

TEST_CASE("split words are read as nccl-tests reads NCCL_TESTS_SPLIT") {
    using enum RankSplit::Op;
    for (const char* text : {"AND 0x7", "and 7", "And0b111", "&7", "& 0X7", "AND\t7"}) {
        CAPTURE(text);
        CHECK(split_in(text) == RankSplit{And, 7});
    }
    CHECK(split_in("OR 0x7") == RankSplit{Or, 7});
    CHECK(split_in("|7") == RankSplit{Or, 7});
    CHECK(split_in("MOD 8") == RankSplit{Mod, 8});
    CHECK(split_in("%8") == RankSplit{Mod, 8});
    CHECK(split_in("DIV 8") == RankSplit{Div, 8});
    CHECK(split_in("/ 8") == RankSplit{Div, 8});
    CHECK(split_in("AND 0") == RankSplit{And, 0});
    for (const char* text : {"", " ", "AND", "AND ", "MOD 0", "DIV 0x0", "/0", "XOR 3", "8", "AND 7 ",
                             "AND 7x", "AND -1", "AND 2147483648", "MOD 010", "AND 0x", "DIV 1e3",
                             "AND 99999999999999999999", "MODULO 8", "AND 0xx7"}) {
        CAPTURE(text);
        CHECK_FALSE(split_in(text).has_value());
    }
}

TEST_CASE("splits divide ranks as the examples of nccl-tests say") {
    const auto split = [](const char* text, std::size_t ranks) {
        return numbers(split_ranks(ranks, *split_in(text)));
    };
    const Rows rails{{0, 4}, {1, 5}, {2, 6}, {3, 7}}, nodes{{0, 1, 2, 3}, {4, 5, 6, 7}};
    CHECK(split("AND 0x3", 8) == rails);
    CHECK(split("MOD 4", 8) == rails);
    CHECK(split("OR 0x3", 8) == nodes);
    CHECK(split("DIV 4", 8) == nodes);
    CHECK(split("AND 1", 6) == Rows{{0, 2, 4}, {1, 3, 5}});
    CHECK(split("AND 0", 3) == Rows{{0, 1, 2}});
    CHECK(split("OR 0", 3) == Rows{{0}, {1}, {2}});
    CHECK(split("DIV 2147483647", 3) == Rows{{0, 1, 2}});
    CHECK(split("MOD 3", 8) == Rows{{0, 3, 6}, {1, 4, 7}, {2, 5}});
}

TEST_CASE("any split divides the ranks by colour, and groups are in the order of their colours") {
    for_seeds(cases(200), [](Rng& rng, std::uint64_t) {
        const RankSplit split{static_cast<RankSplit::Op>(rng.below(4)),
                              static_cast<std::uint32_t>(1 + rng.below(20))};
        const std::size_t ranks = 1 + rng.below(40);
        const GroupFamily family = split_ranks(ranks, split);
        check_partition(family, ranks);
        std::vector<std::uint32_t> colours;
        for (const auto& group : family) {
            colours.push_back(split.colour(group.front().value()));
            CHECK(std::ranges::is_sorted(group));
            for (const NodeId member : group) CHECK(split.colour(member.value()) == colours.back());
        }
        CHECK(std::ranges::is_sorted(colours, std::ranges::less_equal{}));
    });
}

TEST_CASE("the ranks of a mesh are the product of its sizes, or too many") {
    CHECK(mesh_of({4, 8}).ranks(32) == 32);
    CHECK(mesh_of({4, 8}).ranks(31) == std::nullopt);
    CHECK(mesh_of({std::size_t{1} << 40, std::size_t{1} << 40, 1}).ranks(SIZE_MAX) == std::nullopt);
}
