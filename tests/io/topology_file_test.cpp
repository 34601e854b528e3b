#include "io/topology_file.hpp"

#include "scratch.hpp"

using namespace tutti;
using io::read_topology_file;
using io::TopologyFormat;

TEST_CASE("a topology file of ours is an instance, a topology or a generator") {
    const test::Scratch scratch;
    const std::string instance = scratch.file(
        "instance.json",
        R"({"tutti": 1, "topology": {"generate": {"kind": "ring", "npus": 5}}, "collectives": []})");
    const std::string listed =
        scratch.file("listed.json", R"({"npus": 2, "links": [{"src": 0, "dst": 1, "alpha": 3}]})");
    const std::string generated =
        scratch.file("generated.json", R"({"generate": {"kind": "star", "npus": 3}})");

    CHECK(read_topology_file(instance).npus() == 5);
    CHECK(read_topology_file(listed).link(LinkId(0)).wire.alpha == Ticks(3));
    CHECK(read_topology_file(generated).switches() == 1);
    CHECK(read_topology_file(R"({"kind": "torus", "dims": [3, 3]})").npus() == 9);
}

TEST_CASE("what is wrong in a topology file is said with the file and the place") {
    const test::Scratch scratch;
    const auto place_in = [&](const std::string& text) {
        const std::string path = scratch.file("t.json", text);
        const InputError error = test::refusal([&] { (void)read_topology_file(path); });
        CHECK(error.file() == path);
        return error.place();
    };
    CHECK(place_in(R"({"topology": {"npus": 0, "links": []}})") == "/topology/npus");
    CHECK(place_in(R"({"kind": "ring", "npus": "x"})") == "/npus");
    CHECK(place_in(R"({"generate": {"kind": "ring", "npus": "x"}})") == "/generate/npus");
    CHECK(test::refusal([&] { (void)read_topology_file(scratch.path("none.json")); }).file() ==
          scratch.path("none.json"));
}
