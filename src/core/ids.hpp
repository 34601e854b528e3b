#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace tutti {

/// A number of one kind of thing. Two kinds do not convert into each other, so a link can never be
/// passed where a node is meant.
template <class Tag>
class Id {
  public:
    constexpr Id() = default;
    explicit constexpr Id(std::size_t value) : value_(static_cast<std::uint32_t>(value)) {}
    [[nodiscard]] constexpr std::uint32_t value() const { return value_; }
    [[nodiscard]] constexpr std::size_t index() const { return value_; }
    friend constexpr auto operator<=>(Id, Id) = default;

  private:
    std::uint32_t value_ = 0;
};

using NodeId = Id<struct NodeTag>;              ///< NPUs 0…n-1, then switches n…n+s-1
using LinkId = Id<struct LinkTag>;              ///< as the topology lists them
using ChunkId = Id<struct ChunkTag>;            ///< as the collectives list their demands
using GroupId = Id<struct GroupTag>;            ///< as the instance lists its groups
using CollectiveId = Id<struct CollectiveTag>;  ///< as the instance lists its collectives
using Rank = Id<struct RankTag>;                ///< a position in a group

}  // namespace tutti

template <class Tag>
struct std::hash<tutti::Id<Tag>> {
    std::size_t operator()(tutti::Id<Tag> id) const noexcept { return id.index(); }
};
