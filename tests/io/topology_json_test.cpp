#include "io/topology_json.hpp"

#include "core/rng.hpp"
#include "source_dir.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

using namespace tutti;
using io::Json;
using io::JsonView;

namespace {

TopologyParts read(const std::string& text) {
    return io::read_topology(JsonView(Json::parse(text), "/topology"));
}
TopologyParts generate(const std::string& text) { return read(R"({"generate": )" + text + "}"); }

/// "at /topology/…: …", or nothing when there was no error.
std::string error_of(const std::string& text) {
    try {
        (void)read(text);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}
std::string generate_error(const std::string& text) { return error_of(R"({"generate": )" + text + "}"); }

bool starts_with(const std::string& text, const std::string& start) { return text.rfind(start, 0) == 0; }
bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// The error is at that place and says that.
void check_error(const std::string& error, const std::string& place, const std::string& words = "") {
    CAPTURE(error);
    CHECK(starts_with(error, "at " + place + ": "));
    CHECK(contains(error, words));
}

void check_same(const TopologyParts& a, const TopologyParts& b) {
    CHECK(a.npus == b.npus);
    CHECK(a.switches == b.switches);
    CHECK(a.busy == b.busy);
    CHECK(a.links == b.links);
}

TopologyParts through_text(const TopologyParts& parts) {
    return read(io::write_topology(Topology(parts)).dump());
}

Wire abstract(std::int64_t alpha, std::int64_t beta) { return {Ticks(alpha), Ticks(beta), Decimal{}}; }
Wire physical(std::int64_t alpha, Decimal bandwidth) { return {Ticks(alpha), Ticks(0), bandwidth}; }

Link link_of(std::size_t src, std::size_t dst, const Wire& wire) { return {NodeId(src), NodeId(dst), wire}; }

const std::string kRing4 = R"({"kind": "ring", "npus": 4, "alpha": 1, "beta": 2})";

TopologyParts random_parts(Rng& rng) {
    TopologyParts parts;
    parts.npus = static_cast<std::uint32_t>(2 + rng.below(6));
    parts.switches.resize(rng.below(4));
    const bool alike = rng.below(2) == 0;
    for (SwitchRule& rule : parts.switches) {
        rule.copy = rng.below(2) == 0;
        rule.reduce = rng.below(2) == 0;
        rule.cut_through = rng.below(3) == 0;
        if (rng.below(2) == 0) rule.buffer = static_cast<std::uint32_t>(rng.below(5));
        if (alike) rule = parts.switches.front();
    }
    if (rng.below(2) == 0) parts.busy = Busy::AlphaPlusBeta;
    const bool in_physical = rng.below(2) == 0;
    const std::size_t links = rng.below(12);
    while (parts.links.size() < links) {
        const std::size_t src = rng.below(parts.nodes()), dst = rng.below(parts.nodes());
        if (src == dst) continue;
        const auto ticks = [&] {
            return static_cast<std::int64_t>(rng.below(std::uint64_t{1} << (1 + rng.below(53))));
        };
        if (!in_physical) {
            parts.links.push_back(link_of(src, dst, abstract(ticks(), ticks() + 1)));
            continue;
        }
        const auto digits = static_cast<std::int64_t>(rng.below(999'999'999'999'999)) + 1;
        const Decimal bandwidth = decimal_from(static_cast<double>(digits) / 1e9);
        // Latencies are read up to 8 * 10^12 ns.
        parts.links.push_back(link_of(src, dst, physical(ticks() % 8'000'000'000'000'000, bandwidth)));
    }
    return parts;
}

}  // namespace

TEST_CASE("a topology may list its links in abstract units") {
    const TopologyParts parts = read(R"({"npus": 2, "switches": 1, "busy": "alpha+beta",
        "links": [{"src": 0, "dst": 2, "alpha": 1, "beta": 3}, {"src": 2, "dst": 1, "beta": 4}, {"src": 1, "dst": 0}]})");
    CHECK(parts.npus == 2);
    CHECK(parts.switches == std::vector<SwitchRule>(1));
    CHECK(parts.busy == Busy::AlphaPlusBeta);
    CHECK(parts.links == std::vector{link_of(0, 2, abstract(1, 3)), link_of(2, 1, abstract(0, 4)),
                                     link_of(1, 0, abstract(0, 1))});
}

TEST_CASE("a topology may list its links in physical units") {
    const TopologyParts parts = read(R"({"npus": 2, "links": [
        {"src": 0, "dst": 1, "latency_ns": 0.5, "bandwidth_GBps": 53.6870912}, {"src": 1, "dst": 0, "bandwidth_GBps": 25}]})");
    CHECK(parts.busy == Busy::Beta);
    CHECK(parts.links ==
          std::vector{link_of(0, 1, physical(500, {536870912, 7})), link_of(1, 0, physical(0, {25, 0}))});
    CHECK(Topology(parts).beta(LinkId(0), Bytes{1 << 20}) == Ticks(19'531'250));
}

TEST_CASE("switches are a count, a count with one rule, or a list of rules") {
    CHECK(read(R"({"npus": 1, "links": []})").switches.empty());
    CHECK(read(R"({"npus": 1, "switches": 2, "links": []})").switches == std::vector<SwitchRule>(2));
    const SwitchRule rule{.copy = true, .reduce = false, .cut_through = false, .buffer = 4};
    CHECK(
        read(R"({"npus": 1, "switches": 2, "switch": {"copy": true, "buffer": 4}, "links": []})").switches ==
        std::vector(2, rule));
    const SwitchRule other{.copy = false, .reduce = true, .cut_through = true, .buffer = {}};
    CHECK(
        read(
            R"({"npus": 1, "switches": [{"copy": true, "buffer": 4}, {"reduce": true, "cut_through": true}], "links": []})")
            .switches == std::vector{rule, other});
}

TEST_CASE("wires of generators default to alpha 0 and beta 1, and NVLinks to 25 GB/s") {
    CHECK(generate(R"({"kind": "ring", "npus": 3})").links[0].wire == abstract(0, 1));
    CHECK(generate(R"({"kind": "ring", "npus": 3, "alpha": 7})").links[0].wire == abstract(7, 1));
    CHECK(generate(R"({"kind": "ring", "npus": 3, "bandwidth_GBps": 12.5})").links[0].wire ==
          physical(0, {125, 1}));
    for (const char* kind : {"dgx1", "dgx2", "a100", "h100"}) {
        const std::string start = std::string(R"({"kind": ")") + kind + '"';
        CHECK(generate(start + "}").links[0].wire == physical(0, {25, 0}));
        CHECK(generate(start + R"(, "latency_ns": 700})").links[0].wire == physical(700'000, {25, 0}));
        CHECK(generate(start + R"(, "bandwidth_GBps": 20})").links[0].wire == physical(0, {20, 0}));
        CHECK(generate(start + R"(, "beta": 6})").links[0].wire == abstract(0, 6));
    }
}

TEST_CASE("a grid takes one wire or a value for each dimension") {
    const auto parts = generate(R"({"kind": "mesh", "dims": [2, 2], "alpha": 3, "beta": [10, 20]})");
    CHECK(parts.links[0] == link_of(0, 2, abstract(3, 10)));
    CHECK(parts.links[2] == link_of(0, 1, abstract(3, 20)));
    const auto torus =
        generate(R"({"kind": "torus", "dims": [2, 2], "latency_ns": [1, 2], "bandwidth_GBps": 4})");
    CHECK(torus.links[0] == link_of(0, 2, physical(1000, {4, 0})));
    CHECK(torus.links[2] == link_of(0, 1, physical(2000, {4, 0})));
    check_error(generate_error(R"({"kind": "mesh", "dims": [2, 2], "beta": [1, 2, 3]})"),
                "/topology/generate/beta", "an array of 2");
    check_error(generate_error(R"({"kind": "mesh", "dims": [2, 2], "beta": [1, 0]})"),
                "/topology/generate/beta/1");
    check_error(generate_error(R"({"kind": "ring", "npus": 2, "beta": [1, 1]})"), "/topology/generate/beta",
                "a single number");
}

TEST_CASE("the example of every kind reads, makes a topology and survives writing") {
    std::set<std::string_view> names;
    for (const io::GeneratorKind& kind : io::generator_kinds()) {
        CAPTURE(kind.name);
        names.insert(kind.name);
        CHECK_FALSE(kind.help.empty());
        const TopologyParts parts = generate(std::string(kind.example));
        CHECK(Topology(parts).links().size() > 0);
        check_same(through_text(parts), parts);
        const Json example = Json::parse(kind.example);
        CHECK(example.at("kind") == kind.name);
        for (const auto& [field, value] : example.items()) {
            CHECK((field == "kind" || std::ranges::find(kind.fields, field) != kind.fields.end()));
        }
    }
    CHECK(names.size() == 16);
}

TEST_CASE("the page on topologies names every kind and every field") {
    std::ifstream file(TUTTI_SOURCE_DIR "/instances/topologies.md");
    const std::string page(std::istreambuf_iterator<char>(file), {});
    for (const io::GeneratorKind& kind : io::generator_kinds()) {
        CAPTURE(kind.name);
        CHECK(contains(page, fmt::format("| `{}`", kind.name)));
        if (!kind.alias.empty()) CHECK(contains(page, fmt::format(", `{}` |", kind.alias)));
        for (const std::string_view field : kind.fields) {
            CAPTURE(field);
            CHECK(contains(page, fmt::format("`{}`", field)));
        }
    }
}

TEST_CASE("full and switch are other names of fully_connected and star") {
    check_same(generate(R"({"kind": "full", "npus": 4})"),
               generate(R"({"kind": "fully_connected", "npus": 4})"));
    check_same(generate(R"({"kind": "switch", "npus": 4})"), generate(R"({"kind": "star", "npus": 4})"));
}

TEST_CASE("a hypercube is given by its dimensions or by its NPUs") {
    check_same(generate(R"({"kind": "hypercube", "dimensions": 3})"),
               generate(R"({"kind": "hypercube", "npus": 8})"));
    const std::string place = "/topology/generate";
    check_error(generate_error(R"({"kind": "hypercube", "npus": 12})"), place + "/npus", "power of two");
    check_error(generate_error(R"({"kind": "hypercube", "npus": 1})"), place + "/npus");
    check_error(generate_error(R"({"kind": "hypercube", "npus": 8, "dimensions": 3})"), place + "/npus",
                "not both");
    check_error(generate_error(R"({"kind": "hypercube", "npus": 16777216})"), place + "/npus", "links");
    check_error(generate_error(R"({"kind": "hypercube", "dimensions": 30})"), place + "/dimensions", "nodes");
    check_error(generate_error(R"({"kind": "hypercube"})"), place, "'npus'");
}

TEST_CASE("switched kinds give their rule to all their switches") {
    const SwitchRule rule{.copy = true, .reduce = true, .cut_through = true, .buffer = 2};
    const std::string fields = R"("copy": true, "reduce": true, "cut_through": true, "buffer": 2})";
    for (const std::string start :
         {R"({"kind": "star", "npus": 4, )", R"({"kind": "fat_tree", "k": 2, "n": 2, )",
          R"({"kind": "rail", "nodes": 2, "npus_per_node": 2, )", R"({"kind": "dgx2", )",
          R"({"kind": "a100", )", R"({"kind": "h100", )"}) {
        const auto parts = generate(start + fields);
        CHECK(parts.switches == std::vector(parts.switches.size(), rule));
    }
    check_error(generate_error(R"({"kind": "ring", "npus": 4, "copy": true})"), "/topology/generate",
                "unknown field");
}

TEST_CASE("named wires override the common wire of a generator") {
    const auto parts =
        generate(R"({"kind": "dragonfly", "groups": 2, "routers_per_group": 2, "npus_per_router": 1,
        "global_links_per_router": 1, "beta": 3, "local_wire": {"beta": 5}, "global_wire": {"alpha": 9}})");
    CHECK(parts.links[0] == link_of(0, 4, abstract(0, 3)));
    CHECK(parts.links[8] == link_of(4, 5, abstract(0, 5)));
    CHECK(parts.links[12].wire == abstract(9, 1));
    check_error(
        generate_error(R"({"kind": "rail", "nodes": 2, "npus_per_node": 2, "rail_wire": {"betta": 5}})"),
        "/topology/generate/rail_wire", "did you mean 'beta'?");
    check_error(generate_error(R"({"kind": "rail", "nodes": 2, "npus_per_node": 2, "rail_wire": 5})"),
                "/topology/generate/rail_wire", "an object");
}

TEST_CASE("the factors of a product may each have a wire") {
    const auto parts = generate(R"({"kind": "product", "alpha": 8, "beta": 9, "factors": [
        {"shape": "one_way_ring", "size": 2, "beta": 3}, {"shape": "full", "size": 2}]})");
    CHECK(parts.links[0] == link_of(0, 2, abstract(0, 3)));
    CHECK(parts.links[1] == link_of(0, 1, abstract(8, 9)));
    const std::string place = "/topology/generate/factors";
    check_error(generate_error(R"({"kind": "product", "factors": []})"), place, "1 to 32");
    check_error(generate_error(R"({"kind": "product", "factors": [{"shape": "star", "size": 2}]})"),
                place + "/0/shape", "one of line, ring");
    check_error(generate_error(R"({"kind": "product", "factors": [{"shape": "line", "size": 0}]})"),
                place + "/0/size");
    check_error(generate_error(R"({"kind": "product", "factors": [{"shape": "line", "size": 5000},
        {"shape": "line", "size": 5000}]})"),
                place + "/1/size", "nodes");
}

TEST_CASE("a cluster composes generators, and its network need not say how many NPUs it has") {
    const auto rails =
        generate(R"({"kind": "cluster", "nodes": 3, "node": {"kind": "line", "npus": 2, "beta": 2},
        "network": {"kind": "ring", "beta": 7}})");
    CHECK(rails.npus == 6);
    CHECK(rails.links.size() == 3 * 2 + 2 * 6);
    CHECK(rails.links[6] == link_of(0, 2, abstract(0, 7)));
    CHECK(rails.links[12] == link_of(1, 3, abstract(0, 7)));
    const auto shared =
        generate(R"({"kind": "cluster", "nodes": 3, "node": {"kind": "line", "npus": 2}, "nics": [1],
        "planes": "shared", "network": {"kind": "star", "npus": 3}})");
    CHECK(shared.links.back() == link_of(6, 5, abstract(0, 1)));
    check_same(
        generate(
            R"({"kind": "rail", "nodes": 3, "npus_per_node": 2, "node_wire": {"beta": 2}, "rail_wire": {"beta": 9}})"),
        generate(R"({"kind": "cluster", "nodes": 3, "node": {"kind": "star", "npus": 2, "beta": 2},
                   "network": {"kind": "star", "beta": 9}})"));
}

TEST_CASE("errors inside a cluster name the inner place") {
    const std::string place = "/topology/generate";
    const auto with = [](const std::string& fields) {
        return generate_error(R"({"kind": "cluster", "nodes": 2, "node": {"kind": "ring", "npus": 4}, )" +
                              fields + "}");
    };
    check_error(with(R"("network": {"kind": "ring", "npus": 3})"), place + "/network", "a network of 2 NPUs");
    check_error(with(R"("network": {"kind": "rng"})"), place + "/network/kind", "did you mean 'ring'?");
    check_error(with(R"("network": {"kind": "torus", "dims": [0]})"), place + "/network/dims/0");
    check_error(with(R"("network": {"kind": "torus", "dims": [5000, 5000]})"), place + "/network/dims/1",
                "nodes");
    check_error(with(R"("nics": [], "network": {"kind": "ring"})"), place + "/nics");
    check_error(with(R"("nics": [0, 0], "network": {"kind": "ring"})"), place + "/nics/1", "twice");
    check_error(with(R"("nics": [4], "network": {"kind": "ring"})"), place + "/nics/0");
    check_error(with(R"("nics": [0, 1, 2, 3, 0], "network": {"kind": "ring"})"), place + "/nics",
                "at most 4");
    check_error(with(R"("planes": "rail", "network": {"kind": "ring"})"), place + "/planes",
                "did you mean 'rails'?");
    check_error(with(R"("planes": "shared")"), place, "'network'");
    check_error(with(R"("network": {"kind": "ring", "bandwidth_GBps": 50})"), place, "one kind");
    check_error(generate_error(
                    R"({"kind": "cluster", "nodes": 2, "node": {"kind": "ring", "npus": 0}, "network": {}})"),
                place + "/node/npus");
}

TEST_CASE("clusters cannot be nested without end") {
    std::string text = R"({"kind": "ring", "npus": 2})";
    for (int i = 0; i < 8; ++i) {
        text = R"({"kind": "cluster", "nodes": 1, "node": )" + text + R"(, "network": {"kind": "star"}})";
    }
    CHECK(generate_error(text).empty());
    for (int i = 0; i < 1000; ++i) {
        text = R"({"kind": "cluster", "nodes": 1, "node": )" + text + R"(, "network": {"kind": "star"}})";
    }
    CHECK(contains(generate_error(text), "nested more than 8 deep"));
}

TEST_CASE("links are removed by ends, by number, or in both directions") {
    const auto with = [](const std::string& remove) {
        return read(R"({"generate": )" + kRing4 + R"(, "remove": )" + remove + "}").links;
    };
    const auto all = with("[]");
    CHECK(all.size() == 8);
    CHECK(with("[[0, 1]]") == std::vector(all.begin() + 1, all.end()));
    CHECK(with(R"([{"link": [0, 1]}])") == with("[[0, 1]]"));
    CHECK(with(R"([{"link": 0}])") == with("[[0, 1]]"));
    CHECK(with(R"([{"between": [1, 0]}])") == std::vector(all.begin() + 2, all.end()));
    CHECK(with(R"([{"link": 0}, {"link": 1}, {"link": 7}])") == std::vector(all.begin() + 2, all.end() - 1));
    CHECK(with(R"([[0, 1], [0, 1]])") == with("[[0, 1]]"));
}

TEST_CASE("removing by ends takes parallel links, removing by number one of them") {
    const auto links = [](const std::string& remove) {
        return read(R"({"generate": {"kind": "dgx1"}, "remove": )" + remove + "}").links.size();
    };
    CHECK(links("[[0, 3]]") == 46);
    CHECK(links(R"([{"between": [0, 3]}])") == 44);
    CHECK(links(R"([{"link": 4}])") == 47);
    CHECK(links(R"([{"link": 4}, {"link": 5}])") == 46);
}

TEST_CASE("links are slowed by new values or by a factor") {
    const auto with = [](const std::string& slow) {
        return read(R"({"generate": )" + kRing4 + R"(, "slow": )" + slow + "}").links;
    };
    CHECK(with(R"([{"link": 2, "beta": 9}])")[2].wire == abstract(1, 9));
    CHECK(with(R"([{"link": [1, 2], "alpha": 5, "factor": 1.25}])")[2].wire == abstract(5, 3));
    const auto both = with(R"([{"between": [1, 2], "factor": 3}])");
    CHECK(both[2].wire == abstract(1, 6));
    CHECK(both[3].wire == abstract(1, 6));
    CHECK(both[1].wire == abstract(1, 2));
    const auto twice = with(R"([{"between": [1, 2], "factor": 3}, {"link": 2, "alpha": 7}])");
    CHECK(twice[2].wire == abstract(7, 6));

    const auto fast = read(R"({"generate": {"kind": "dgx1"}, "slow": [{"link": 0, "bandwidth_GBps": 6.25},
        {"link": 1, "latency_ns": 1.5, "factor": 4}]})");
    CHECK(fast.links[0].wire == physical(0, {625, 2}));
    CHECK(fast.links[1].wire == physical(1500, {625, 2}));
}

TEST_CASE("edits mean the links as generated, whatever else is edited") {
    const auto parts = read(R"({"generate": )" + kRing4 + R"(, "remove": [{"link": 0}, {"link": 3}],
        "slow": [{"link": 4, "beta": 50}, {"link": 0, "beta": 60}]})");
    CHECK(parts.links.size() == 6);
    CHECK(parts.links[2] == link_of(2, 3, abstract(1, 50)));
}

TEST_CASE("edits work on listed links too") {
    const auto parts =
        read(R"({"npus": 2, "links": [{"src": 0, "dst": 1}, {"src": 1, "dst": 0}, {"src": 0, "dst": 1}],
        "remove": [{"link": 2}], "slow": [{"link": [0, 1], "beta": 4}]})");
    CHECK(parts.links == std::vector{link_of(0, 1, abstract(0, 4)), link_of(1, 0, abstract(0, 1))});
}

TEST_CASE("edits that name no link or change nothing are refused at their place") {
    const auto remove = [](const std::string& entry) {
        return error_of(R"({"generate": )" + kRing4 + R"(, "remove": [)" + entry + "]}");
    };
    check_error(remove("[0, 2]"), "/topology/remove/0", "no link goes from 0 to 2");
    check_error(remove("[0, 4]"), "/topology/remove/0/1", "0 to 3");
    check_error(remove("[0]"), "/topology/remove/0", "two nodes");
    check_error(remove("[0, 1, 2]"), "/topology/remove/0", "two nodes");
    check_error(remove(R"({"link": 8})"), "/topology/remove/0/link", "0 to 7");
    check_error(remove(R"({"link": -1})"), "/topology/remove/0/link");
    check_error(remove(R"({"link": "0-1"})"), "/topology/remove/0/link");
    check_error(remove(R"({"between": [0, 2]})"), "/topology/remove/0/between", "no link joins 0 and 2");
    check_error(remove(R"({"between": 3})"), "/topology/remove/0/between", "two nodes");
    check_error(remove(R"({"between": [0, 1], "link": 3})"), "/topology/remove/0", "either");
    check_error(remove("{}"), "/topology/remove/0", "either");
    check_error(remove(R"({"links": 3})"), "/topology/remove/0", "did you mean 'link'?");
    check_error(remove("3"), "/topology/remove/0", "an object");
    check_error(error_of(R"({"generate": )" + kRing4 + R"(, "remove": 3})"), "/topology/remove", "an array");
    check_error(error_of(R"({"npus": 1, "links": [], "remove": [{"link": 0}]})"), "/topology/remove/0/link",
                "no links");

    const auto slow = [](const std::string& entry) {
        return error_of(R"({"generate": )" + kRing4 + R"(, "slow": [)" + entry + "]}");
    };
    check_error(slow(R"({"link": 0})"), "/topology/slow/0", "found none");
    check_error(slow(R"({"beta": 2})"), "/topology/slow/0", "either");
    check_error(slow("[0, 1]"), "/topology/slow/0", "an object");
    check_error(slow(R"({"link": 0, "factor": 0})"), "/topology/slow/0/factor");
    check_error(slow(R"({"link": 0, "factor": -2})"), "/topology/slow/0/factor");
    check_error(slow(R"({"between": [0, 1], "factor": 2}, {"link": 1, "factor": 2})"), "/topology/slow/1",
                "link 1 has a factor already");
    check_error(slow(R"({"link": 0, "beta": 0})"), "/topology/slow/0/beta");
    check_error(slow(R"({"link": 0, "bandwidth_GBps": 3})"), "/topology/slow/0/bandwidth_GBps",
                "abstract units");
    check_error(slow(R"({"link": 0, "latency_ns": 3})"), "/topology/slow/0/latency_ns", "abstract units");
    check_error(slow(R"({"link": 0, "beta": 9007199254740992, "factor": 2})"), "/topology/slow/0", "2^53");
    check_error(error_of(R"({"generate": {"kind": "dgx1"}, "slow": [{"link": 0, "alpha": 3}]})"),
                "/topology/slow/0/alpha", "physical units");
}

TEST_CASE("a long list of edits is looked up, not searched; edits that multiply are refused") {
    std::string text = R"({"generate": {"kind": "ring", "npus": 100000}, "remove": [)";
    for (int i = 0; i < 50'000; ++i) text += fmt::format("[{},{}],", i, i + 1);
    text.back() = ']';
    CHECK(read(text + "}").links.size() == 150'000);

    std::string parallel = R"({"npus": 2, "links": [)";
    for (int i = 0; i < 20'000; ++i) parallel += R"({"src": 0, "dst": 1},)";
    parallel.back() = ']';
    parallel += R"(, "remove": [)";
    for (int i = 0; i < 20'000; ++i) parallel += "[0,1],";
    parallel.back() = ']';
    CHECK(contains(error_of(parallel + "}"), "again and again"));
}

TEST_CASE("a wrong listed topology is refused at its place") {
    const auto with = [](const std::string& links) {
        return error_of(R"({"npus": 2, "switches": 1, "links": [{"src": 0, "dst": 1}, )" + links + "]}");
    };
    check_error(with(R"({"src": 0})"), "/topology/links/1", "'dst'");
    check_error(with(R"({"src": 0, "dst": 3})"), "/topology/links/1/dst", "0 to 2");
    check_error(with(R"({"src": -1, "dst": 0})"), "/topology/links/1/src");
    check_error(with(R"({"src": 0.5, "dst": 0})"), "/topology/links/1/src");
    check_error(with(R"({"src": "0", "dst": 1})"), "/topology/links/1/src");
    check_error(with(R"({"src": 2, "dst": 2})"), "/topology/links/1", "two different nodes");
    check_error(with(R"({"src": 0, "dst": 1, "alpha": -1})"), "/topology/links/1/alpha");
    check_error(with(R"({"src": 0, "dst": 1, "beta": 0})"), "/topology/links/1/beta");
    check_error(with(R"({"src": 0, "dst": 1, "beta": 9007199254740993})"), "/topology/links/1/beta");
    check_error(with(R"({"src": 0, "dst": 1, "beta": 18446744073709551615})"), "/topology/links/1/beta");
    check_error(with(R"({"src": 0, "dst": 1, "beta": 1e300})"), "/topology/links/1/beta");
    check_error(with(R"({"src": 0, "dst": 1, "bandwith_GBps": 5})"), "/topology/links/1",
                "did you mean 'bandwidth_GBps'?");
    check_error(with(R"({"src": 0, "dst": 1, "beta": 2, "latency_ns": 5})"), "/topology/links/1/latency_ns",
                "use one kind");
    check_error(with(R"({"src": 0, "dst": 1, "alpha": 2, "bandwidth_GBps": 5})"),
                "/topology/links/1/bandwidth_GBps", "use one kind");
    check_error(with(R"({"src": 0, "dst": 1, "bandwidth_GBps": 5})"), "/topology/links/1", "use one kind");
    check_error(with(R"({"src": 0, "dst": 1, "latency_ns": 5})"), "/topology/links/1", "'bandwidth_GBps'");
    check_error(with("7"), "/topology/links/1", "an object");
    check_error(with("null"), "/topology/links/1", "an object");
}

TEST_CASE("wrong physical values are refused at their place") {
    const auto with = [](const std::string& fields) {
        return error_of(R"({"npus": 2, "links": [{"src": 0, "dst": 1, )" + fields + "}]}");
    };
    for (const char* value : {"0", "-1", "1e-7", "1e10", "\"fast\"", "null", "[1]", "1e-300"}) {
        CAPTURE(value);
        check_error(with(std::string(R"("bandwidth_GBps": )") + value), "/topology/links/0/bandwidth_GBps");
    }
    for (const char* value : {"-1", "9e12", "1e300", "1e-30", "true"}) {
        CAPTURE(value);
        check_error(with(std::string(R"("bandwidth_GBps": 1, "latency_ns": )") + value),
                    "/topology/links/0/latency_ns");
    }
}

TEST_CASE("wrong topology fields are refused at their place") {
    check_error(error_of("[]"), "/topology", "an object");
    check_error(error_of("{}"), "/topology", "'npus'");
    check_error(error_of(R"({"npus": 2})"), "/topology", "'links'");
    check_error(error_of(R"({"npus": 0, "links": []})"), "/topology/npus");
    check_error(error_of(R"({"npus": -4, "links": []})"), "/topology/npus");
    check_error(error_of(R"({"npus": 4000000000, "links": []})"), "/topology/npus", "16777216");
    check_error(error_of(R"({"npus": 2, "links": {}})"), "/topology/links", "an array");
    check_error(error_of(R"({"npus": 2, "links": [], "busy": "gamma"})"), "/topology/busy",
                "beta, alpha+beta");
    check_error(error_of(R"({"npus": 2, "links": [], "nodes": 2})"), "/topology", "unknown field 'nodes'");
    check_error(error_of(R"({"npus": 2, "link": []})"), "/topology", "did you mean 'links'?");
    check_error(error_of(R"({"npus": 2, "links": [], "switches": "two"})"), "/topology/switches");
    check_error(error_of(R"({"npus": 2, "links": [], "switches": -1})"), "/topology/switches");
    check_error(error_of(R"({"npus": 2, "links": [], "switches": 16777215})"), "/topology/switches");
    check_error(error_of(R"({"npus": 2, "links": [], "switches": [{"coppy": true}]})"),
                "/topology/switches/0", "did you mean 'copy'?");
    check_error(error_of(R"({"npus": 2, "links": [], "switches": [{"copy": 1}]})"),
                "/topology/switches/0/copy", "true or false");
    check_error(error_of(R"({"npus": 2, "links": [], "switches": [{"buffer": -1}]})"),
                "/topology/switches/0/buffer");
    check_error(error_of(R"({"npus": 2, "links": [], "switches": [], "switch": {}})"), "/topology/switch");
    check_error(error_of(R"({"npus": 2, "links": [], "switch": {}})"), "/topology/switch", "'switches'");
    check_error(error_of(R"({"generate": )" + kRing4 + R"(, "links": []})"), "/topology/links", "not both");
    check_error(error_of(R"({"generate": )" + kRing4 + R"(, "npus": 4})"), "/topology/npus", "not both");
    check_error(error_of(R"({"generate": )" + kRing4 + R"(, "bussy": "beta"})"), "/topology",
                "did you mean 'busy'?");
}

TEST_CASE("wrong generators are refused at their place") {
    const std::string place = "/topology/generate";
    check_error(generate_error("[]"), place, "an object");
    check_error(generate_error("{}"), place, "'kind'");
    check_error(generate_error(R"({"kind": "tours", "dims": [2]})"), place + "/kind",
                "did you mean 'torus'?");
    check_error(generate_error(R"({"kind": 3})"), place + "/kind", "a string");
    check_error(generate_error(R"({"kind": "ring"})"), place, "'npus'");
    check_error(generate_error(R"({"kind": "ring", "npu": 3})"), place, "did you mean 'npus'?");
    check_error(generate_error(R"({"kind": "ring", "npus": 3, "one_way": 1})"), place + "/one_way",
                "true or false");
    check_error(generate_error(R"({"kind": "ring", "npus": 3, "beta": 1, "bandwidth_GBps": 1})"),
                place + "/bandwidth_GBps");
    check_error(generate_error(R"({"kind": "torus", "dims": 4})"), place + "/dims", "an array");
    check_error(generate_error(R"({"kind": "torus", "dims": []})"), place + "/dims");
    check_error(generate_error(R"({"kind": "torus", "dims": [4, -1]})"), place + "/dims/1");
    check_error(generate_error(R"({"kind": "torus", "dims": [4, 2.5]})"), place + "/dims/1");
    check_error(generate_error(R"({"kind": "fat_tree", "k": 1, "n": 2})"), place + "/k");
    check_error(generate_error(R"({"kind": "fat_tree", "k": 2, "n": 0})"), place + "/n");
    check_error(generate_error(R"({"kind": "dgx1", "bonded": "yes"})"), place + "/bonded");
    check_error(generate_error(R"({"kind": "dgx1", "npus": 8})"), place, "unknown field");
    check_error(generate_error(R"({"kind": "rail", "nodes": 2, "npus_per_node": 2, "node_wire": {"beta": 1},
        "rail_wire": {"bandwidth_GBps": 1}})"),
                place, "one kind");
    check_error(
        generate_error(R"({"kind": "dragonfly", "groups": 9, "routers_per_group": 2, "npus_per_router": 1,
        "global_links_per_router": 1})"),
        place + "/groups", "at most 3 groups");
}

TEST_CASE("hostile sizes end as errors before memory is asked for") {
    const std::string place = "/topology/generate";
    check_error(generate_error(R"({"kind": "ring", "npus": 4000000000})"), place + "/npus");
    check_error(generate_error(R"({"kind": "ring", "npus": 1e300})"), place + "/npus");
    check_error(generate_error(R"({"kind": "fully_connected", "npus": 1000000})"), place + "/npus", "links");
    check_error(generate_error(R"({"kind": "torus", "dims": [65536, 65536, 65536, 65536]})"),
                place + "/dims/1", "nodes");
    check_error(generate_error(R"({"kind": "mesh", "dims": [4294967296, 4294967296]})"), place + "/dims/0");
    check_error(generate_error(R"({"kind": "fat_tree", "k": 16777216, "n": 24})"), place + "/n");
    check_error(generate_error(R"({"kind": "rail", "nodes": 16777216, "npus_per_node": 16777216})"),
                place + "/npus_per_node");
    check_error(generate_error(R"({"kind": "dragonfly", "groups": 16777216, "routers_per_group": 16777216,
        "npus_per_router": 16777216, "global_links_per_router": 16777216})"),
                place + "/routers_per_group");
    check_error(generate_error(R"({"kind": "cluster", "nodes": 16777216, "node": {"kind": "h100"},
        "network": {"kind": "star", "bandwidth_GBps": 1}})"),
                place + "/nodes");
    check_error(error_of(R"({"npus": 16777216, "switches": 1, "links": []})"), "/topology/switches");
    std::string dims = R"({"kind": "torus", "dims": [1)";
    for (int i = 0; i < 100'000; ++i) dims += ",1";
    check_error(generate_error(dims + "]}"), place + "/dims", "1 to 32");
}

TEST_CASE("any value in any field gives a topology or an InputError") {
    const std::vector<std::string> values{"null",
                                          "true",
                                          "-1",
                                          "0",
                                          "1",
                                          "3",
                                          "2.5",
                                          "1e300",
                                          "4e9",
                                          "1e-12",
                                          "\"x\"",
                                          "[]",
                                          "[2]",
                                          "[-1,1e20]",
                                          "{}",
                                          "[[]]",
                                          "18446744073709551615",
                                          "{\"kind\":\"ring\"}"};
    for (const io::GeneratorKind& kind : io::generator_kinds()) {
        std::vector<std::string_view> fields = kind.fields;
        fields.push_back("kind");
        for (const std::string_view field : fields) {
            for (const std::string& value : values) {
                Json json = {{"generate", Json::parse(kind.example)}};
                json["generate"][std::string(field)] = Json::parse(value);
                CAPTURE(json.dump());
                try {
                    (void)Topology(io::read_topology(JsonView(json)));
                } catch (const InputError& error) {
                    CHECK_FALSE(error.place().empty());
                }
            }
        }
    }
}

TEST_CASE("a written topology reads back as the same topology") {
    Rng rng(7);
    for (int i = 0; i < 2000; ++i) {
        const TopologyParts parts = random_parts(rng);
        CAPTURE(io::write_topology(Topology(parts)).dump());
        check_same(through_text(parts), parts);
    }
}

TEST_CASE("a topology is written in the units it was given in") {
    const auto physical_text = io::write_topology(Topology(read(R"({"npus": 2, "links": [
        {"src": 0, "dst": 1, "latency_ns": 500, "bandwidth_GBps": 53.6870912}]})")));
    CHECK(
        physical_text.dump() ==
        R"({"npus":2,"switches":0,"busy":"beta","links":[{"src":0,"dst":1,"latency_ns":500,"bandwidth_GBps":53.6870912}]})");
    const auto abstract_text =
        io::write_topology(Topology(generate(R"({"kind": "star", "npus": 1, "beta": 3, "copy": true})")));
    CHECK(abstract_text.dump() ==
          R"({"npus":1,"switches":1,"switch":{"copy":true},"busy":"beta","links":[)"
          R"({"src":0,"dst":1,"alpha":0,"beta":3},{"src":1,"dst":0,"alpha":0,"beta":3}]})");
}

TEST_CASE("latencies down to a picosecond survive writing, however long they are") {
    for (const std::int64_t alpha :
         {std::int64_t{1}, std::int64_t{999}, std::int64_t{1001}, std::int64_t{123'456'789},
          std::int64_t{7'999'999'999'999'999}, std::int64_t{7'000'000'000'000'001},
          std::int64_t{4'095'999'999'999'999}}) {
        TopologyParts parts;
        parts.npus = 2;
        parts.links = {link_of(0, 1, physical(alpha, {1, 0}))};
        check_same(through_text(parts), parts);
    }
}
