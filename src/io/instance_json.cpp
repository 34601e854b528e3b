#include "io/instance_json.hpp"

#include "io/atomic_file.hpp"
#include "io/collective_json.hpp"
#include "io/json_text.hpp"
#include "io/topology_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace tutti::io {
namespace {

/// Called before any other field is read, because another kind of file or version has other fields.
void check_instance_format(const JsonView& view) {
    if (!view.is_object()) view.fail_expecting("an instance, which is an object");
    if (view.find("tutti_schedule")) view.fail("this is a schedule, expected an instance");
    const JsonView version = view.at("tutti");
    if (version.json() == kInstanceFormat) return;
    if (!version.is_number())
        version.fail_expecting(fmt::format("{}, the version of the format", kInstanceFormat));
    version.fail(
        fmt::format("this file is format {}, this tutti reads {}", version.json().dump(), kInstanceFormat));
}

/// Whether a reader would add "all" at this position if the file did not list it: last, because a collective
/// uses it.
bool is_implied(const Instance& instance, std::size_t group) {
    if (group + 1 != instance.groups().size() || instance.groups()[group].name != kAllGroup) return false;
    return std::ranges::any_of(instance.collectives(), [&](const Collective& collective) {
        return collective.group.index() == group;
    });
}

}  // namespace

Instance parse_instance(const Json& json, const std::string& fallback_name, const Variation& variation) {
    const JsonView view(json);
    check_instance_format(view);
    view.only({"tutti", "name", "about", "topology", "groups", "forwarding", "collectives"});
    if (const auto about = view.find("about")) (void)about->string();

    InstanceParts parts;
    const auto name = view.find("name");
    parts.name = name ? read_name(*name) : fallback_name;
    parts.topology = read_topology(view.at("topology"));
    GroupTable groups(view.find("groups"), parts.topology);
    const auto forwarding = view.find("forwarding");
    CollectiveReader collectives(parts.topology, groups,
                                 forwarding ? read_forwarding(*forwarding) : Forwarding::Any);
    for (const JsonView& collective : view.at("collectives").elements()) collectives.add(collective);
    parts.collectives = collectives.take();
    parts.groups = std::move(groups).groups();
    try {
        vary(parts, variation);
        return Instance(std::move(parts));
    } catch (const InputError& error) {
        throw collectives.in_file(error);
    }
}

Instance read_instance(const std::string& path, const Variation& variation, const Stop& stop) {
    Source source(path, stop);
    const Json json = parse_json(source);
    try {
        return parse_instance(
            json, path == "-" ? std::string(kStdinName) : std::filesystem::path(path).stem().string(),
            variation);
    } catch (const InputError& error) {
        throw error.in_file(source.name());
    }
}

Json write_instance(const Instance& instance) {
    Json json{{"tutti", kInstanceFormat},
              {"name", instance.name()},
              {"topology", write_topology(instance.topology())}};
    Json groups = Json::object();
    for (std::size_t i = 0; i < instance.groups().size(); ++i) {
        const Group& group = instance.groups()[i];
        // As a list, which it is: names differ, and asking for each takes the square of their number.
        if (!is_implied(instance, i))
            groups.get_ref<Json::object_t&>().emplace_back(group.name, npu_numbers(group.members));
    }
    if (!groups.empty()) json["groups"] = std::move(groups);
    Json& collectives = json["collectives"] = Json::array();
    for (const Collective& collective : instance.collectives()) {
        collectives.push_back(write_collective(collective, instance.groups()[collective.group.index()].name));
    }
    return json;
}

void save_instance(const std::string& path, const Instance& instance) {
    AtomicFile file(path);
    file.write(json_page(write_instance(instance)));
    file.commit();
}

}  // namespace tutti::io
