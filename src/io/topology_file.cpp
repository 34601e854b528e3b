#include "io/topology_file.hpp"

#include "io/astra_yaml.hpp"
#include "io/json_text.hpp"
#include "io/nccl_topo_xml.hpp"
#include "io/topology_json.hpp"

#include <algorithm>

namespace tutti::io {
namespace {

constexpr std::string_view kGenerate = "/generate";

/// The user's JSON has no "generate", so errors must not mention one.
Topology read_bare_generator(const Json& generate) {
    try {
        const Json topology{{"generate", generate}};
        return Topology(read_topology(JsonView(topology)));
    } catch (const InputError& error) {
        const std::string& place = error.place();
        throw place.starts_with(kGenerate) ? error.at(place.substr(kGenerate.size())) : error;
    }
}

Topology topology_in(const Json& json) {
    if (!json.is_object()) throw InputError("expected a JSON object: an instance, a topology or a generator");
    if (json.contains("kind")) return read_bare_generator(json);
    if (json.contains("topology")) return Topology(read_topology(JsonView(json["topology"], "/topology")));
    return Topology(read_topology(JsonView(json)));
}

std::string_view without_blanks(std::string_view text) {
    constexpr std::string_view kMark = "\xEF\xBB\xBF";
    if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    return text;
}

/// Whether the text has `key` followed by a colon: a guess at what it is, not a parse.
bool has_key(std::string_view text, std::string_view key) {
    for (std::size_t at = text.find(key); at != text.npos; at = text.find(key, at + 1)) {
        std::string_view rest = text.substr(at + key.size());
        rest.remove_prefix(std::min(rest.find_first_not_of("'\" \t"), rest.size()));
        if (rest.starts_with(':')) return true;
    }
    return false;
}

}  // namespace

TopologyFormat topology_format(std::string_view beginning) {
    const std::string_view text = without_blanks(beginning);
    if (text.starts_with('<')) return TopologyFormat::Nccl;
    if (text.starts_with('[')) return TopologyFormat::Ours;
    if (text.starts_with('{')) {
        // A YAML map may also begin with a brace, but then its keys need no quotes.
        const std::string_view inside = without_blanks(text.substr(1));
        const bool json = inside.empty() || inside.starts_with('"') || inside.starts_with('}');
        return json || !has_key(inside, "topology") ? TopologyFormat::Ours : TopologyFormat::Astra;
    }
    return has_key(text, "topology") || has_key(text, "npus_count") ? TopologyFormat::Astra
                                                                    : TopologyFormat::Unknown;
}

Topology read_topology_file(Source& source) {
    switch (topology_format(source.peek(Source::kBlock))) {
        case TopologyFormat::Astra:
            return Topology(read_astra_network(source));
        case TopologyFormat::Nccl:
            return Topology(read_nccl_topology(source));
        case TopologyFormat::Unknown:
            source.fail(
                "expected a topology: JSON of ours, an ASTRA-sim network.yml (topology: [ Ring ], "
                "npus_count: "
                "[ 8 ], …) or the XML of an NCCL topology dump");
        case TopologyFormat::Ours:
            break;
    }
    try {
        return topology_in(parse_json(source));
    } catch (const InputError& error) {
        throw error.file().empty() ? error.in_file(source.name()) : error;
    }
}

Topology read_topology_file(const std::string& what) {
    Source source = what.starts_with('{') ? Source::of_text(what, "the JSON text") : Source(what);
    return read_topology_file(source);
}

}  // namespace tutti::io
