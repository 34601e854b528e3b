// Each kind of generator is a row of one table: its names, its help, its fields, and a function that reads
// the fields. That function does not generate; it returns a function that does. So errors of a reader (with
// the full path) and errors of a generator (with a path relative to its object) are kept apart, and `placed`
// completes only the latter.

#include "io/generator_json.hpp"

#include "core/generators/cluster.hpp"
#include "core/generators/dgx.hpp"
#include "core/generators/dragonfly.hpp"
#include "core/generators/fat_tree.hpp"
#include "core/generators/full.hpp"
#include "core/generators/hypercube.hpp"
#include "core/generators/mesh_torus.hpp"
#include "core/generators/product.hpp"
#include "core/generators/rail.hpp"
#include "core/generators/ring.hpp"
#include "core/generators/star.hpp"
#include "io/wire_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <utility>

namespace tutti::io {
namespace {

/// The context of a nested generator: its depth, and how many NPUs it must have, if that is known.
struct Context {
    int depth = 0;
    std::optional<std::uint64_t> npus;
};
constexpr int kMaxClusters = 8;

TopologyParts read_nested(const JsonView& generate, const Context& context);

using Recipe = std::function<TopologyParts()>;

/// Calls `question`; the places of its errors are relative to `object` and are completed here.
template <class Question>
auto placed(const JsonView& object, const Question& question) {
    try {
        return question();
    } catch (const InputError& error) {
        throw error.at(object.path() + error.place());
    }
}

std::uint64_t size_of(const JsonView& size, std::int64_t least = 1) {
    return static_cast<std::uint64_t>(size.integer(least, static_cast<std::int64_t>(kMaxNodes)));
}

std::uint64_t read_npus(const JsonView& generate, const Context& context) {
    if (context.npus && !generate.find("npus")) return *context.npus;
    return size_of(generate.at("npus"));
}

bool flag(const JsonView& generate, std::string_view name) {
    const auto value = generate.find(name);
    return value && value->boolean();
}

/// A wire in an object of its own ("rail_wire": {…}); without one, the generator's own wire.
Wire read_named_wire(const JsonView& generate, std::string_view name) {
    const Wire common = read_wire(generate);
    const auto own = generate.find(name);
    if (!own) return common;
    own->only({std::begin(kWireFields), std::end(kWireFields)});
    return read_wire(*own, common);
}

Recipe read_ring(const JsonView& at, const Context& context) {
    using generators::Direction;
    return [npus = read_npus(at, context), wire = read_wire(at),
            direction = flag(at, "one_way") ? Direction::OneWay : Direction::Both] {
        return generators::ring(npus, wire, direction);
    };
}

Recipe read_line(const JsonView& at, const Context& context) {
    return [npus = read_npus(at, context), wire = read_wire(at)] { return generators::line(npus, wire); };
}

Recipe read_fully_connected(const JsonView& at, const Context& context) {
    return [npus = read_npus(at, context), wire = read_wire(at)] {
        return generators::fully_connected(npus, wire);
    };
}

std::vector<std::uint64_t> read_dims(const JsonView& at) {
    const JsonView list = at.at("dims");
    if (list.size() == 0 || list.size() > generators::kMaxFactors) {
        list.fail_expecting(fmt::format("an array of 1 to {} sizes", generators::kMaxFactors));
    }
    std::vector<std::uint64_t> dims;
    for (const JsonView& size : list.elements()) dims.push_back(size_of(size));
    return dims;
}

Recipe read_mesh(const JsonView& at, const Context&) {
    const auto dims = read_dims(at);
    return [dims, wires = read_wires(at, dims.size())] { return generators::mesh(dims, wires); };
}

Recipe read_torus(const JsonView& at, const Context&) {
    const auto dims = read_dims(at);
    return [dims, wires = read_wires(at, dims.size())] { return generators::torus(dims, wires); };
}

Recipe read_product(const JsonView& at, const Context&) {
    using generators::Shape;
    static const std::vector<std::string_view> kNames{"line", "ring", "one_way_ring", "fully_connected",
                                                      "full"};
    static constexpr Shape kShapes[] = {Shape::Line, Shape::Ring, Shape::OneWayRing, Shape::FullyConnected,
                                        Shape::FullyConnected};
    const JsonView list = at.at("factors");
    if (list.size() == 0 || list.size() > generators::kMaxFactors) {
        list.fail_expecting(fmt::format("an array of 1 to {} factors", generators::kMaxFactors));
    }
    const Wire common = read_wire(at);
    std::vector<generators::Factor> factors;
    for (const JsonView& factor : list.elements()) {
        factor.only({"shape", "size", "alpha", "beta", "latency_ns", "bandwidth_GBps"});
        const Shape shape = kShapes[factor.at("shape").choice(kNames)];
        factors.push_back({shape, size_of(factor.at("size")), read_wire(factor, common)});
    }
    return [factors] { return generators::product(factors); };
}

Recipe read_hypercube(const JsonView& at, const Context& context) {
    const auto dimensions = at.find("dimensions");
    if (dimensions && at.find("npus")) at.at("npus").fail("give 'dimensions' or 'npus', not both");
    if (dimensions) {
        const auto count =
            static_cast<std::uint64_t>(dimensions->integer(1, std::int64_t{generators::kMaxFactors}));
        return [count, wires = read_wires(at, count)] { return generators::hypercube(count, wires); };
    }
    const std::uint64_t npus = read_npus(at, context);
    const JsonView place = at.find("npus").value_or(at);
    if (npus < 2 || !std::has_single_bit(npus)) {
        place.fail(fmt::format("a hypercube has a power of two NPUs, and at least 2; found {}", npus));
    }
    const auto count = static_cast<std::uint64_t>(std::countr_zero(npus));
    return [count, wires = read_wires(at, count)] {
        try {
            return generators::hypercube(count, wires);
        } catch (const InputError& error) {
            throw error.at("/npus");
        }
    };
}

Recipe read_star(const JsonView& at, const Context& context) {
    return [npus = read_npus(at, context), wire = read_wire(at), rule = read_switch_rule(at)] {
        return generators::star(npus, wire, rule);
    };
}

Recipe read_fat_tree(const JsonView& at, const Context&) {
    const std::uint64_t k = size_of(at.at("k"), 2);
    const auto n = static_cast<std::uint64_t>(at.at("n").integer(1, std::int64_t{generators::kMaxLevels}));
    return [k, n, wires = read_wires(at, n), rule = read_switch_rule(at)] {
        return generators::fat_tree(k, n, wires, rule);
    };
}

Recipe read_dragonfly(const JsonView& at, const Context&) {
    const generators::Dragonfly shape{.groups = size_of(at.at("groups")),
                                      .routers_per_group = size_of(at.at("routers_per_group")),
                                      .npus_per_router = size_of(at.at("npus_per_router")),
                                      .global_links_per_router = size_of(at.at("global_links_per_router"), 0),
                                      .npu_wire = read_named_wire(at, "npu_wire"),
                                      .local_wire = read_named_wire(at, "local_wire"),
                                      .global_wire = read_named_wire(at, "global_wire"),
                                      .rule = read_switch_rule(at)};
    return [shape] { return generators::dragonfly(shape); };
}

Recipe read_rail(const JsonView& at, const Context&) {
    const generators::Rail shape{.nodes = size_of(at.at("nodes")),
                                 .npus_per_node = size_of(at.at("npus_per_node")),
                                 .node_wire = read_named_wire(at, "node_wire"),
                                 .rail_wire = read_named_wire(at, "rail_wire"),
                                 .rule = read_switch_rule(at)};
    return [shape] { return generators::rail(shape); };
}

generators::Bonding read_bonding(const JsonView& at) {
    return flag(at, "bonded") ? generators::Bonding::Bonded : generators::Bonding::Separate;
}

Recipe read_dgx1(const JsonView& at, const Context&) {
    return [wire = read_wire(at, generators::kNvlink), bonding = read_bonding(at)] {
        return generators::dgx1(wire, bonding);
    };
}

using SwitchedNode = TopologyParts (*)(const Wire&, generators::Bonding, const SwitchRule&);

template <SwitchedNode generate>
Recipe read_switched_node(const JsonView& at, const Context&) {
    return [wire = read_wire(at, generators::kNvlink), bonding = read_bonding(at),
            rule = read_switch_rule(at)] { return generate(wire, bonding, rule); };
}

Recipe read_cluster(const JsonView& at, const Context& context) {
    generators::Cluster shape;
    shape.nodes = size_of(at.at("nodes"));
    shape.node = read_nested(at.at("node"), {context.depth + 1, std::nullopt});
    if (const auto nics = at.find("nics")) {
        if (nics->size() == 0) nics->fail_expecting("at least one NPU number of the node");
        if (nics->size() > shape.node.npus) {
            nics->fail_expecting(fmt::format("at most {} NICs", shape.node.npus));
        }
        for (const JsonView& nic : nics->elements()) {
            shape.nics.push_back(
                static_cast<std::uint64_t>(nic.integer(0, std::int64_t{shape.node.npus} - 1)));
        }
    }
    if (const auto planes = at.find("planes")) {
        shape.planes =
            planes->choice({"rails", "shared"}) == 0 ? generators::Planes::Rails : generators::Planes::Shared;
    }
    const std::uint64_t npus = placed(at, [&] { return generators::network_npus(shape); });
    shape.network = read_nested(at.at("network"), {context.depth + 1, npus});
    return [shape = std::move(shape)] { return generators::cluster(shape); };
}

struct Kind {
    GeneratorKind about;
    Recipe (*read)(const JsonView&, const Context&);
};

template <class... Lists>
std::vector<std::string_view> fields(std::initializer_list<std::string_view> own, const Lists&... more) {
    std::vector<std::string_view> result(own);
    (result.insert(result.end(), std::begin(more), std::end(more)), ...);
    return result;
}

const std::vector<Kind>& kinds() {
    using namespace generators;
    static const std::vector<Kind> table{
        {{"ring", "", "NPUs in a circle, linked both ways or one way",
          R"({"kind": "ring", "npus": 8, "alpha": 1, "beta": 2})", fields({"npus", "one_way"}, kWireFields)},
         read_ring},
        {{"line", "", "NPUs in a row", R"({"kind": "line", "npus": 4})", fields({"npus"}, kWireFields)},
         read_line},
        {{"mesh", "", "grid of any number of dimensions",
          R"({"kind": "mesh", "dims": [4, 4], "alpha": 1, "beta": [1, 2]})", fields({"dims"}, kWireFields)},
         read_mesh},
        {{"torus", "", "grid whose rows close into rings",
          R"({"kind": "torus", "dims": [4, 4], "latency_ns": 500, "bandwidth_GBps": 50})",
          fields({"dims"}, kWireFields)},
         read_torus},
        {{"product", "", "product of lines, rings and fully connected rows, a wire each",
          R"({"kind": "product", "factors": [{"shape": "ring", "size": 4, "beta": 2}, {"shape": "fully_connected", "size": 3}]})",
          fields({"factors"}, kWireFields)},
         read_product},
        {{"hypercube", "", "2^dimensions NPUs, linked where one bit differs",
          R"({"kind": "hypercube", "dimensions": 3})", fields({"dimensions", "npus"}, kWireFields)},
         read_hypercube},
        {{"fully_connected", "full", "a link from every NPU to every other",
          R"({"kind": "fully_connected", "npus": 4})", fields({"npus"}, kWireFields)},
         read_fully_connected},
        {{"star", "switch", "NPUs on one switch", R"({"kind": "star", "npus": 8, "copy": true})",
          fields({"npus"}, kWireFields, kSwitchFields)},
         read_star},
        {{"fat_tree", "", "k-ary n-tree: k^n NPUs under n levels of switches",
          R"({"kind": "fat_tree", "k": 2, "n": 3, "beta": [1, 1, 2]})",
          fields({"k", "n"}, kWireFields, kSwitchFields)},
         read_fat_tree},
        {{"dragonfly", "", "groups of fully connected routers, each pair of groups linked",
          R"({"kind": "dragonfly", "groups": 5, "routers_per_group": 4, "npus_per_router": 2, "global_links_per_router": 1, "global_wire": {"alpha": 5, "beta": 2}})",
          fields({"groups", "routers_per_group", "npus_per_router", "global_links_per_router", "npu_wire",
                  "local_wire", "global_wire"},
                 kWireFields, kSwitchFields)},
         read_dragonfly},
        {{"rail", "", "rail-optimised cluster: a switch in each node, a switch for each rail",
          R"({"kind": "rail", "nodes": 4, "npus_per_node": 8, "node_wire": {"latency_ns": 500, "bandwidth_GBps": 300}, "rail_wire": {"latency_ns": 2000, "bandwidth_GBps": 50}})",
          fields({"nodes", "npus_per_node", "node_wire", "rail_wire"}, kWireFields, kSwitchFields)},
         read_rail},
        {{"dgx1", "", "DGX-1: 8 V100, 24 NVLinks in a hybrid cube mesh", R"({"kind": "dgx1"})",
          fields({"bonded"}, kWireFields)},
         read_dgx1},
        {{"dgx2", "", "DGX-2: 16 V100, 12 NVSwitches", R"({"kind": "dgx2", "bonded": true})",
          fields({"bonded"}, kWireFields, kSwitchFields)},
         read_switched_node<dgx2>},
        {{"a100", "", "8 A100, 6 NVSwitches, 12 NVLinks each",
          R"({"kind": "a100", "bonded": true, "latency_ns": 700})",
          fields({"bonded"}, kWireFields, kSwitchFields)},
         read_switched_node<a100>},
        {{"h100", "", "8 H100, 4 NVSwitches, 18 NVLinks each",
          R"({"kind": "h100", "bonded": true, "copy": true, "reduce": true})",
          fields({"bonded"}, kWireFields, kSwitchFields)},
         read_switched_node<h100>},
        {{"cluster", "", "copies of a node joined by a network",
          R"({"kind": "cluster", "nodes": 2, "node": {"kind": "dgx1"}, "nics": [0, 4], "network": {"kind": "star", "latency_ns": 2000, "bandwidth_GBps": 12.5}})",
          fields({"nodes", "node", "nics", "planes", "network"})},
         read_cluster},
    };
    return table;
}

const Kind& kind_of(const JsonView& generate) {
    std::vector<std::string_view> names;
    std::vector<const Kind*> meant;
    for (const Kind& kind : kinds()) {
        for (const std::string_view name : {kind.about.name, kind.about.alias}) {
            if (name.empty()) continue;
            names.push_back(name);
            meant.push_back(&kind);
        }
    }
    return *meant[generate.at("kind").choice(names)];
}

TopologyParts read_nested(const JsonView& generate, const Context& context) {
    if (context.depth > kMaxClusters) {
        generate.fail(fmt::format("clusters are nested more than {} deep", kMaxClusters));
    }
    const Kind& kind = kind_of(generate);
    generate.only(fields({"kind"}, kind.about.fields));
    const Recipe recipe = kind.read(generate, context);
    return placed(generate, recipe);
}

}  // namespace

std::vector<GeneratorKind> generator_kinds() {
    std::vector<GeneratorKind> result;
    for (const Kind& kind : kinds()) result.push_back(kind.about);
    return result;
}

TopologyParts read_generator(const JsonView& generate) {
    TopologyParts parts = read_nested(generate, {});
    const auto other = std::ranges::adjacent_find(
        parts.links, [](const Link& a, const Link& b) { return a.wire.units() != b.wire.units(); });
    if (other != parts.links.end()) {
        generate.fail(
            "some links are in abstract units (alpha, beta) and some in physical ones (latency_ns, "
            "bandwidth_GBps); "
            "give all wires in one kind");
    }
    return parts;
}

}  // namespace tutti::io
