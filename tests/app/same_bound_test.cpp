// synth, verify and bound name one bound for one instance, because one policy decides which are
// computed.

#include "app/bound.hpp"
#include "app/cost.hpp"
#include "app/synthesize.hpp"
#include "tests/io/scratch.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace tutti;
using test::Scratch;

namespace {

/// Where the near-linear bounds prove less than a cut, a flow or a linear program.
const std::vector<std::string> kInstances{
    R"({"tutti": 1, "name": "rail", "topology": {"generate": {"kind": "rail", "nodes": 4, "npus_per_node": 4,
        "node_wire": {"alpha": 1, "beta": 1}, "rail_wire": {"alpha": 2, "beta": 9}}},
        "groups": {"a": [0, 4, 8, 12], "b": [1, 5, 9, 13], "c": [2, 6, 10, 14], "d": [0, 1, 2, 3]},
        "collectives": [{"kind": "all_reduce", "group": "a"}, {"kind": "all_gather", "group": "b"},
                        {"kind": "all_reduce", "group": "c", "chunks": 2}, {"kind": "all_to_all", "group": "d"}]})",
    R"({"tutti": 1, "name": "torus", "topology": {"generate": {"kind": "torus", "dims": [5, 5]}},
        "collectives": [{"kind": "all_to_all", "chunks": 1}]})",
    R"({"tutti": 1, "name": "bridge", "topology": {"npus": 6, "links": [
        {"src": 0, "dst": 1}, {"src": 1, "dst": 0}, {"src": 1, "dst": 2}, {"src": 2, "dst": 1},
        {"src": 2, "dst": 3}, {"src": 3, "dst": 2}, {"src": 3, "dst": 4}, {"src": 4, "dst": 3},
        {"src": 4, "dst": 5}, {"src": 5, "dst": 4}]},
        "collectives": [{"kind": "all_gather", "chunks": 2}]})"};

}  // namespace

TEST_CASE("synth, verify, cost and bound name the same bound of an instance, and say what they skipped") {
    const Scratch folder;
    for (const std::string& text : kInstances) {
        CAPTURE(text);
        const std::string file = folder.file("instance.json", text);
        const std::string schedule = folder.path("schedule.json");
        const app::Bounded bounded = app::bound({.instance = file});
        const app::Synthesized found =
            app::synthesize({.instance = file, .output = schedule, .method = "greedy"});
        REQUIRE(found.result);
        app::JudgeOptions asked;
        asked.files = {file, schedule};
        const app::Cost cost = app::cost(asked);
        CHECK(found.line.lower_bound == bounded.best().value);
        CHECK(cost.bound->value == bounded.best().value);
        CHECK(cost.skipped == found.line.skipped);
        // Whoever knows a schedule that meets the bound skips more, and only that.
        for (const SkippedBound& skipped : cost.skipped) {
            const bool not_needed = skipped.why.starts_with("not needed");
            CHECK(not_needed == (std::ranges::find(bounded.skipped, skipped) == bounded.skipped.end()));
        }
    }
}
