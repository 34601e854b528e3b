#pragma once

#include "symmetry/automorphisms.hpp"

namespace tutti::symmetry {

/// A group in the search's representation.
struct NodeGroup {
    std::vector<Permutation> elements;  ///< the identity first
    std::vector<Permutation> inverses;  ///< of each element
    std::vector<std::uint32_t> orbit;   ///< per node: the first node of its orbit
};

/// What every element of a group but the identity must move.
struct Moved {
    std::vector<bool> nodes;    ///< these nodes
    std::vector<bool> arcs_at;  ///< the arcs between two of these
};

/// An automorphism h that makes a group G larger by a prime factor: h^power is the given element of G, and h
/// takes the image of x under g to the image of h(x) under g (or, inverting, under g's inverse). So h is
/// known on a whole orbit once it is known at one node.
struct Extension {
    std::size_t power = 2;
    std::size_t closes = 0;  ///< index of h^power in G
    bool inverting = false;
    bool even = false;       ///< h moves all nodes of the base's colour equally far, as translations do
    std::uint32_t base = 0;  ///< a node
    std::uint32_t to = 0;    ///< where h takes it
};

/// Backtracking over the images of nodes.
class AutomorphismSearch {
  public:
    /// `work` limits the number of arc comparisons.
    AutomorphismSearch(const ColouredGraph& graph, std::uint64_t work, const Stop& stop);

    /// Colour refinement: colours split by the neighbours' colours until nothing changes.
    [[nodiscard]] const std::vector<std::uint32_t>& colours() const { return colours_; }

    /// Up to `most` extensions whose products with elements of the group move everything that must move.
    [[nodiscard]] std::vector<Permutation> find(const NodeGroup& group, const Extension& wanted,
                                                const Moved& moved, std::size_t most);
    /// Sets the limit on the work in total.
    void allow(std::uint64_t work) { allowed_ = work; }
    [[nodiscard]] bool exhausted();

  private:
    void refine(const ColouredGraph& graph);
    [[nodiscard]] std::uint32_t label(std::uint32_t src, std::uint32_t dst) const {
        return labels_[src * nodes_ + dst];
    }
    [[nodiscard]] const std::vector<std::uint32_t>& order_from(std::uint32_t base);
    [[nodiscard]] const std::vector<std::uint32_t>& distances_from(std::uint32_t node);
    [[nodiscard]] std::vector<std::uint32_t> candidates(std::uint32_t node) const;
    [[nodiscard]] bool assign(std::uint32_t node, std::uint32_t to);
    [[nodiscard]] bool fits(std::uint32_t node);
    [[nodiscard]] bool may_stay(std::uint32_t node, std::uint32_t other) const;
    void undo(std::size_t mark);
    void next();
    void follow(std::uint32_t start, std::uint32_t at, std::size_t length);
    [[nodiscard]] bool is_wanted();

    const std::size_t nodes_;
    const Stop& stop_;
    std::uint64_t work_ = 0, allowed_;
    bool stopped_ = false;
    std::vector<std::uint32_t> labels_, colours_;  ///< label 0: no arc
    std::vector<std::vector<std::uint32_t>> neighbours_;
    std::map<std::uint32_t, std::vector<std::uint32_t>> orders_, distances_;

    // State of the current search.
    const NodeGroup* group_ = nullptr;
    const Moved* moved_ = nullptr;
    Extension wanted_;
    std::uint32_t distance_ = 0;
    std::size_t most_ = 0;
    Permutation image_, trail_;
    std::vector<bool> assigned_, used_;
    std::vector<Permutation> found_;
};

}  // namespace tutti::symmetry
