#pragma once

#include "core/instance.hpp"
#include "io/json_view.hpp"

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace tutti::io {

/// What a collective's `group` names: one group, or a family of them, which follow each other.
struct NamedGroups {
    GroupId first;
    std::size_t count = 1;
    bool family = false;
};

/// The groups of an instance by name, in the order of the file: lists of NPUs, and families, which are
/// divided by a mesh of ranks or a split (instances/README.md). "all" is added on first use.
class GroupTable {
  public:
    /// The topology must outlive this. Throws InputError.
    GroupTable(const std::optional<JsonView>& view, const TopologyParts& topology);

    /// Throws InputError of the asker where there is no such group.
    [[nodiscard]] NamedGroups named(const std::string& name, const JsonView& asker);
    [[nodiscard]] const Group& group(GroupId id) const { return groups_[id.index()]; }
    [[nodiscard]] std::vector<Group> groups() && { return std::move(groups_); }

    /// Of families, all together: a few words of a file can ask for any number.
    static constexpr std::size_t kMaxFamilyGroups = std::size_t{1} << 20;
    static constexpr std::size_t kMaxFamilyMembers = std::size_t{1} << 26;

  private:
    GroupId add(Group group, const JsonView& place);
    void add_family(const std::string& name, const JsonView& view);
    [[noreturn]] void fail_unknown(const std::string& name, const JsonView& asker) const;

    const TopologyParts& topology_;
    std::vector<Group> groups_;
    std::unordered_map<std::string, NamedGroups> named_;
    std::vector<std::string> in_file_;  ///< the names that the file gives
    std::size_t family_groups_ = 0, family_members_ = 0;
};

/// NPU numbers. Core checks that they are NPUs, members and distinct.
[[nodiscard]] std::vector<NodeId> read_npus(const JsonView& view, const TopologyParts& topology);

}  // namespace tutti::io
