#pragma once

#include "core/topology.hpp"
#include "io/json_view.hpp"

#include <string_view>
#include <vector>

namespace tutti::io {

/// The description of a kind of generated topology.
struct GeneratorKind {
    std::string_view name;
    std::string_view alias;                ///< another name for it; may be empty
    std::string_view help;                 ///< one line
    std::string_view example;              ///< a complete `generate` object, as JSON text
    std::vector<std::string_view> fields;  ///< every field it accepts besides `kind`
};

/// All kinds, simplest first.
[[nodiscard]] std::vector<GeneratorKind> generator_kinds();

/// The topology that a `generate` object describes: {"kind": "torus", "dims": [4, 4], "beta": 2}. The fields
/// of each kind are in instances/topologies.md. Throws InputError that names the path.
[[nodiscard]] TopologyParts read_generator(const JsonView& generate);

}  // namespace tutti::io
