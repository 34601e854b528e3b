#include "io/instance_json.hpp"

#include "io/atomic_file.hpp"
#include "io/json_text.hpp"
#include "io/topology_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <unordered_map>

namespace tutti::io {
namespace {

constexpr std::int64_t kMaxChunkBytes = std::int64_t{1} << 53;
constexpr std::size_t kLongestName = 255;

/// Which kinds of collective a field belongs to; fields that are not here belong to all.
struct FieldUse {
    std::string_view field;
    bool (*belongs)(CollectiveKind kind);
};
constexpr FieldUse kFieldUses[] = {
    {"chunks",
     [](CollectiveKind kind) { return kind != CollectiveKind::AllToAllV && kind != CollectiveKind::Custom; }},
    {"root", has_root},
    {"counts", [](CollectiveKind kind) { return kind == CollectiveKind::AllToAllV; }},
    {"pairs", [](CollectiveKind kind) { return kind == CollectiveKind::Permute; }},
    {"demands", [](CollectiveKind kind) { return kind == CollectiveKind::Custom; }},
};

std::string read_name(const JsonView& view) {
    std::string name = view.string();
    const auto is_control = [](char ch) { return static_cast<unsigned char>(ch) < ' ' || ch == '\x7F'; };
    if (name.empty() || name.size() > kLongestName || std::ranges::any_of(name, is_control)) {
        view.fail_expecting(fmt::format("a name of 1 to {} bytes without control characters", kLongestName));
    }
    return name;
}

Forwarding read_forwarding(const JsonView& view) {
    return view.choice({"any", "group"}) == 0 ? Forwarding::Any : Forwarding::Group;
}

/// NPU numbers. Core checks that they are NPUs, members and distinct.
std::vector<NodeId> read_npus(const JsonView& view, const TopologyParts& topology) {
    const auto last = static_cast<std::int64_t>(std::max<std::size_t>(topology.nodes(), 1)) - 1;
    std::vector<NodeId> nodes;
    nodes.reserve(view.size());
    for (const JsonView& element : view.elements()) {
        nodes.emplace_back(static_cast<std::size_t>(element.integer(0, last)));
    }
    return nodes;
}

std::vector<NodeId> every_npu(const TopologyParts& topology) {
    std::vector<NodeId> nodes;
    for (std::size_t i = 0; i < topology.npus; ++i) nodes.emplace_back(i);
    return nodes;
}

/// The groups by name, in the order of the file; "all" is added on first use.
class GroupTable {
  public:
    GroupTable(const std::optional<JsonView>& view, const TopologyParts& topology) : topology_(topology) {
        if (!view) return;
        for (const auto& [name, members] : view->fields()) {
            if (name.empty()) members.fail("expected a name for the group, found an empty one");
            Group group{name, read_npus(members, topology)};
            if (name == kAllGroup && group.members != every_npu(topology)) {
                members.fail("'all' is every NPU in order; give another list another name");
            }
            add(std::move(group));
        }
    }

    [[nodiscard]] GroupId named(const std::string& name, const JsonView& asker) {
        if (const auto found = ids_.find(name); found != ids_.end()) return found->second;
        if (name == kAllGroup) return add({name, every_npu(topology_)});
        std::vector<std::string_view> names{kAllGroup};
        for (const Group& group : groups_) names.push_back(group.name);
        const auto guess = nearest(name, names);
        asker.fail_expecting(guess               ? fmt::format("a group (did you mean '{}'?)", *guess)
                             : names.size() <= 8 ? fmt::format("a group ({})", fmt::join(names, ", "))
                                                 : std::string("a group that 'groups' defines, or 'all'"));
    }

    [[nodiscard]] std::size_t ranks(GroupId id) const { return groups_[id.index()].members.size(); }
    [[nodiscard]] std::vector<Group> groups() && { return std::move(groups_); }

  private:
    GroupId add(Group group) {
        const GroupId id(groups_.size());
        ids_.emplace(group.name, id);
        groups_.push_back(std::move(group));
        return id;
    }

    const TopologyParts& topology_;
    std::vector<Group> groups_;
    std::unordered_map<std::string, GroupId> ids_;
};

void check_fields(const JsonView& view, CollectiveKind kind) {
    view.only({"id", "kind", "group", "chunks", "root", "chunk_bytes", "release", "forwarding", "counts",
               "pairs", "demands"});
    for (const auto& [field, belongs] : kFieldUses) {
        const auto found = view.find(field);
        if (!found || belongs(kind)) continue;
        // These kinds have one chunk per item anyway, and some writers always give "chunks".
        if (field == "chunks" && found->json() == 1) continue;
        std::vector<std::string_view> kinds;
        for (const std::string_view name : collective_kind_names()) {
            if (belongs(*kind_named(name))) kinds.push_back(name);
        }
        found->fail(fmt::format("'{}' does not belong to {}; it belongs to {}", field, name_of(kind),
                                fmt::join(kinds, ", ")));
    }
}

std::vector<std::vector<std::uint64_t>> read_counts(const JsonView& view) {
    std::vector<std::vector<std::uint64_t>> counts;
    for (const JsonView& row : view.elements()) {
        auto& numbers = counts.emplace_back();
        for (const JsonView& number : row.elements()) {
            numbers.push_back(static_cast<std::uint64_t>(number.integer(0, DemandList::kMaxChunks)));
        }
    }
    return counts;
}

Rank read_rank(const JsonView& view, std::size_t ranks) {
    return Rank(static_cast<std::size_t>(
        view.integer(0, static_cast<std::int64_t>(std::max<std::size_t>(ranks, 1)) - 1)));
}

std::vector<std::pair<Rank, Rank>> read_pairs(const JsonView& view, std::size_t ranks) {
    std::vector<std::pair<Rank, Rank>> pairs;
    for (const JsonView& pair : view.elements()) {
        if (pair.size() != 2) pair.fail_expecting("a pair of ranks, [from, to]");
        pairs.emplace_back(read_rank(pair[0], ranks), read_rank(pair[1], ranks));
    }
    return pairs;
}

std::vector<CustomDemand> read_demands(const JsonView& view, const TopologyParts& topology) {
    std::vector<CustomDemand> demands;
    for (const JsonView& item : view.elements()) {
        item.only({"holders", "receivers", "reduce", "bytes"});
        CustomDemand& demand = demands.emplace_back();
        demand.holders = read_npus(item.at("holders"), topology);
        demand.receivers = read_npus(item.at("receivers"), topology);
        if (const auto reduce = item.find("reduce")) demand.reduction = reduce->boolean();
        if (const auto bytes = item.find("bytes")) demand.bytes = Bytes{bytes->bytes(1, kMaxChunkBytes)};
    }
    return demands;
}

struct CollectiveContext {
    const TopologyParts& topology;
    GroupTable& groups;
    Forwarding forwarding;
};

Collective read_collective(const JsonView& view, std::size_t index, const CollectiveContext& context) {
    Collective collective;
    collective.kind = *kind_named(collective_kind_names()[view.at("kind").choice(collective_kind_names())]);
    check_fields(view, collective.kind);
    const auto id = view.find("id");
    collective.id = id ? read_name(*id) : fmt::format("{}{}", name_of(collective.kind), index);
    const auto group = view.find("group");
    collective.group = group ? context.groups.named(group->string(), *group)
                             : context.groups.named(std::string(kAllGroup), view);
    const std::size_t ranks = context.groups.ranks(collective.group);
    if (const auto chunks = view.find("chunks")) {
        collective.chunks = static_cast<std::uint64_t>(chunks->integer(1, DemandList::kMaxChunks));
    }
    if (has_root(collective.kind)) {
        const auto root = view.find("root");
        collective.root = root ? read_rank(*root, ranks) : Rank(0);
    }
    if (const auto bytes = view.find("chunk_bytes"))
        collective.chunk_bytes = Bytes{bytes->bytes(1, kMaxChunkBytes)};
    if (const auto release = view.find("release")) {
        collective.release = Ticks(release->integer(0, kMaxLinkTicks.count()));
    }
    const auto forwarding = view.find("forwarding");
    collective.forwarding = forwarding ? read_forwarding(*forwarding) : context.forwarding;
    if (collective.kind == CollectiveKind::AllToAllV) collective.counts = read_counts(view.at("counts"));
    if (collective.kind == CollectiveKind::Permute) collective.pairs = read_pairs(view.at("pairs"), ranks);
    if (collective.kind == CollectiveKind::Custom) {
        collective.demands = read_demands(view.at("demands"), context.topology);
    }
    return collective;
}

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

Json npu_numbers(const std::vector<NodeId>& nodes) {
    Json list = Json::array();
    for (const NodeId node : nodes) list.push_back(node.value());
    return list;
}

Json write_collective(const Collective& collective, const std::string& group) {
    Json json{{"id", collective.id}, {"kind", name_of(collective.kind)}, {"group", group}};
    if (collective.chunks != 1) json["chunks"] = collective.chunks;
    if (has_root(collective.kind)) json["root"] = collective.root.value_or(Rank(0)).value();
    if (collective.chunk_bytes.count > 0) json["chunk_bytes"] = collective.chunk_bytes.count;
    if (collective.release != Ticks(0)) json["release"] = collective.release.count();
    if (collective.forwarding == Forwarding::Group) json["forwarding"] = "group";
    if (collective.kind == CollectiveKind::AllToAllV) json["counts"] = collective.counts;
    if (collective.kind == CollectiveKind::Permute) {
        Json& pairs = json["pairs"] = Json::array();
        for (const auto& [from, to] : collective.pairs)
            pairs.push_back(Json::array({from.value(), to.value()}));
    }
    if (collective.kind == CollectiveKind::Custom) {
        Json& demands = json["demands"] = Json::array();
        for (const CustomDemand& demand : collective.demands) {
            Json& item = demands.emplace_back(
                Json{{"holders", npu_numbers(demand.holders)}, {"receivers", npu_numbers(demand.receivers)}});
            if (demand.reduction) item["reduce"] = true;
            if (demand.bytes) item["bytes"] = demand.bytes->count;
        }
    }
    return json;
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

Instance parse_instance(const Json& json, const std::string& fallback_name) {
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
    const CollectiveContext context{parts.topology, groups,
                                    forwarding ? read_forwarding(*forwarding) : Forwarding::Any};
    for (const JsonView& collective : view.at("collectives").elements()) {
        parts.collectives.push_back(read_collective(collective, parts.collectives.size(), context));
    }
    parts.groups = std::move(groups).groups();
    return Instance(std::move(parts));
}

Instance read_instance(const std::string& path) {
    Source source(path);
    const Json json = parse_json(source);
    try {
        return parse_instance(
            json, path == "-" ? std::string(kStdinName) : std::filesystem::path(path).stem().string());
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
        if (!is_implied(instance, i)) groups[group.name] = npu_numbers(group.members);
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
