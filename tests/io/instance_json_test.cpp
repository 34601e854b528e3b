#include "io/instance_json.hpp"

#include "io/json_text.hpp"
#include "scratch.hpp"

using namespace tutti;
using namespace tutti::io;
using namespace tutti::test;

namespace {

/// An instance on a ring of six, with these collectives and groups.
Json on_ring(const std::string& collectives, const std::string& groups = R"({"odd": [5, 1, 3]})") {
    Json json = Json::parse(
        R"({"tutti": 1, "topology": {"generate": {"kind": "ring", "npus": 6, "alpha": 1, "beta": 2}}})");
    json["groups"] = Json::parse(groups);
    json["collectives"] = Json::parse(collectives);
    return json;
}

Instance parsed(const std::string& collectives) { return parse_instance(on_ring(collectives), "fallback"); }

InputError refused(const Json& json) {
    return refusal([&] { (void)parse_instance(json, "x"); });
}
InputError refused_collectives(const std::string& collectives) { return refused(on_ring(collectives)); }

std::vector<std::uint32_t> numbers(std::span<const NodeId> nodes) {
    std::vector<std::uint32_t> result;
    for (const NodeId node : nodes) result.push_back(node.value());
    return result;
}

void check_equal(const Instance& a, const Instance& b) {
    CHECK(a.name() == b.name());
    CHECK(a.topology().npus() == b.topology().npus());
    CHECK(a.topology().busy() == b.topology().busy());
    CHECK(a.topology().parts().switches == b.topology().parts().switches);
    CHECK(a.topology().links() == b.topology().links());
    REQUIRE(a.groups().size() == b.groups().size());
    for (std::size_t i = 0; i < a.groups().size(); ++i) {
        CHECK(a.groups()[i].name == b.groups()[i].name);
        CHECK(a.groups()[i].members == b.groups()[i].members);
    }
    REQUIRE(a.collectives().size() == b.collectives().size());
    for (std::size_t i = 0; i < a.collectives().size(); ++i) {
        const Collective &x = a.collectives()[i], &y = b.collectives()[i];
        CHECK(x.id == y.id);
        CHECK(x.kind == y.kind);
        CHECK(x.group == y.group);
        CHECK(x.chunks == y.chunks);
        CHECK(x.root == y.root);
        CHECK(x.chunk_bytes == y.chunk_bytes);
        CHECK(x.release == y.release);
        CHECK(x.releases == y.releases);
        CHECK(x.forwarding == y.forwarding);
        CHECK(x.counts == y.counts);
        CHECK(x.pairs == y.pairs);
    }
    REQUIRE(a.chunks() == b.chunks());
    for (std::size_t c = 0; c < a.chunks(); ++c) {
        const Demand x = a.demand(ChunkId(c)), y = b.demand(ChunkId(c));
        CHECK(x.collective == y.collective);
        CHECK(x.bytes == y.bytes);
        CHECK(x.reduction == y.reduction);
        CHECK(std::ranges::equal(x.holders, y.holders));
        CHECK(std::ranges::equal(x.receivers, y.receivers));
    }
}

constexpr const char* kEveryKind = R"([
  {"id": "b", "kind": "broadcast", "group": "odd", "root": 2, "chunks": 3},
  {"kind": "scatter", "root": 5}, {"kind": "gather", "group": "odd"}, {"kind": "reduce", "release": 40},
  {"kind": "all_gather", "forwarding": "group", "group": "odd"}, {"kind": "reduce_scatter", "chunk_bytes": 1024},
  {"kind": "all_reduce", "chunks": 2}, {"kind": "all_to_all", "group": "odd"},
  {"kind": "all_to_all_v", "group": "odd", "counts": [[0, 1, 2], [3, 0, 0], [1, 1, 0]], "chunks": 1},
  {"kind": "all_to_next"}, {"kind": "permute", "pairs": [[0, 3], [3, 0]]},
  {"kind": "custom", "demands": [{"holders": [0, 4], "receivers": [1], "reduce": true},
                                 {"holders": [2], "receivers": [3, 1], "bytes": 7}]}])";

}  // namespace

TEST_CASE("the example of the instance format is read") {
    const Json json = Json::parse(R"({
      "tutti": 1, "name": "mesh3x3-ag-corner-group",
      "topology": {"npus": 9, "switches": 0, "busy": "beta", "links": [{"src": 0, "dst": 1, "alpha": 1, "beta": 2}]},
      "groups": {"corners": [0, 2, 6, 8]}, "forwarding": "any",
      "collectives": [{"id": "ag", "kind": "all_gather", "group": "corners", "chunks": 1}]})");
    const Instance instance = parse_instance(json, "fallback");
    CHECK(instance.name() == "mesh3x3-ag-corner-group");
    CHECK(instance.topology().links().size() == 1);
    CHECK(instance.groups().size() == 1);
    CHECK(instance.chunks() == 4);
    CHECK(numbers(instance.demand(ChunkId(1)).holders) == std::vector<std::uint32_t>{2});
    CHECK(numbers(instance.demand(ChunkId(1)).receivers) == std::vector<std::uint32_t>{0, 2, 6, 8});
}

TEST_CASE("every kind is read with its fields, and defaults fill the rest") {
    const Instance instance = parsed(kEveryKind);
    REQUIRE(instance.collectives().size() == 12);
    CHECK(instance.name() == "fallback");
    CHECK(instance.collectives()[0].root == Rank(2));
    CHECK(numbers(instance.demand(ChunkId(0)).holders) == std::vector<std::uint32_t>{3});
    CHECK(instance.collectives()[2].root == Rank(0));
    CHECK(instance.collectives()[4].id == "all_gather4");
    CHECK_FALSE(instance.collectives()[4].root.has_value());
    CHECK(instance.collectives()[4].forwarding == Forwarding::Group);
    CHECK(instance.collectives()[3].release == Ticks(40));
    CHECK(instance.collectives()[5].chunk_bytes == Bytes{1024});
    const Demand last = instance.demand(ChunkId(instance.chunks() - 1));
    CHECK(last.bytes == Bytes{7});
    CHECK(numbers(last.receivers) == std::vector<std::uint32_t>{1, 3});
    CHECK(instance.demand(ChunkId(instance.chunks() - 2)).reduction);
}

TEST_CASE("the group 'all' is there when it is used, and may be spelt out but not changed") {
    CHECK(parsed(R"([{"kind": "all_gather", "group": "odd"}])").groups().size() == 1);
    const Instance used = parsed(
        R"([{"kind": "all_gather", "group": "odd"}, {"kind": "all_reduce"}, {"kind": "gather", "group": "all"}])");
    REQUIRE(used.groups().size() == 2);
    CHECK(used.groups()[1].name == "all");
    CHECK(used.groups()[1].members.size() == 6);
    const auto spelt = parse_instance(
        on_ring(R"([{"kind": "all_gather"}])", R"({"all": [0, 1, 2, 3, 4, 5], "x": [1]})"), "x");
    CHECK(spelt.groups().size() == 2);
    CHECK(spelt.collectives()[0].group == GroupId(0));
    const auto changed = refused(on_ring(R"([{"kind": "all_gather"}])", R"({"all": [0, 1, 2, 3, 5, 4]})"));
    CHECK(changed.place() == "/groups/all");
}

TEST_CASE("the instance's forwarding applies where a collective gives none") {
    Json json = on_ring(
        R"([{"kind": "all_gather", "group": "odd"}, {"kind": "all_gather", "group": "odd", "forwarding": "any"}])");
    json["forwarding"] = "group";
    const Instance instance = parse_instance(json, "x");
    CHECK(instance.collectives()[0].forwarding == Forwarding::Group);
    CHECK(instance.collectives()[1].forwarding == Forwarding::Any);
    CHECK_FALSE(instance.may_carry(NodeId(0), CollectiveId(0)));
}

TEST_CASE("a written instance reads back equal") {
    const Instance instance = parsed(kEveryKind);
    check_equal(instance, parse_instance(write_instance(instance), "other"));

    const Json physical = Json::parse(R"({
      "tutti": 1, "name": "naïve", "topology": {"generate": {"kind": "star", "npus": 4, "latency_ns": 0.7, "bandwidth_GBps": 53.6870912, "copy": true, "buffer": 2}, "busy": "alpha+beta"},
      "groups": {"all": [0, 1, 2, 3], "r": [3, 0]},
      "collectives": [{"kind": "all_gather", "group": "r", "chunk_bytes": 1048576}]})");
    const Instance star = parse_instance(physical, "x");
    check_equal(star, parse_instance(write_instance(star), "other"));

    const Scratch scratch;
    save_instance(scratch.path("saved.json"), star);
    check_equal(star, read_instance(scratch.path("saved.json")));
    CHECK(
        contains(content_of(scratch.path("saved.json")),
                 "\n      {\"src\": 0, \"dst\": 4, \"latency_ns\": 0.7, \"bandwidth_GBps\": 53.6870912},\n"));
}

TEST_CASE("sizes in an instance may have units, and are written as bytes") {
    const auto with = [](const std::string& size) {
        return on_ring(R"([{"kind": "all_gather", "chunk_bytes": )" + size +
                       R"(}, {"kind": "custom", "demands": [{"holders": [0], "receivers": [1], "bytes": )" +
                       size + "}]}]");
    };
    const Instance instance = parse_instance(with("\"1.5KB\""), "x");
    CHECK(instance.collectives()[0].chunk_bytes == Bytes{1536});
    CHECK(instance.collectives()[1].demands[0].bytes == Bytes{1536});
    CHECK(write_instance(instance) == write_instance(parse_instance(with("1536"), "x")));
    for (const char* bad : {"\"0\"", "\"1X\"", "\"9P\"", "\"0.3M\"", "1.5", "0"}) {
        CAPTURE(bad);
        CHECK(refused(with(bad)).place() == "/collectives/0/chunk_bytes");
    }
}

TEST_CASE("an implied group 'all' is not written, one at another position is") {
    CHECK_FALSE(write_instance(parsed(R"([{"kind": "all_gather"}])"))["groups"].contains("all"));
    const auto first = parse_instance(on_ring(R"([{"kind": "gather", "group": "x"}, {"kind": "all_gather"}])",
                                              R"({"all": [0, 1, 2, 3, 4, 5], "x": [1]})"),
                                      "x");
    CHECK(write_instance(first)["groups"].contains("all"));
    check_equal(first, parse_instance(write_instance(first), "x"));
}

TEST_CASE("an instance without a name is named after its file, and errors name the file") {
    const Scratch scratch;
    Json json = on_ring(R"([{"kind": "all_gather"}])");
    CHECK(read_instance(scratch.file("ring six.v2.json", json.dump())).name() == "ring six.v2");
    json["collectives"][0]["group"] = "od";
    const std::string path = scratch.file("bad.json", json.dump());
    const auto error = refusal([&] { (void)read_instance(path); });
    CHECK(std::string(error.what()) ==
          path + ": at /collectives/0/group: expected a group (did you mean 'odd'?), found \"od\"");
}

TEST_CASE("a field of another kind is refused with the kinds it belongs to") {
    const auto error = refused_collectives(R"([{"kind": "all_gather", "root": 0}])");
    CHECK(error.place() == "/collectives/0/root");
    CHECK(error.message() ==
          "'root' does not belong to all_gather; it belongs to broadcast, scatter, gather, reduce");
    CHECK(contains(refused_collectives(R"([{"kind": "custom", "demands": [], "chunks": 2}])").message(),
                   "'chunks' does not belong to custom"));
}

TEST_CASE("a file of another version, or a schedule, is refused before its fields are read") {
    CHECK(refused(Json::parse(R"({"tutti": 7, "new_field": 1})")).message() ==
          "this file is format 7, this tutti reads 1");
    CHECK(refused(Json::parse(R"({"tutti_schedule": 1, "sends": []})")).message() ==
          "this is a schedule, expected an instance");
}

TEST_CASE("errors of the core constructors carry the JSON path") {
    CHECK(refused_collectives(
              R"([{"kind": "all_gather"}, {"kind": "all_to_all_v", "group": "odd", "counts": [[0]]}])")
              .place() == "/collectives/1/counts");
    CHECK(refused(on_ring(R"([{"kind": "all_gather"}])", R"({"g": [0, 0]})")).place() == "/groups/g/1");
}

TEST_CASE("a family of groups is named, numbered and used as one collective for each of its groups") {
    const Json json =
        on_ring(R"([{"kind": "all_reduce", "group": "odd"},
        {"id": "ag", "kind": "all_gather", "group": "tp", "chunks": 2}, {"kind": "broadcast", "group": "dp", "root": 1},
        {"kind": "reduce", "group": "tp[1]"}])",
                R"({"odd": [5, 1, 3], "tp": {"mesh": {"axes": [["dp", 2], ["tp", 3]]}, "along": "tp"},
        "dp": {"split": "MOD 3"}, "job": {"mesh": {"axes": [["dp", 2], ["tp", 3]]}, "along": ["dp", "tp"]}})");
    const Instance instance = parse_instance(json, "x");
    std::vector<std::string> names;
    for (const Group& group : instance.groups()) names.push_back(group.name);
    CHECK(names == std::vector<std::string>{"odd", "tp[0]", "tp[1]", "dp[0]", "dp[1]", "dp[2]", "job[0]"});
    CHECK(numbers(instance.groups()[2].members) == std::vector<std::uint32_t>{3, 4, 5});
    CHECK(numbers(instance.groups()[4].members) == std::vector<std::uint32_t>{1, 4});
    std::vector<std::pair<std::string, std::size_t>> ids;
    for (const Collective& collective : instance.collectives())
        ids.emplace_back(collective.id, collective.group.index());
    CHECK(ids == std::vector<std::pair<std::string, std::size_t>>{{"all_reduce0", 0},
                                                                  {"ag[0]", 1},
                                                                  {"ag[1]", 2},
                                                                  {"broadcast2[0]", 3},
                                                                  {"broadcast2[1]", 4},
                                                                  {"broadcast2[2]", 5},
                                                                  {"reduce3", 2}});
    CHECK(instance.collectives()[2].chunks == 2);
    CHECK(numbers(instance.demand(ChunkId(3 + 6 + 6 + 1)).holders) == std::vector<std::uint32_t>{4});
    check_equal(instance, parse_instance(write_instance(instance), "other"));
}

TEST_CASE("releases by rank are read, kept and written") {
    const auto text = [](const char* release) {
        return on_ring(R"([{"kind": "all_gather", "group": "g", "release": )" + std::string(release) + "}]",
                       R"({"g": [4, 1, 3]})");
    };
    const Instance instance = parse_instance(text("[7, 2, 5]"), "x");
    const Collective& collective = instance.collectives()[0];
    CHECK(collective.release == Ticks(2));
    CHECK(collective.releases == std::vector{Ticks(7), Ticks(2), Ticks(5)});
    // Chunks are the ranks', in order; each has its holder's release.
    CHECK(instance.release(ChunkId(0)) == Ticks(7));
    CHECK(instance.release(ChunkId(1)) == Ticks(2));
    CHECK(instance.release_of(CollectiveId(0), NodeId(3)) == Ticks(5));
    check_equal(instance, parse_instance(write_instance(instance), "x"));
    // Equal ones are one.
    const Instance equal = parse_instance(text("[3, 3, 3]"), "x");
    CHECK(equal.collectives()[0].release == Ticks(3));
    CHECK(equal.collectives()[0].releases.empty());
    check_equal(equal, parse_instance(text("3"), "x"));
}

TEST_CASE("a family means what its groups mean when they are spelt out") {
    const Instance family = parse_instance(
        on_ring(R"([{"id": "ar", "kind": "all_reduce", "group": "g", "release": 3, "forwarding": "group"}])",
                R"({"g": {"split": "DIV 4"}})"),
        "x");
    const Instance spelt = parse_instance(
        on_ring(
            R"([{"id": "ar[0]", "kind": "all_reduce", "group": "g[0]", "release": 3, "forwarding": "group"},
                    {"id": "ar[1]", "kind": "all_reduce", "group": "g[1]", "release": 3, "forwarding": "group"}])",
            R"({"g[0]": [0, 1, 2, 3], "g[1]": [4, 5]})"),
        "x");
    check_equal(family, spelt);
}
