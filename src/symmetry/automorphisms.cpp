// A network can have too many automorphisms to list (n fully connected NPUs have n!), and a group is useful
// only if each element but the identity moves everything that must move. So the group is grown from the
// identity. Each step adds an automorphism that commutes with the group (or inverts its elements) and whose
// prime power is already in the group. This reaches all abelian groups, among them the translations of rings,
// tori and hypercubes, and the dihedral groups.
//
// A wrong step shows late: at first a ring's reflections look as good as its rotations, but they cannot be
// extended. So the search backtracks. It first tries automorphisms that move all nodes equally far:
// translations do, others rarely.

#include "symmetry/automorphisms.hpp"

#include "symmetry/automorphism_search.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace tutti::symmetry {
namespace {

constexpr std::uint64_t kWork = 600'000;  // comparisons of arcs: some 10 ms
constexpr std::size_t kMostNodes = 1024;
constexpr std::size_t kPerImage = 3;  // extensions tried with the same image of the base

Permutation after(const Permutation& first, const Permutation& second) {
    Permutation result(first.size());
    for (std::size_t i = 0; i < first.size(); ++i) result[i] = second[first[i]];
    return result;
}

Permutation identity(std::size_t size) {
    Permutation result(size);
    std::iota(result.begin(), result.end(), 0U);
    return result;
}

std::vector<std::uint64_t> prime_factors(std::uint64_t number) {
    std::vector<std::uint64_t> result;
    for (std::uint64_t p = 2; p * p <= number; ++p) {
        if (number % p == 0) result.push_back(p);
        while (number % p == 0) number /= p;
    }
    if (number > 1) result.push_back(number);
    return result;
}

class Growth {
  public:
    Growth(const SymmetryQuestion& question, const Stop& stop)
        : question_(question), search_(question.graph, 0, stop) {
        best_ = {{identity(question.graph.colours.size()), identity(question.copies.size())}};
        find_ends();
    }

    std::vector<Symmetry> run() {
        // Each stage starts from the best group so far or from the identity. It may use the work that earlier
        // stages did not.
        const std::vector<Symmetry> nothing = best_;
        moved_.nodes = question_.takes_part;
        even_ = true;
        stage(nothing, kWork / 4);
        even_ = false;
        stage(nothing, kWork / 2);
        if (question_.must_move != question_.takes_part) {
            moved_.nodes = question_.must_move;
            stage(best_, kWork * 3 / 4);
        }
        if (best_.size() == 1) {
            moved_.nodes = question_.takes_part;
            moved_.arcs_at.assign(moved_.nodes.size(), false);
            stage(nothing, kWork);
        }
        return std::move(best_);
    }

  private:
    void stage(std::vector<Symmetry> from, std::uint64_t work) {
        most_ = largest_possible();
        if (best_.size() >= most_) return;
        seen_.clear();
        search_.allow(work);
        grow(from);
    }

    /// An arc that stays fixed would have to carry two demands at the same time, so it cannot be used. That
    /// is no loss where it only leads to a node that is no receiver.
    void find_ends() {
        std::vector<std::set<std::uint32_t>> neighbours(question_.graph.colours.size());
        for (const auto& arc : question_.graph.arcs) {
            neighbours[arc.src].insert(arc.dst);
            neighbours[arc.dst].insert(arc.src);
        }
        moved_.arcs_at.assign(neighbours.size(), true);
        std::vector<std::uint32_t> ends(neighbours.size());
        std::iota(ends.begin(), ends.end(), 0U);
        for (std::size_t i = 0; i < ends.size(); ++i) {
            const std::uint32_t end = ends[i];
            if (question_.takes_part[end] || neighbours[end].size() != 1) continue;
            const std::uint32_t other = *neighbours[end].begin();
            neighbours[end].clear();
            neighbours[other].erase(end);
            moved_.arcs_at[end] = false;
            ends.push_back(other);
        }
    }

    /// The order of a group divides the number of copies, and the size of each class of nodes that it moves.
    [[nodiscard]] std::uint64_t largest_possible() const {
        std::uint64_t most =
            std::accumulate(question_.copies.begin(), question_.copies.end(), std::uint64_t{0});
        std::map<std::uint32_t, std::uint64_t> sizes;
        for (std::size_t n = 0; n < moved_.nodes.size(); ++n) {
            if (moved_.nodes[n]) ++sizes[search_.colours()[n]];
        }
        for (const auto& [colour, size] : sizes) most = std::gcd(most, size);
        return most;
    }

    /// The nodes whose images are tried first: a node of the smallest class that must move; if none must, one
    /// of each class.
    [[nodiscard]] std::vector<std::uint32_t> bases() const {
        std::map<std::uint32_t, std::vector<std::uint32_t>> classes;
        for (std::uint32_t n = 0; n < moved_.nodes.size(); ++n) classes[search_.colours()[n]].push_back(n);
        std::vector<std::uint32_t> all;
        std::optional<std::pair<std::size_t, std::uint32_t>> smallest;
        for (const auto& [colour, nodes] : classes) {
            if (nodes.size() > 1) all.push_back(nodes.front());
            if (!moved_.nodes[nodes.front()]) continue;
            smallest = std::min(smallest.value_or(std::pair(nodes.size(), nodes.front())),
                                std::pair(nodes.size(), nodes.front()));
        }
        return smallest ? std::vector{smallest->second} : all;
    }

    [[nodiscard]] static NodeGroup node_group(const std::vector<Symmetry>& group) {
        NodeGroup result;
        result.orbit = group.front().nodes;
        for (const Symmetry& element : group) {
            Permutation inverse(element.nodes.size());
            for (std::uint32_t n = 0; n < inverse.size(); ++n) {
                inverse[element.nodes[n]] = n;
                result.orbit[n] = std::min(result.orbit[n], element.nodes[n]);
            }
            result.elements.push_back(element.nodes);
            result.inverses.push_back(std::move(inverse));
        }
        return result;
    }

    [[nodiscard]] bool done() { return best_.size() >= most_ || search_.exhausted(); }

    void grow(const std::vector<Symmetry>& group) {
        if (group.size() > best_.size()) best_ = group;
        if (done()) return;
        const NodeGroup nodes = node_group(group);
        if (!seen_.insert(std::set(nodes.elements.begin(), nodes.elements.end())).second) return;
        auto primes = prime_factors(most_ / group.size());
        std::ranges::reverse(primes);
        for (const std::uint64_t prime : primes) {
            for (const std::uint32_t base : bases()) {
                for (std::uint32_t to = 0; to < moved_.nodes.size(); ++to) {
                    if (nodes.orbit[to] != to && to != base) continue;  // the others make the same groups
                    if (nodes.orbit[to] == nodes.orbit[base] && (moved_.nodes[base] || to != base)) continue;
                    grow(group, nodes, {static_cast<std::size_t>(prime), 0, false, even_, base, to});
                    if (done()) return;
                }
            }
        }
    }

    void grow(const std::vector<Symmetry>& group, const NodeGroup& nodes, Extension wanted) {
        // Inverting makes sense for squares only: otherwise every element would be its own inverse.
        for (const bool inverting : {false, true}) {
            if (inverting && (even_ || wanted.power != 2 || nodes.elements == nodes.inverses)) continue;
            wanted.inverting = inverting;
            for (wanted.closes = 0; wanted.closes < group.size(); ++wanted.closes) {
                const bool own_inverse = nodes.elements[wanted.closes] == nodes.inverses[wanted.closes];
                if (inverting && !own_inverse) continue;
                for (const Permutation& found : search_.find(nodes, wanted, moved_, kPerImage)) {
                    const std::vector<Symmetry> larger = extended(group, found, wanted.power);
                    if (!larger.empty()) grow(larger);
                    if (done()) return;
                }
            }
        }
    }

    /// The group extended by one automorphism; empty if the result fixes something that must move.
    [[nodiscard]] std::vector<Symmetry> extended(const std::vector<Symmetry>& group, const Permutation& more,
                                                 std::size_t power) const {
        if (std::ranges::any_of(group, [&](const Symmetry& g) { return g.nodes == more; })) return {};
        const auto demands = question_.on_demands(more);
        if (!demands) return {};
        std::vector<Symmetry> result = group;
        for (std::size_t i = 0; i < group.size() * (power - 1); ++i) {
            result.push_back({after(result[i].nodes, more), after(result[i].demands, *demands)});
        }
        std::vector<std::uint64_t> keepers(question_.copies.size());
        for (const Symmetry& g : result) {
            for (std::size_t d = 0; d < keepers.size(); ++d) keepers[d] += g.demands[d] == d ? 1U : 0U;
        }
        for (std::size_t d = 0; d < keepers.size(); ++d) {
            if (question_.copies[d] % keepers[d] != 0) return {};
        }
        return result;
    }

    const SymmetryQuestion& question_;
    AutomorphismSearch search_;
    std::vector<Symmetry> best_;
    Moved moved_;
    bool even_ = true;
    std::uint64_t most_ = 1;
    std::set<std::set<Permutation>> seen_;
};

}  // namespace

std::vector<Symmetry> free_group(const SymmetryQuestion& question, const Stop& stop) {
    const std::size_t nodes = question.graph.colours.size();
    if (nodes > kMostNodes) return {{identity(nodes), identity(question.copies.size())}};
    return Growth(question, stop).run();
}

}  // namespace tutti::symmetry
