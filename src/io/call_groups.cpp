#include "io/call_groups.hpp"

#include "core/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace tutti::io {
namespace {

std::vector<std::uint32_t> members_of(std::span<const std::int64_t> ranks, const std::string& place) {
    std::vector<std::uint32_t> members;
    for (const std::int64_t rank : ranks) members.push_back(static_cast<std::uint32_t>(rank));
    std::vector<std::uint32_t> sorted = members;
    std::ranges::sort(sorted);
    if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
        throw InputError(fmt::format("rank {} is in this group twice", *twice), place);
    if (members.empty()) throw InputError("expected at least one rank, found an empty list", place);
    return members;
}

}  // namespace

void CallGroups::declare(const std::string& name, std::span<const std::int64_t> ranks, std::size_t rank,
                         const std::string& place) {
    const std::uint32_t number = names_.group(name);
    plan::CallGroup& group = list_.groups[number];
    std::vector<std::uint32_t> members = members_of(ranks, place);
    if (group.guessed || group.members != members)
        declared_.push_back({number, std::ranges::max(members), place});
    if (group.guessed) {
        group.members = std::move(members);
        group.guessed = false;
    } else if (group.members != members) {
        group.others.emplace_back(static_cast<std::uint32_t>(rank), std::move(members));
    }
}

std::uint32_t CallGroups::listed(std::span<const std::int64_t> ranks, const std::string& place) {
    const std::uint32_t number = names_.group(fmt::format("[{}]", fmt::join(ranks, ", ")));
    if (plan::CallGroup& group = list_.groups[number]; group.guessed) {
        group.members = members_of(ranks, place);
        group.guessed = false;
        declared_.push_back({number, std::ranges::max(group.members), place});
    }
    return number;
}

void CallGroups::finish() {
    for (plan::CallGroup& group : list_.groups) {
        if (!group.guessed || group.name != "world") continue;
        for (std::uint32_t rank = 0; rank < list_.ranks.size(); ++rank) group.members.push_back(rank);
        group.guessed = false;
    }
    for (const Declared& declared : declared_) {
        if (declared.largest < list_.ranks.size()) continue;
        throw InputError(
            fmt::format("group {} has rank {}, but the last rank with calls is {}",
                        list_.groups[declared.group].name, declared.largest, list_.ranks.size() - 1),
            declared.place);
    }
}

}  // namespace tutti::io
