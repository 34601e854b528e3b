#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

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

/// An id or none, no larger than the id itself: for structs of which a plan or schedule holds millions.
/// Reads like std::optional; none comes before every id.
template <class IdType>
class OptionalId {
  public:
    constexpr OptionalId() = default;
    constexpr OptionalId(std::nullopt_t) {}                      // NOLINT(google-explicit-constructor)
    constexpr OptionalId(IdType id) : value_(id.value() + 1) {}  // NOLINT(google-explicit-constructor)
    [[nodiscard]] constexpr bool has_value() const { return value_ != 0; }
    explicit constexpr operator bool() const { return has_value(); }
    /// Precondition: has_value().
    [[nodiscard]] constexpr IdType operator*() const { return IdType(value_ - 1); }
    constexpr void reset() { value_ = 0; }
    friend constexpr auto operator<=>(OptionalId, OptionalId) = default;

  private:
    std::uint32_t value_ = 0;  ///< the id and one more; 0: none
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
