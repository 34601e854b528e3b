#include "io/topology_file.hpp"

#include "io/json_text.hpp"
#include "io/topology_json.hpp"

#include <algorithm>

namespace tutti::io {
namespace {

constexpr std::string_view kGenerate = "/generate";

/// The user gave no "generate", so no error should speak of one.
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

}  // namespace

TopologyFormat topology_format(std::string_view beginning) {
    const std::string_view text = without_blanks(beginning);
    return text.starts_with('{') || text.starts_with('[') ? TopologyFormat::Ours : TopologyFormat::Unknown;
}

Topology read_topology_file(Source& source) {
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
