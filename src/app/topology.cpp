#include "app/topology.hpp"

#include "core/error.hpp"
#include "core/expects.hpp"
#include "io/topology_file.hpp"
#include "io/topology_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tutti::app {
namespace {

using io::Json;

constexpr std::array<std::string_view, 3> kTopologyFields{"busy", "remove", "slow"};

/// "4" is a number, "4,4" a list, "true" a boolean, "[[0, 1]]" JSON; anything else is a string.
Json value_of(const std::string& text) {
    const auto parsed = [](const std::string& json) { return Json::parse(json, nullptr, false); };
    Json value = parsed(text);
    if (value.is_discarded() && text.find(',') != text.npos) value = parsed("[" + text + "]");
    return value.is_discarded() ? Json(text) : value;
}

/// {"generate": {"kind": …, fields}, "busy": …}.
Json generated(Json generate, const TopologyOptions& options) {
    Json topology = Json::object();
    Json others = Json::object();
    for (const auto& [name, text] : options.fields) {
        const bool of_topology = std::ranges::find(kTopologyFields, name) != kTopologyFields.end();
        (of_topology ? others : generate)[name] = value_of(text);
    }
    topology["generate"] = std::move(generate);
    topology.update(others);
    return topology;
}

Topology topology_of(const Json& json) { return Topology(io::read_topology(io::JsonView(json))); }

constexpr std::string_view kGenerate = "/generate";

/// The user gave no "generate", so errors must not mention one.
InputError without_generate(const InputError& error) {
    return error.place().starts_with(kGenerate) ? error.at(error.place().substr(kGenerate.size())) : error;
}

/// Errors about options name the option: "/dims/0" is --dims.
InputError in_options(const InputError& error) {
    const std::string place = without_generate(error).place();
    return InputError(error.message(),
                      place.empty() ? place : "--" + place.substr(1, place.find('/', 1) - 1));
}

bool is_generator(const std::string& name) {
    return std::ranges::any_of(io::generator_kinds(), [&](const io::GeneratorKind& kind) {
        return name == kind.name || (!kind.alias.empty() && name == kind.alias);
    });
}

/// A generator as JSON, with options that add to its fields.
Topology generator_with_options(io::Source& source, const TopologyOptions& options) {
    const bool ours = io::topology_format(source.peek(io::Source::kBlock)) == io::TopologyFormat::Ours;
    const Json json = ours ? io::parse_json(source) : Json();
    if (!json.is_object() || !json.contains("kind")) {
        throw InputError(fmt::format("option --{} is for generators (KIND, or JSON with a \"kind\")",
                                     options.fields.front().first),
                         {}, source.name());
    }
    try {
        return topology_of(generated(json, options));
    } catch (const InputError& error) {
        throw without_generate(error).in_file(source.name());
    }
}

Topology topology_in_file(const TopologyOptions& options, const Stop& stop) {
    const bool is_text = options.what.starts_with('{');
    try {
        io::Source source =
            is_text ? io::Source::of_text(options.what, "the JSON text") : io::Source(options.what, stop);
        return options.fields.empty() ? io::read_topology_file(source)
                                      : generator_with_options(source, options);
    } catch (const InputError& error) {
        std::vector<std::string_view> names;
        const auto kinds = io::generator_kinds();
        for (const io::GeneratorKind& kind : kinds) names.push_back(kind.name);
        const auto guess = io::nearest(options.what, names);
        // A word that is no file was probably meant as a kind.
        const bool is_word = options.what.find_first_of("./{-") == options.what.npos;
        if (!is_word || !error.place().empty()) throw;
        throw InputError(
            fmt::format("there is no kind of topology and no file '{}'{} ('tutti topology' lists the kinds)",
                        options.what, guess ? fmt::format("; did you mean '{}'?", *guess) : ""));
    }
}

}  // namespace

Topology topology(const TopologyOptions& options, const Watch& watch) {
    expects(!options.what.empty());
    if (!is_generator(options.what)) return topology_in_file(options, watch.stop());
    try {
        return topology_of(generated(Json{{"kind", options.what}}, options));
    } catch (const InputError& error) {
        throw in_options(error);
    }
}

std::vector<io::GeneratorKind> topology_kinds() { return io::generator_kinds(); }

io::Json topology_kinds_json() {
    Json kinds = Json::array();
    for (const io::GeneratorKind& kind : io::generator_kinds()) {
        Json& row =
            kinds.emplace_back(Json{{"kind", kind.name}, {"help", kind.help}, {"fields", kind.fields}});
        if (!kind.alias.empty()) row["alias"] = kind.alias;
        row["example"] = Json::parse(kind.example);
    }
    return Json{{"kinds", std::move(kinds)}};
}

io::Json json_of(const Topology& topology) { return io::write_topology(topology); }

}  // namespace tutti::app
