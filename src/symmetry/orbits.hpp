#pragma once

#include "core/instance.hpp"
#include "symmetry/group_action.hpp"

#include <memory>
#include <span>
#include <vector>

namespace tutti::symmetry {

/// How a group of symmetries of the NPUs moves links and chunks (docs/symmetric-schedules.md).

inline constexpr std::uint32_t kNoImage = ~0U;

/// How the group permutes the links, by their ends: among parallel links from u to v with equal wires, the
/// j-th goes to the j-th. A link is in an orbit only if all its images exist; the network as a whole need not
/// be symmetric.
class LinkOrbits {
  public:
    /// Links that touch a switch are in no orbit. O(links * log degree).
    LinkOrbits(const Topology& topology, const GroupAction& action);

    [[nodiscard]] std::size_t size() const { return bases_.size(); }
    /// The link of the orbit that leaves its first NPU.
    [[nodiscard]] LinkId base(std::size_t orbit) const { return bases_[orbit]; }
    /// The base moved by an element.
    [[nodiscard]] LinkId link(std::size_t orbit, std::uint32_t element) const {
        return links_[orbit * group_ + element];
    }
    /// kNoImage if the link is in no orbit.
    [[nodiscard]] std::uint32_t orbit_of(LinkId link) const { return orbit_[link.index()]; }
    [[nodiscard]] std::uint32_t element_of(LinkId link) const { return element_[link.index()]; }

  private:
    std::size_t group_;
    std::vector<LinkId> bases_, links_;
    std::vector<std::uint32_t> orbit_, element_;
};

/// How permutations of the NPUs act on the chunks of an instance: each chunk goes to one of equal size, kind
/// and release whose holders, receivers and permitted carriers are the images of its own. Among equal demands
/// the j-th goes to the j-th. Exception: where the holders are the receivers and the number of such demands
/// is a multiple of theirs (an all-reduce), each holder gets an equal share, and shares are mapped to shares.
/// A chunk whose holders have different releases has no image.
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

/// All images of a chunk, by element. False if one is missing. `images` are those under the generators.
[[nodiscard]] bool chunk_row(const GroupAction& action, const std::vector<std::vector<std::uint32_t>>& images,
                             ChunkId chunk, std::vector<std::uint32_t>& row);

}  // namespace tutti::symmetry
