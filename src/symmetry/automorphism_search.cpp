// A node's image is chosen among the neighbours of its neighbours' images; then the image's own image is
// chosen, and so on along the cycle until the wanted power closes it. So wrong orders are never built. One
// choice fixes the images of a whole orbit of the current group, so the search is shorter for a larger group.

#include "symmetry/automorphism_search.hpp"

#include <algorithm>

namespace tutti::symmetry {
namespace {

constexpr std::uint32_t kUnreached = ~std::uint32_t{0};

}  // namespace

AutomorphismSearch::AutomorphismSearch(const ColouredGraph& graph, std::uint64_t work, const Stop& stop)
    : nodes_(graph.colours.size()),
      stop_(stop),
      allowed_(work),
      labels_(nodes_ * nodes_),
      colours_(graph.colours),
      neighbours_(nodes_),
      image_(nodes_),
      assigned_(nodes_),
      used_(nodes_) {
    for (const auto& arc : graph.arcs) {
        labels_[arc.src * nodes_ + arc.dst] = arc.label + 1;
        neighbours_[arc.src].push_back(arc.dst);
        neighbours_[arc.dst].push_back(arc.src);
    }
    for (auto& list : neighbours_) {
        std::ranges::sort(list);
        list.erase(std::unique(list.begin(), list.end()), list.end());
    }
    refine(graph);
}

void AutomorphismSearch::refine(const ColouredGraph& graph) {
    for (std::size_t count = 0;;) {
        using Around = std::vector<std::tuple<bool, std::uint32_t, std::uint32_t>>;
        std::vector<std::pair<std::uint32_t, Around>> facts(nodes_);
        for (std::size_t n = 0; n < nodes_; ++n) facts[n].first = colours_[n];
        for (const auto& arc : graph.arcs) {
            facts[arc.src].second.emplace_back(true, arc.label, colours_[arc.dst]);
            facts[arc.dst].second.emplace_back(false, arc.label, colours_[arc.src]);
        }
        for (auto& [colour, around] : facts) std::ranges::sort(around);
        colours_ = ranked(facts);
        const std::size_t now = nodes_ == 0 ? 0 : *std::ranges::max_element(colours_) + 1;
        if (now == count) return;
        count = now;
    }
}

bool AutomorphismSearch::exhausted() {
    if (!stopped_ && stop_.requested()) stopped_ = true;
    return stopped_ || work_ > allowed_;
}

std::vector<Permutation> AutomorphismSearch::find(const NodeGroup& group, const Extension& wanted,
                                                  const Moved& moved, std::size_t most) {
    group_ = &group;
    moved_ = &moved;
    wanted_ = wanted;
    most_ = most;
    found_.clear();
    if (wanted.even) distance_ = distances_from(wanted.base)[wanted.to];
    if (assign(wanted.base, wanted.to)) follow(wanted.base, wanted.to, 1);
    undo(0);
    return std::move(found_);
}

/// Breadth first, so that each node is visited after a neighbour that already has an image.
const std::vector<std::uint32_t>& AutomorphismSearch::order_from(std::uint32_t base) {
    auto& order = orders_[base];
    if (!order.empty()) return order;
    std::vector<bool> seen(nodes_);
    const auto visit = [&](std::uint32_t node) {
        if (!seen[node]) order.push_back(node);
        seen[node] = true;
    };
    visit(base);
    std::size_t at = 0;
    for (std::uint32_t other = 0; other < nodes_; ++other) {
        for (; at < order.size(); ++at) {
            for (const std::uint32_t neighbour : neighbours_[order[at]]) visit(neighbour);
        }
        visit(other);
    }
    return order;
}

const std::vector<std::uint32_t>& AutomorphismSearch::distances_from(std::uint32_t node) {
    auto& distance = distances_[node];
    if (!distance.empty()) return distance;
    distance.assign(nodes_, kUnreached);
    distance[node] = 0;
    std::vector<std::uint32_t> queue{node};
    for (std::size_t i = 0; i < queue.size(); ++i) {
        for (const std::uint32_t neighbour : neighbours_[queue[i]]) {
            if (distance[neighbour] != kUnreached || label(queue[i], neighbour) == 0) continue;
            distance[neighbour] = distance[queue[i]] + 1;
            queue.push_back(neighbour);
        }
    }
    return distance;
}

std::vector<std::uint32_t> AutomorphismSearch::candidates(std::uint32_t node) const {
    const std::vector<std::uint32_t>* best = nullptr;
    for (const std::uint32_t neighbour : neighbours_[node]) {
        if (!assigned_[neighbour]) continue;
        const auto& around = neighbours_[image_[neighbour]];
        if (best == nullptr || around.size() < best->size()) best = &around;
    }
    std::vector<std::uint32_t> result;
    const std::size_t count = best != nullptr ? best->size() : nodes_;
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t to = best != nullptr ? (*best)[i] : i;
        if (!used_[to] && colours_[to] == colours_[node]) result.push_back(to);
    }
    return result;
}

/// Also assigns the rest of the orbit. What was assigned before a failure is left for `undo`.
bool AutomorphismSearch::assign(std::uint32_t node, std::uint32_t to) {
    if (colours_[node] != colours_[to]) return false;
    if (moved_->nodes[node] && group_->orbit[node] == group_->orbit[to]) return false;
    if (wanted_.even && colours_[node] == colours_[wanted_.base] && distances_from(node)[to] != distance_)
        return false;
    const auto& images = wanted_.inverting ? group_->inverses : group_->elements;
    for (std::size_t g = 0; g < images.size(); ++g) {
        const std::uint32_t from = group_->elements[g][node], onto = images[g][to];
        if (assigned_[from]) {
            if (image_[from] != onto) return false;
            continue;
        }
        if (used_[onto]) return false;
        image_[from] = onto;
        assigned_[from] = used_[onto] = true;
        trail_.push_back(from);
    }
    work_ += images.size();
    return fits(node);
}

/// The orbit's other nodes fit where this one does, since the group consists of automorphisms.
bool AutomorphismSearch::fits(std::uint32_t node) {
    const std::uint32_t to = image_[node];
    if (neighbours_[node].size() != neighbours_[to].size()) return false;
    work_ += neighbours_[node].size();
    return std::ranges::all_of(neighbours_[node], [&](std::uint32_t other) {
        return !assigned_[other] || (label(node, other) == label(to, image_[other]) &&
                                     label(other, node) == label(image_[other], to) && may_stay(node, other));
    });
}

/// False if the arcs between these two nodes must move, but h times some element of the group fixes them.
bool AutomorphismSearch::may_stay(std::uint32_t node, std::uint32_t other) const {
    const std::uint32_t to = image_[node], other_to = image_[other];
    if (!moved_->arcs_at[node] || !moved_->arcs_at[other] || group_->orbit[node] != group_->orbit[to] ||
        group_->orbit[other] != group_->orbit[other_to]) {
        return true;
    }
    return std::ranges::none_of(group_->elements,
                                [&](const Permutation& g) { return g[to] == node && g[other_to] == other; });
}

void AutomorphismSearch::undo(std::size_t mark) {
    for (; trail_.size() > mark; trail_.pop_back()) {
        assigned_[trail_.back()] = false;
        used_[image_[trail_.back()]] = false;
    }
}

void AutomorphismSearch::next() {
    if (trail_.size() == nodes_) {
        if (is_wanted()) found_.push_back(image_);
        return;
    }
    const auto& order = order_from(wanted_.base);
    const std::uint32_t start = *std::ranges::find_if(order, [&](std::uint32_t n) { return !assigned_[n]; });
    follow(start, start, 0);
}

/// `at` is where h takes `start` after `length` steps.
void AutomorphismSearch::follow(std::uint32_t start, std::uint32_t at, std::size_t length) {
    for (; length < wanted_.power && assigned_[at]; ++length) at = image_[at];
    const std::uint32_t end = group_->elements[wanted_.closes][start];
    if (length == wanted_.power) {
        if (at == end) next();
        return;
    }
    const bool closing = length + 1 == wanted_.power;
    for (const std::uint32_t to : closing ? std::vector{end} : candidates(at)) {
        if (found_.size() >= most_ || exhausted()) return;
        const std::size_t mark = trail_.size();
        if (assign(at, to)) follow(start, to, length + 1);
        undo(mark);
    }
}

/// Repeats the whole check on the finished permutation.
bool AutomorphismSearch::is_wanted() {
    for (std::uint32_t node = 0; node < nodes_; ++node) {
        if (!fits(node)) return false;
        std::uint32_t at = node;
        for (std::size_t i = 0; i < wanted_.power; ++i) at = image_[at];
        if (at != group_->elements[wanted_.closes][node]) return false;
    }
    return true;
}

}  // namespace tutti::symmetry
