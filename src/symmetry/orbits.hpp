#pragma once

#include "core/instance.hpp"
#include "symmetry/group_action.hpp"

#include <memory>
#include <span>
#include <vector>

namespace tutti::symmetry {

/// How a group of symmetries of the NPUs moves links and chunks (docs/symmetric-schedules.md).

inline constexpr std::uint32_t kNoImage = ~0U;

/// The links of a network of NPUs, moved by their ends: of several links from u to v that are wired alike,
/// the j-th goes to the j-th. Only links all of whose images exist are in an orbit; the network as a whole
/// need not be symmetric.
class LinkOrbits {
  public:
    /// Links that touch a switch are in no orbit. O(links * log degree).
    LinkOrbits(const Topology& topology, const GroupAction& action);

    [[nodiscard]] std::size_t size() const { return bases_.size(); }
    /// The orbit's link out of its first NPU.
    [[nodiscard]] LinkId base(std::size_t orbit) const { return bases_[orbit]; }
    /// The base moved by an element.
    [[nodiscard]] LinkId link(std::size_t orbit, std::uint32_t element) const {
        return links_[orbit * group_ + element];
    }
    /// kNoImage: in none.
    [[nodiscard]] std::uint32_t orbit_of(LinkId link) const { return orbit_[link.index()]; }
    [[nodiscard]] std::uint32_t element_of(LinkId link) const { return element_[link.index()]; }

  private:
    std::size_t group_;
    std::vector<LinkId> bases_, links_;
    std::vector<std::uint32_t> orbit_, element_;
};

/// Where permutations of the NPUs take the chunks of an instance: each to one of equal size, kind and release
/// whose holders, receivers and permitted carriers are the images of its own. Among equal demands the j-th
/// goes to the j-th; but where each of the holders is a receiver too and they share such demands evenly (an
/// all-reduce), each has its share, and shares go to shares.
class ChunkAction {
  public:
    /// The instance must outlive it. O(chunks * log + sizes of the node sets).
    explicit ChunkAction(const Instance& instance);
    ~ChunkAction();
    ChunkAction(const ChunkAction&) = delete;
    ChunkAction& operator=(const ChunkAction&) = delete;

    /// By chunk; kNoImage where there is no such chunk. O(chunks + sizes of the node sets).
    [[nodiscard]] std::vector<std::uint32_t> images(const Generator& generator) const;

  private:
    struct Rows;
    std::unique_ptr<const Rows> rows_;
};

/// All images of a chunk, by element. False: one is missing. `images` are those of the generators.
[[nodiscard]] bool chunk_row(const GroupAction& action, const std::vector<std::vector<std::uint32_t>>& images,
                             ChunkId chunk, std::vector<std::uint32_t>& row);

}  // namespace tutti::symmetry
