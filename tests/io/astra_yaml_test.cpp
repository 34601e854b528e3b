#include "io/astra_yaml.hpp"

#include "core/generators/full.hpp"
#include "core/generators/mesh_torus.hpp"
#include "core/generators/ring.hpp"
#include "core/generators/star.hpp"
#include "core/rng.hpp"
#include "scratch.hpp"

#include <fmt/format.h>

#include <algorithm>

using namespace tutti;
using io::Source;
using test::contains;

namespace {

TopologyParts read(const std::string& text) {
    Source source = Source::of_text(text, "network.yml");
    return io::read_astra_network(source);
}

InputError error_of(const std::string& text) {
    return test::refusal([&] { (void)read(text); });
}

std::vector<Link> sorted(std::vector<Link> links) {
    std::ranges::sort(links);
    return links;
}

/// A bandwidth of 50 in ASTRA-sim, where a GB has 2^30 bytes.
constexpr Wire kFifty{Ticks(500'000), Ticks(0), Decimal{536870912, 7}};
const std::string kRest = "bandwidth: [ 50.0 ]\nlatency: [ 500.0 ]\n";

}  // namespace

TEST_CASE("one dimension of an ASTRA-sim network is our ring, full graph or star") {
    const auto ring = read("topology: [ Ring ]\nnpus_count: [ 8 ]\n" + kRest);
    CHECK(ring.npus == 8);
    CHECK(ring.busy == Busy::Beta);
    CHECK(ring.links == generators::ring(8, kFifty, generators::Direction::Both).links);

    const auto full = read("topology: [ FullyConnected ]\nnpus_count: [ 5 ]\n" + kRest);
    CHECK(full.links == generators::fully_connected(5, kFifty).links);

    const auto star = read("topology: [ Switch ]\nnpus_count: [ 4 ]\n" + kRest);
    CHECK(star.switches == std::vector<SwitchRule>(1));
    CHECK(star.links == generators::star(4, kFifty, {}).links);

    // Two NPUs have one cable, not two.
    CHECK(read("topology: [ Ring ]\nnpus_count: [ 2 ]\n" + kRest).links.size() == 2);
}

TEST_CASE("dimension 0 of an ASTRA-sim network varies fastest") {
    // Our grids vary the last dimension fastest, so the sizes are reversed.
    const auto torus = read(
        "topology: [ Ring, Ring ]\nnpus_count: [ 4, 3 ]\nbandwidth: [ 50, 100 ]\nlatency: [ 500, 7.5 ]\n");
    const std::vector<std::uint64_t> dims{3, 4};
    const std::vector<Wire> wires{{Ticks(7'500), Ticks(0), Decimal{1073741824, 7}}, kFifty};
    CHECK(torus.npus == 12);
    CHECK(sorted(torus.links) == sorted(generators::torus(dims, wires).links));
}

TEST_CASE("each row of a Switch dimension of an ASTRA-sim network has a switch of its own") {
    const Topology topology(
        read("topology: [ Ring, FullyConnected, Switch ]\nnpus_count: [ 2, 3, 2 ]\n"
             "bandwidth: [ 200, 100, 50 ]\nlatency: [ 50, 500, 500 ]\n"));
    CHECK(topology.npus() == 12);
    CHECK(topology.switches() == 6);
    for (std::uint32_t npu = 0; npu < 12; ++npu) {
        // The six NPUs of the lower half meet those six numbers above.
        const NodeId hub(12 + npu % 6);
        const auto to_hub = std::ranges::count_if(topology.out_links(NodeId(npu)), [&](LinkId id) {
            return topology.link(id).dst == hub && topology.link(id).wire == kFifty;
        });
        CHECK(to_hub == 1);
        CHECK(topology.out_links(NodeId(npu)).size() == 1 + 2 + 1);
    }
}

TEST_CASE("an ASTRA-sim network may have single scalars, other keys and braces") {
    CHECK(read("topology: Switch  # Ring, Switch\nnpus_count: [64]\nbandwidth: 25\nlatency: 0\n").npus == 64);
    CHECK(read("{topology: [Ring], npus_count: [4], bandwidth: [1], latency: [1]}").npus == 4);
    CHECK(read("topology: [ Ring ]\nnpus_count: [ 4 ]\nquantization:\n  enabled: true\n  steps: [[1], {a: "
               "2}]\n" +
               kRest)
              .npus == 4);
    CHECK(read("---\ntopology:\n  - Mesh\n  - Ring\nnpus_count:\n  - 3\n  - 3\nbandwidth: [1, 1]\nlatency: "
               "[1, 1]")
              .links.size() == 3 * 4 + 3 * 6);
}

TEST_CASE("bandwidths of ASTRA-sim networks are converted exactly, or to 15 digits") {
    const auto bandwidth = [](const std::string& text) {
        return read("topology: Ring\nnpus_count: 2\nlatency: 0\nbandwidth: " + text)
            .links.at(0)
            .wire.bandwidth;
    };
    CHECK(bandwidth("50") == Decimal{536870912, 7});
    CHECK(bandwidth("1000") == Decimal{1073741824, 6});
    CHECK(bandwidth("0.5") == Decimal{536870912, 9});
    CHECK(bandwidth("1e3") == Decimal{1073741824, 6});
    // 370.67 * 1.073741824 = 398.00388190208
    CHECK(bandwidth("370.67") == Decimal{39800388190208, 11});
    // 0.123456789012345 * 1.073741824 = 0.13256071757… in 24 digits
    CHECK(std::abs(to_double(bandwidth("0.123456789012345")) - 0.123456789012345 * 1.073741824) < 1e-15);
    CHECK(bandwidth("0.123456789012345").mantissa < 1'000'000'000'000'000);
}

TEST_CASE("errors in an ASTRA-sim network name line and column") {
    CHECK(error_of("topology: [ Rign ]\nnpus_count: [ 8 ]\n" + kRest).place() == "1:13");
    CHECK(contains(error_of("topology: [ Rign ]\nnpus_count: [ 8 ]\n" + kRest).message(), "'Ring'"));
    CHECK(
        contains(error_of("topology: [ Mesh2D ]\nnpus_count: [ 8 ]\n" + kRest).message(), "[ Mesh, Mesh ]"));
    CHECK(error_of("topology: [ Ring ]\nnpus_count: [ 1 ]\n" + kRest).place() == "2:15");
    CHECK(error_of("topology: [ Ring ]\nnpus_count: [ -3 ]\n" + kRest).place() == "2:15");
    CHECK(error_of("topology: [ Ring ]\nnpus_count: [ 8.5 ]\n" + kRest).place() == "2:15");
    CHECK(error_of("topology: [ Ring ]\nnpus_count: [ 8, 2 ]\n" + kRest).place() == "2:1");
    CHECK(error_of("topology: [ Ring ]\nnpus_count: [ 8 ]\nbandwidth: [ tbd ]\nlatency: [ 1 ]").place() ==
          "3:14");
    CHECK(error_of("topology: [ Ring ]\nnpus_count: [ 8 ]\nbandwidth: [ 0 ]\nlatency: [ 1 ]").place() ==
          "3:14");
    CHECK(error_of("topology: [ Ring ]\nnpus_count: [ 8 ]\nbandwidth: [ nan ]\nlatency: [ 1 ]").place() ==
          "3:14");
    CHECK(error_of("topology: [ Ring ]\nnpus_count: [ 8 ]\nbandwidth: [ 1 ]\nlatency: [ -1 ]").place() ==
          "4:12");
    CHECK(
        contains(error_of("topology: [ Ring ]\nnpus_count: [ 8 ]\nlatency: [ 1 ]").message(), "'bandwidth'"));
    CHECK(error_of("topology: [ Ring ]\ntopology: [ Ring ]\n").place() == "2:1");
    CHECK(error_of("topology: [ Ring\n").file() == "network.yml");
    for (const char* text : {"", "word", "- a\n- b", "? [a, b]\n: c", "topology: []", "topology: [[Ring]]"}) {
        CAPTURE(text);
        CHECK(error_of(text).file() == "network.yml");
    }
}

TEST_CASE("a short ASTRA-sim network cannot ask for a huge topology") {
    CHECK(contains(error_of("topology: [ Ring ]\nnpus_count: [ 99999999999 ]\n" + kRest).message(),
                   "from 2 to"));
    CHECK(contains(error_of("topology: [ FullyConnected ]\nnpus_count: [ 1000000 ]\n" + kRest).message(),
                   "links"));
    std::string topology, counts, ones;
    for (int i = 0; i < 32; ++i) {
        topology += i == 0 ? "Ring" : ", Ring";
        counts += i == 0 ? "1000000" : ", 1000000";
        ones += i == 0 ? "1" : ", 1";
    }
    const std::string many = fmt::format("topology: [{}]\nnpus_count: [{}]\nbandwidth: [{}]\nlatency: [{}]\n",
                                         topology, counts, ones, ones);
    CHECK(contains(error_of(many).message(), "more than 1048576 NPUs"));
    CHECK(contains(error_of("topology: [" + topology + ", Ring]\n").message(), "1 to 32"));
}

TEST_CASE("anchors, aliases and deep nesting in YAML are refused before they grow") {
    const std::string bomb =
        "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\ntopology: [*b,*b,*b,*b]\n";
    CHECK(error_of(bomb).place() == "1:4");
    CHECK(contains(error_of("topology: &t Ring\nnpus_count: *t\n").message(), "anchors"));
    CHECK(contains(error_of("topology: " + std::string(200, '[')).message(), "16 deep"));
    CHECK(contains(error_of("topology: " + std::string(100'000, '[')).message(), "16 deep"));
    CHECK(contains(error_of("topology: Ring\n" + std::string(300'000, '#')).message(), "at most"));
}

TEST_CASE("randomly damaged ASTRA-sim networks are read or refused without a crash") {
    const std::string good =
        "# a comment\ntopology: [ Ring, FullyConnected, Switch ]\nnpus_count: [ 2, 8, 4 ]\n"
        "bandwidth: [ 200.0, 100.0, 50.0 ]  # GB/s\nlatency: [ 50.0, 500.0, 2000.0 ]\n";
    const std::string letters = "[]{}:,&*!|>'\"%@`#-? \n\t0159.eR";
    constexpr std::uint64_t kSeed = 20240611;
    CAPTURE(kSeed);
    Rng rng(kSeed);
    int refused = 0;
    for (int round = 0; round < 2000; ++round) {
        std::string text = good;
        for (int edits = 1 + static_cast<int>(rng.below(3)); edits > 0; --edits) {
            const std::size_t at = rng.below(text.size());
            const char letter = letters[rng.below(letters.size())];
            if (rng.below(2) == 0)
                text[at] = letter;
            else
                text.insert(at, 1, letter);
        }
        try {
            (void)Topology(read(text));
        } catch (const InputError&) {
            ++refused;
        }
    }
    CHECK(refused > 500);
    CHECK(refused < 2000);
}
