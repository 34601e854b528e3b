#include "core/collective.hpp"

#include <algorithm>
#include <array>

namespace tutti {
namespace {

constexpr std::array<std::string_view, 12> kNames{
    "broadcast",  "scatter",    "gather",       "reduce",      "all_gather", "reduce_scatter",
    "all_reduce", "all_to_all", "all_to_all_v", "all_to_next", "permute",    "custom"};

}  // namespace

std::string_view name_of(CollectiveKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

std::optional<CollectiveKind> kind_named(std::string_view name) {
    const auto found = std::ranges::find(kNames, name);
    if (found == kNames.end()) return std::nullopt;
    return static_cast<CollectiveKind>(found - kNames.begin());
}

std::vector<std::string_view> collective_kind_names() { return {kNames.begin(), kNames.end()}; }

bool has_root(CollectiveKind kind) {
    return kind == CollectiveKind::Broadcast || kind == CollectiveKind::Scatter ||
           kind == CollectiveKind::Gather || kind == CollectiveKind::Reduce;
}

}  // namespace tutti
