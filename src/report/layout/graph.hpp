#pragma once

#include "report/layout.hpp"

#include <cstdint>
#include <vector>

namespace tutti::report {

/// A network without directions and double links: all that a layout looks at.
class Graph {
  public:
    explicit Graph(std::size_t nodes) : neighbours_(nodes) {}
    explicit Graph(const Topology& topology);

    [[nodiscard]] std::size_t size() const { return neighbours_.size(); }
    /// Sorted.
    [[nodiscard]] const std::vector<std::uint32_t>& neighbours(std::size_t node) const {
        return neighbours_[node];
    }
    [[nodiscard]] bool joined(std::size_t a, std::size_t b) const;
    [[nodiscard]] std::size_t edges() const;

    /// That part of it: node i of the result is nodes[i].
    [[nodiscard]] Graph part(const std::vector<std::uint32_t>& nodes) const;
    /// The nodes of each component, in order of their smallest.
    [[nodiscard]] std::vector<std::vector<std::uint32_t>> components() const;
    /// Steps from the nearest of these nodes; the number of nodes where there is no path.
    [[nodiscard]] std::vector<std::uint32_t> distances(const std::vector<std::uint32_t>& from) const;

  private:
    std::vector<std::vector<std::uint32_t>> neighbours_;
};

}  // namespace tutti::report
