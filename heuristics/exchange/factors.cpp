// Dimensions from links alone. In a product of graphs two edges at a node that belong to different factors
// span exactly one square, and opposite edges of a square belong to one factor. So edges at a node that span
// no square, or several, or a triangle, belong to one factor, and so do opposite edges of a square that is
// spanned alone (Feigenbaum, Hershberger and Schaeffer, "A polynomial time algorithm for finding the prime
// factors of Cartesian-product graphs", 1985). Union-find over these pairs gives the factors; each must
// consist of lines and rings.

#include "heuristics/exchange/factors.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace tutti::heuristics {
namespace {

constexpr std::size_t kMostNeighbours = 16;

class Factors {
  public:
    Factors(const MessageGraph& graph, const std::vector<NodeId>& members) : members_(members) {
        std::map<NodeId, std::uint32_t> number;
        for (const NodeId member : members) number.emplace(member, static_cast<std::uint32_t>(number.size()));
        next_.resize(members.size());
        for (std::uint32_t m = 0; m < members.size(); ++m) {
            for (const NodeId other : graph.next(members[m])) {
                const auto place = number.find(other);
                if (place != number.end() && graph.joins(other, members[m]))
                    next_[m].push_back(place->second);
            }
            if (next_[m].size() > kMostNeighbours) is_dense_ = true;
            std::ranges::sort(next_[m]);
        }
    }

    std::optional<std::vector<Factor>> run() {
        number_edges();
        if (is_dense_ || edges_.empty()) return std::nullopt;
        for (std::uint32_t u = 0; u < next_.size(); ++u) relate_edges_at(u);
        std::map<std::uint32_t, std::vector<std::vector<std::uint32_t>>> adjacent;  // by factor and member
        for (const auto& [ends, edge] : edges_) {
            auto& own = adjacent[root(edge)];
            own.resize(next_.size());
            own[ends.first].push_back(ends.second);
            own[ends.second].push_back(ends.first);
        }
        std::vector<Factor> factors;
        for (const auto& [edge, own] : adjacent) {
            auto factor = lines_of(own);
            if (!factor) return std::nullopt;
            factors.push_back(std::move(*factor));
        }
        return factors;
    }

  private:
    void number_edges() {
        for (std::uint32_t u = 0; u < next_.size(); ++u) {
            for (const std::uint32_t v : next_[u]) {
                if (u < v) edges_.emplace(std::pair(u, v), static_cast<std::uint32_t>(edges_.size()));
            }
        }
        parent_.resize(edges_.size());
        std::iota(parent_.begin(), parent_.end(), 0U);
    }
    [[nodiscard]] std::uint32_t edge(std::uint32_t u, std::uint32_t v) const {
        return edges_.at(std::minmax(u, v));
    }
    std::uint32_t root(std::uint32_t edge) {
        while (parent_[edge] != edge) edge = parent_[edge] = parent_[parent_[edge]];
        return edge;
    }
    void join(std::uint32_t a, std::uint32_t b) { parent_[root(a)] = root(b); }

    void relate_edges_at(std::uint32_t u) {
        for (std::size_t i = 0; i < next_[u].size(); ++i) {
            for (std::size_t j = i + 1; j < next_[u].size(); ++j) {
                const std::uint32_t v = next_[u][i], w = next_[u][j];
                const auto corner = sole_corner(u, v, w);
                if (!corner) {
                    join(edge(u, v), edge(u, w));
                } else {
                    join(edge(u, v), edge(w, *corner));
                    join(edge(u, w), edge(v, *corner));
                }
            }
        }
    }
    /// The fourth corner of the only square with these three; none if there is a triangle.
    [[nodiscard]] std::optional<std::uint32_t> sole_corner(std::uint32_t u, std::uint32_t v,
                                                           std::uint32_t w) const {
        if (std::ranges::binary_search(next_[v], w)) return std::nullopt;
        std::optional<std::uint32_t> corner;
        for (const std::uint32_t x : next_[v]) {
            if (x == u || !std::ranges::binary_search(next_[w], x)) continue;
            if (corner) return std::nullopt;
            corner = x;
        }
        return corner;
    }

    [[nodiscard]] std::optional<Factor> lines_of(
        const std::vector<std::vector<std::uint32_t>>& adjacent) const {
        if (std::ranges::any_of(adjacent, [](const auto& next) { return next.size() > 2; }))
            return std::nullopt;
        Factor factor;
        std::vector<bool> seen(adjacent.size(), false);
        const auto follow = [&](std::uint32_t at) {
            FactorLine line;
            while (true) {
                seen[at] = true;
                line.nodes.push_back(members_[at]);
                const auto on = std::ranges::find_if(adjacent[at], [&](std::uint32_t v) { return !seen[v]; });
                if (on == adjacent[at].end()) return line;
                at = *on;
            }
        };
        for (std::uint32_t m = 0; m < adjacent.size(); ++m) {  // from their ends
            if (adjacent[m].size() == 1 && !seen[m]) factor.push_back(follow(m));
        }
        for (std::uint32_t m = 0; m < adjacent.size(); ++m) {
            if (adjacent[m].size() != 2 || seen[m]) continue;
            factor.push_back(follow(m));
            factor.back().is_ring = true;
        }
        return factor;
    }

    const std::vector<NodeId>& members_;
    bool is_dense_ = false;
    std::vector<std::vector<std::uint32_t>> next_;  ///< by member, in order
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> edges_;
    std::vector<std::uint32_t> parent_;  ///< by edge
};

}  // namespace

std::optional<std::vector<Factor>> factors_of(const MessageGraph& graph, const std::vector<NodeId>& members) {
    return Factors(graph, members).run();
}

}  // namespace tutti::heuristics
