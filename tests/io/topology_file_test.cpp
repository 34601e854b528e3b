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

TEST_CASE("errors in a topology file name the file and the place") {
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

TEST_CASE("the format of a topology file is recognised by its content") {
    CHECK(io::topology_format(R"({"npus": 2})") == TopologyFormat::Ours);
    CHECK(io::topology_format("\xEF\xBB\xBF  {}") == TopologyFormat::Ours);
    CHECK(io::topology_format("{") == TopologyFormat::Ours);
    CHECK(io::topology_format("# net\ntopology: [ Ring ]\n") == TopologyFormat::Astra);
    CHECK(io::topology_format("{topology: [ Ring ], npus_count: [4]}") == TopologyFormat::Astra);
    CHECK(io::topology_format("<!-- a --><system/>") == TopologyFormat::Nccl);
    CHECK(io::topology_format("") == TopologyFormat::Unknown);
    CHECK(io::topology_format("3") == TopologyFormat::Unknown);
    CHECK(io::topology_format("topology of our network") == TopologyFormat::Unknown);
}

TEST_CASE("a topology file may come from ASTRA-sim or NCCL, whatever its name") {
    const test::Scratch scratch;
    const std::string yaml = scratch.file(
        "a.json", "topology: [ Switch ]\nnpus_count: [ 8 ]\nbandwidth: [ 400.0 ]\nlatency: [ 936.25 ]\n");
    const std::string xml = scratch.file(
        "b.yml",
        R"(<system version="1"><cpu numaid="0"><pci busid="0001:00:00.0" class="0x030200"/></cpu></system>)");
    CHECK(read_topology_file(yaml).npus() == 8);
    CHECK(read_topology_file(yaml).switches() == 1);
    CHECK(read_topology_file(xml).npus() == 1);
    const std::string words = scratch.file("c.txt", "hello");
    CHECK(test::contains(test::refusal([&] { (void)read_topology_file(words); }).message(), "ASTRA-sim"));
}
