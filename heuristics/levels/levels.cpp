// Levels are found, not told: two NPUs are in one part of the level t if messages of at most t connect them,
// directly or through others (single linkage). So parts of a longer time contain those of a shorter one. The
// time of a message includes that of its bytes, so both latency and bandwidth separate levels: the nodes of a
// rail network, the leaves and pods of a fat tree, the routers and groups of a dragonfly. A cluster with a
// failed link has some more levels, of which only those are kept that differ much from the last one.

#include "heuristics/levels/levels.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace tutti::heuristics {
namespace {

constexpr std::size_t kMostLevels = 5;  ///< beyond them a level must halve the number of parts

class Union {
  public:
    explicit Union(std::size_t size) : parent_(size), sets_(size) {
        std::iota(parent_.begin(), parent_.end(), 0U);
    }
    std::uint32_t find(std::uint32_t i) {
        while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
        return i;
    }
    void join(NodeId a, NodeId b) {
        const std::uint32_t x = find(a.value()), y = find(b.value());
        if (x == y) return;
        parent_[std::max(x, y)] = std::min(x, y);
        --sets_;
    }
    [[nodiscard]] std::size_t sets() const { return sets_; }
    [[nodiscard]] Partition partition() {
        Partition parts(parent_.size());
        std::vector<std::uint32_t> number(parent_.size());
        std::uint32_t next = 0;
        for (std::uint32_t i = 0; i < parts.size(); ++i) {
            if (find(i) == i) number[i] = next++;
            parts[i] = number[find(i)];
        }
        return parts;
    }

  private:
    std::vector<std::uint32_t> parent_;
    std::size_t sets_;
};

}  // namespace

std::vector<Partition> levels_of(const Topology& topology, const MessageRoutes& routes) {
    // The lists belong to the routes and to a temporary of theirs, so pairs are joined by representatives:
    // members of one list reach the same NPUs equally fast.
    struct Pair {
        Ticks time;
        NodeId from, to;
    };
    std::vector<Pair> pairs;
    routes.each_pair_of_ports([&](Ticks time, std::span<const NodeId> from, std::span<const NodeId> to) {
        for (const NodeId other : from) {
            if (other != to.front()) pairs.push_back({time, other, to.front()});
        }
        for (const NodeId other : to) {
            if (other != from.front()) pairs.push_back({time, from.front(), other});
        }
    });
    std::ranges::stable_sort(pairs, {}, &Pair::time);
    std::vector<Partition> levels;
    Union sets(topology.npus());
    std::size_t last = topology.npus();
    for (std::size_t i = 0; i < pairs.size() && sets.sets() > 1;) {
        const Ticks time = pairs[i].time;
        for (; i < pairs.size() && pairs[i].time == time; ++i) sets.join(pairs[i].from, pairs[i].to);
        if (sets.sets() == last || sets.sets() == 1) continue;
        if (levels.size() >= kMostLevels && sets.sets() > last / 2) continue;
        last = sets.sets();
        levels.push_back(sets.partition());
    }
    return levels;
}

Numbering::Numbering(std::span<const NodeId> members, std::span<const Partition> levels, std::size_t npus)
    : place_(npus, kNone),
      digits_(members.size() * (levels.size() + 1)),
      radix_(levels.size() + 1, 1),
      members_(members.size()) {
    std::vector<NodeId> order(members.begin(), members.end());
    const auto before = [&](NodeId a, NodeId b) {
        for (std::size_t l = levels.size(); l-- > 0;) {
            if (levels[l][a.index()] != levels[l][b.index()])
                return levels[l][a.index()] < levels[l][b.index()];
        }
        return a < b;
    };
    std::ranges::sort(order, before);
    std::vector<std::uint32_t> digits(radix_.size(), 0);
    for (std::size_t m = 0; m < order.size(); ++m) {
        if (m > 0) {
            // The highest level at which the two differ counts on, those below begin anew.
            std::size_t l = levels.size();
            while (l > 0 && levels[l - 1][order[m].index()] == levels[l - 1][order[m - 1].index()]) --l;
            ++digits[l];
            std::fill_n(digits.begin(), l, 0U);
        }
        place_[order[m].index()] = static_cast<std::uint32_t>(m);
        for (std::size_t l = 0; l < digits.size(); ++l) {
            digits_[m * digits.size() + l] = digits[l];
            radix_[l] = std::max(radix_[l], digits[l] + 1);
        }
    }
}

Numbering Numbering::flat() const {
    Numbering result;
    result.place_ = place_;
    result.members_ = members_;
    result.digits_.resize(members_);
    std::iota(result.digits_.begin(), result.digits_.end(), 0U);
    result.radix_ = {static_cast<std::uint32_t>(std::max<std::size_t>(members_, 1))};
    return result;
}

Numbering::Round Numbering::rounds(std::size_t begin, std::size_t end) const {
    Round product = 1;
    for (std::size_t l = begin; l < end; ++l) product *= radix_[l];
    return product;
}

Numbering::Round Numbering::round(NodeId from, NodeId to, std::size_t begin, std::size_t end) const {
    if (!is_member(from) || !is_member(to)) return 0;
    const std::uint32_t* const a = &digits_[place_[from.index()] * radix_.size()];
    const std::uint32_t* const b = &digits_[place_[to.index()] * radix_.size()];
    Round result = 0;
    for (std::size_t l = end; l-- > begin;)
        result = result * radix_[l] + (b[l] + radix_[l] - a[l]) % radix_[l];
    return result;
}

}  // namespace tutti::heuristics
