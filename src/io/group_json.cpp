#include "io/group_json.hpp"

#include "core/group_family.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tutti::io {
namespace {

constexpr std::size_t kLongestAxisName = 255;

std::vector<NodeId> every_npu(const TopologyParts& topology) {
    std::vector<NodeId> nodes;
    for (std::size_t i = 0; i < topology.npus; ++i) nodes.emplace_back(i);
    return nodes;
}

RankMesh::Axis read_axis(const JsonView& view) {
    if (!view.is_array() || view.size() != 2)
        view.fail_expecting("an axis: its name and its size, like [\"tp\", 8]");
    RankMesh::Axis axis{view[0].string(), 1};
    if (axis.name.empty() || axis.name.size() > kLongestAxisName)
        view[0].fail_expecting(fmt::format("a name of 1 to {} bytes", kLongestAxisName));
    axis.size = static_cast<std::size_t>(view[1].integer(1, static_cast<std::int64_t>(kMaxNodes)));
    return axis;
}

RankMesh read_mesh(const JsonView& view, std::size_t npus) {
    view.only({"axes"});
    const JsonView axes = view.at("axes");
    RankMesh mesh;
    for (const JsonView& element : axes.elements()) {
        RankMesh::Axis axis = read_axis(element);
        if (std::ranges::find(mesh.axes, axis.name, &RankMesh::Axis::name) != mesh.axes.end())
            element[0].fail(fmt::format("the axis '{}' is there twice", axis.name));
        mesh.axes.push_back(std::move(axis));
    }
    if (mesh.axes.empty()) axes.fail_expecting("at least one axis");
    const auto ranks = mesh.ranks(kMaxNodes);
    if (ranks == npus) return mesh;
    std::vector<std::size_t> sizes;
    for (const RankMesh::Axis& axis : mesh.axes) sizes.push_back(axis.size);
    axes.fail(fmt::format("expected axes that make {} ranks, one for each NPU; {} make{} {}", npus,
                          fmt::join(sizes, " x "), sizes.size() == 1 ? "s" : "",
                          ranks ? std::to_string(*ranks) : fmt::format("more than {}", kMaxNodes)));
}

/// The position of the axis that is named here.
std::size_t read_axis_name(const JsonView& view, const RankMesh& mesh) {
    std::vector<std::string_view> names;
    for (const RankMesh::Axis& axis : mesh.axes) names.push_back(axis.name);
    return view.choice(names);
}

std::vector<std::size_t> read_along(const JsonView& view, const RankMesh& mesh) {
    if (view.is_string()) return {read_axis_name(view, mesh)};
    if (!view.is_array() || view.size() == 0)
        view.fail_expecting("the name of an axis, or a list of such names");
    std::vector<std::size_t> along;
    for (const JsonView& element : view.elements()) {
        const std::size_t axis = read_axis_name(element, mesh);
        if (std::ranges::find(along, axis) != along.end())
            element.fail(fmt::format("the axis '{}' is there twice", mesh.axes[axis].name));
        along.push_back(axis);
    }
    return along;
}

GroupFamily read_family(const JsonView& view, std::size_t npus) {
    if (const auto split = view.find("split")) {
        view.only({"split"});
        const auto rule = split_in(split->string());
        if (!rule) {
            split->fail_expecting(
                "how ranks are split, as nccl-tests has it: AND, OR, MOD or DIV (or &, |, %, /) and a number "
                "like 8, 0x7 or 0b111");
        }
        return split_ranks(npus, *rule);
    }
    if (!view.find("mesh")) view.fail_expecting("a list of NPUs, or an object with 'mesh' or 'split'");
    view.only({"mesh", "along"});
    const RankMesh mesh = read_mesh(view.at("mesh"), npus);
    return lines_along(mesh, read_along(view.at("along"), mesh));
}

}  // namespace

std::vector<NodeId> read_npus(const JsonView& view, const TopologyParts& topology) {
    const auto last = static_cast<std::int64_t>(std::max<std::size_t>(topology.nodes(), 1)) - 1;
    std::vector<NodeId> nodes;
    nodes.reserve(view.size());
    for (const JsonView& element : view.elements())
        nodes.emplace_back(static_cast<std::size_t>(element.integer(0, last)));
    return nodes;
}

GroupTable::GroupTable(const std::optional<JsonView>& view, const TopologyParts& topology)
    : topology_(topology) {
    if (!view) return;
    for (const auto& [name, value] : view->fields()) {
        if (name.empty()) value.fail("expected a name for the group, found an empty one");
        in_file_.push_back(name);
        if (value.is_object()) {
            add_family(name, value);
            continue;
        }
        Group group{name, read_npus(value, topology)};
        if (name == kAllGroup && group.members != every_npu(topology)) {
            value.fail("'all' is every NPU in order; give another list another name");
        }
        add(std::move(group), value);
    }
}

GroupId GroupTable::add(Group group, const JsonView& place) {
    const GroupId id(groups_.size());
    if (!named_.emplace(group.name, NamedGroups{id}).second)
        place.fail(fmt::format("there are two groups '{}': one is listed, one is of a family", group.name));
    groups_.push_back(std::move(group));
    return id;
}

void GroupTable::add_family(const std::string& name, const JsonView& view) {
    if (name == kAllGroup) view.fail("'all' is every NPU in order; give a family another name");
    // Asked before it is made, as its groups are no more than its members.
    family_members_ += topology_.npus;
    if (family_members_ > kMaxFamilyMembers)
        view.fail(fmt::format("families have more than {} members, which is too many", kMaxFamilyMembers));
    GroupFamily family = read_family(view, topology_.npus);
    family_groups_ += family.size();
    if (family_groups_ > kMaxFamilyGroups)
        view.fail(fmt::format("families have more than {} groups, which is too many", kMaxFamilyGroups));
    const NamedGroups range{GroupId(groups_.size()), family.size(), true};
    for (std::size_t i = 0; i < family.size(); ++i) add({member_name(name, i), std::move(family[i])}, view);
    if (!named_.emplace(name, range).second)
        view.fail(fmt::format("there are two groups '{}': one is a family, one is of a family", name));
}

NamedGroups GroupTable::named(const std::string& name, const JsonView& asker) {
    if (const auto found = named_.find(name); found != named_.end()) return found->second;
    if (name != kAllGroup) fail_unknown(name, asker);
    return {add({name, every_npu(topology_)}, asker)};
}

void GroupTable::fail_unknown(const std::string& name, const JsonView& asker) const {
    const auto family = named_.find(name.substr(0, name.rfind('[')));
    if (family != named_.end() && family->second.family) {
        asker.fail_expecting(fmt::format("a group ('{0}' has {1}: {0}[0] to {0}[{2}])", family->first,
                                         family->second.count, family->second.count - 1));
    }
    std::vector<std::string_view> names{kAllGroup};
    names.insert(names.end(), in_file_.begin(), in_file_.end());
    const auto guess = nearest(name, names);
    asker.fail_expecting(guess               ? fmt::format("a group (did you mean '{}'?)", *guess)
                         : names.size() <= 8 ? fmt::format("a group ({})", fmt::join(names, ", "))
                                             : std::string("a group that 'groups' defines, or 'all'"));
}

}  // namespace tutti::io
