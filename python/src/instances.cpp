// Instances and topologies. They are read and checked once, and then shared with Python as they are.

#include "app/instance.hpp"
#include "app/topology.hpp"
#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "io/instance_json.hpp"
#include "io/source.hpp"
#include "text/size.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace tutti::python {
namespace {

Variation variation_of(std::optional<std::uint64_t> chunks, std::optional<std::int64_t> bytes) {
    Variation variation{.chunks = chunks};
    if (bytes) variation.bytes = Bytes{*bytes};
    return variation;
}

Instance instance_in(const std::string& text, const std::string& name, const Variation& variation) {
    io::Source source = io::Source::of_text(text, name);
    const io::Json json = io::parse_json(source);
    return io::parse_instance(json, name, variation);
}

template <class Number, class Value>
Array<Number> of_links(const Topology& topology, const Value& value) {
    std::vector<Number> numbers;
    numbers.reserve(topology.links().size());
    for (const Link& link : topology.links()) numbers.push_back(value(link));
    return array_of(std::move(numbers));
}

/// Columns of the table of links.
auto link_columns(const Topology& topology) {
    using std::int64_t;
    using std::uint32_t;
    return std::tuple(
        of_links<uint32_t>(topology, [](const Link& link) { return link.src.value(); }),
        of_links<uint32_t>(topology, [](const Link& link) { return link.dst.value(); }),
        of_links<int64_t>(topology, [](const Link& link) { return link.wire.alpha.count(); }),
        of_links<int64_t>(topology, [](const Link& link) { return link.wire.beta.count(); }),
        of_links<double>(topology, [](const Link& link) { return to_double(link.wire.bandwidth); }));
}

/// Of each chunk its collective, its bytes, and whether it is a reduction.
auto chunk_columns(const Instance& instance) {
    std::vector<std::uint32_t> collectives;
    std::vector<std::int64_t> bytes;
    std::vector<std::uint8_t> reduces;
    for (std::size_t i = 0; i < instance.chunks(); ++i) {
        const Demand demand = instance.demand(ChunkId(i));
        collectives.push_back(demand.collective.value());
        bytes.push_back(demand.bytes.count);
        reduces.push_back(demand.reduction ? 1 : 0);
    }
    return std::tuple(array_of(std::move(collectives)), array_of(std::move(bytes)),
                      array_of(std::move(reduces)));
}

std::vector<std::uint32_t> numbers_of(std::span<const NodeId> nodes) {
    std::vector<std::uint32_t> numbers;
    for (const NodeId node : nodes) numbers.push_back(node.value());
    return numbers;
}

std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>> demand_of(const Instance& instance,
                                                                            std::size_t chunk) {
    if (chunk >= instance.chunks()) throw nb::index_error("there is no such chunk");
    const Demand demand = instance.demand(ChunkId(chunk));
    return {numbers_of(demand.holders), numbers_of(demand.receivers)};
}

}  // namespace

void bind_instances(nb::module_& module) {
    using namespace nb::literals;
    nb::class_<Topology>(module, "Topology")
        .def_prop_ro("npus", &Topology::npus)
        .def_prop_ro("switches", &Topology::switches)
        .def_prop_ro("is_physical",
                     [](const Topology& topology) { return topology.units() == Units::Physical; })
        .def("links", link_columns, "Arrays: source, destination, alpha, beta, bandwidth in GB/s.")
        .def("json", [](const Topology& topology) { return io::json_line(app::json_of(topology)); });
    nb::class_<Instance>(module, "Instance")
        .def_prop_ro("name", &Instance::name)
        .def_prop_ro("topology", &Instance::topology, nb::rv_policy::reference_internal)
        .def_prop_ro("chunks", &Instance::chunks)
        .def("chunk_table", chunk_columns, "Arrays by chunk: collective, bytes, whether it is a reduction.")
        .def("demand", demand_of, "chunk"_a, "The holders and the receivers of a chunk.")
        .def("json", [](const Instance& instance) { return io::json_line(io::write_instance(instance)); });
    module.def(
        "read_instance",
        [](const std::string& path, std::optional<std::uint64_t> chunks, std::optional<std::int64_t> bytes) {
            return stoppable(nb::none(), [&](const app::Watch& watch) {
                return app::read_instance(path, variation_of(chunks, bytes), watch.stop());
            });
        },
        "path"_a, "chunks"_a.none(), "bytes"_a.none());
    module.def(
        "instance_in",
        [](const std::string& text, const std::string& name, std::optional<std::uint64_t> chunks,
           std::optional<std::int64_t> bytes) {
            return instance_in(text, name, variation_of(chunks, bytes));
        },
        "text"_a, "name"_a, "chunks"_a.none(), "bytes"_a.none());
    module.def(
        "topology",
        [](const std::string& what, const std::vector<std::pair<std::string, std::string>>& fields) {
            return app::topology({.what = what, .fields = fields});
        },
        "what"_a, "fields"_a,
        "A generator's kind, a JSON text or a file; fields as the command has options.");
    module.def("topology_kinds", [] { return io::json_line(app::topology_kinds_json()); });
    module.def(
        "size_in", [](const std::string& text) { return text::size_in(text); }, "text"_a,
        "The number of bytes of \"64M\" and the like.");
}

}  // namespace tutti::python
