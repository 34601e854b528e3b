#pragma once

#include "app/json.hpp"
#include "app/watch.hpp"
#include "core/topology.hpp"
#include "io/generator_json.hpp"

#include <string>
#include <utility>
#include <vector>

namespace tutti::app {

struct TopologyOptions {
    std::string what{};  ///< a generator's kind, a JSON text, a path or "-"; empty: list the kinds
    /// Fields of the generator and of the topology, as typed; a flag without a value has "true".
    std::vector<std::pair<std::string, std::string>> fields{};
    friend bool operator==(const TopologyOptions&, const TopologyOptions&) = default;
};

/// Generated, or read from any supported format. Throws InputError. Precondition: options.what.
[[nodiscard]] Topology topology(const TopologyOptions& options, const Watch& watch = {});

/// All generators, with help, fields and an example for each.
[[nodiscard]] std::vector<io::GeneratorKind> topology_kinds();
[[nodiscard]] io::Json topology_kinds_json();

/// In the format of instances, link by link.
[[nodiscard]] io::Json json_of(const Topology& topology);

}  // namespace tutti::app
