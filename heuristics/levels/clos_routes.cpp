// A folded Clos network has tiers: the switches with NPUs, those above them, and so on. Without its lowest
// tier it falls apart into planes: single spines in a tree of two tiers, smaller Clos networks in a higher
// one. A message goes up to a plane and comes down from it, so the lowest tier sees a bipartite multigraph of
// switches, from where messages come and to where they go, and chooses a plane for each. No two messages of a
// switch need the same plane if it has as many planes as messages: colours of edges, by König's theorem as
// many as the largest degree. With fewer planes several colours share one. Within each plane the same is done
// again.
//
// Colouring: an edge takes a colour that is free at both ends; if there is none, a path of edges that
// alternate between a colour free at one end and one free at the other is flipped. O(messages * switches) at
// worst, and almost always O(messages * colours).
//
// Where links have failed, a colour can stand for a plane that one of the ends cannot reach; the message then
// takes the plane whose links are used least. Networks that are no such tree (dragonflies) have no plane
// above their switches, or one: nothing is found, and the caller takes another path.

#include "heuristics/levels/clos_routes.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace tutti::heuristics {

ClosRoutes::ClosRoutes(const Topology& topology)
    : topology_(topology),
      tier_(topology.switches(), std::numeric_limits<Count>::max()),
      uses_(topology.links().size(), 0) {
    find_tiers();
    find_planes();
}

void ClosRoutes::find_tiers() {
    std::vector<NodeId> queue;
    const auto reach = [&](NodeId at, Count tier) {
        if (topology_.is_npu(at) || tier_[index(at)] <= tier) return;
        tier_[index(at)] = tier;
        queue.push_back(at);
    };
    for (const Link& link : topology_.links()) {
        if (topology_.is_npu(link.src)) reach(link.dst, 0);
        if (topology_.is_npu(link.dst)) reach(link.src, 0);
    }
    for (std::size_t next = 0; next < queue.size(); ++next) {
        const NodeId at = queue[next];
        for (const LinkId link : topology_.out_links(at)) reach(topology_.link(link).dst, tier(at) + 1);
        for (const LinkId link : topology_.in_links(at)) reach(topology_.link(link).src, tier(at) + 1);
    }
}

void ClosRoutes::find_planes() {
    Count tiers = 0;
    for (const Count tier : tier_) {
        if (tier != std::numeric_limits<Count>::max()) tiers = std::max(tiers, tier + 1);
    }
    std::vector<NodeId> open;
    for (Count lowest = 0; lowest < tiers; ++lowest) {
        auto& planes = planes_.emplace_back(tier_.size(), kNone);
        for (std::size_t s = 0; s < tier_.size(); ++s) {
            if (tier_[s] < lowest || tier_[s] >= tiers || planes[s] != kNone) continue;
            const auto plane = static_cast<Plane>(above_.size());
            above_.emplace_back();
            if (lowest > 0) above_[planes_[lowest - 1][s]].push_back(plane);
            open.assign(1, NodeId(s + topology_.npus()));
            planes[s] = plane;
            while (!open.empty()) {
                const NodeId at = open.back();
                open.pop_back();
                const auto reach = [&](NodeId next) {
                    if (topology_.is_npu(next) || tier(next) < lowest || planes[index(next)] != kNone) return;
                    planes[index(next)] = plane;
                    open.push_back(next);
                };
                for (const LinkId link : topology_.out_links(at)) reach(topology_.link(link).dst);
                for (const LinkId link : topology_.in_links(at)) reach(topology_.link(link).src);
            }
        }
    }
    has_choices_ = std::ranges::any_of(above_, [](const auto& planes) { return planes.size() > 1; });
}

void ClosRoutes::flip(NodeId at, Count wanted, Count instead, std::span<Climb> climbs) {
    std::vector<std::uint32_t> path;
    bool entering = true;
    for (Count colour = wanted;; colour = colour == wanted ? instead : wanted) {
        const std::uint32_t edge = (entering ? entering_ : leaving_)[index(at) * colours_ + colour];
        if (edge == kNone) break;
        path.push_back(edge);
        at = entering ? climbs[edge].from : climbs[edge].to;
        entering = !entering;
    }
    for (const std::uint32_t edge : path) {
        const Climb& climb = climbs[edge];
        leaving_[index(climb.from) * colours_ + climb.colour] = kNone;
        entering_[index(climb.to) * colours_ + climb.colour] = kNone;
    }
    for (const std::uint32_t edge : path) {
        Climb& climb = climbs[edge];
        climb.colour = climb.colour == wanted ? instead : wanted;
        leaving_[index(climb.from) * colours_ + climb.colour] = edge;
        entering_[index(climb.to) * colours_ + climb.colour] = edge;
    }
}

void ClosRoutes::colour(std::span<Climb> climbs) {
    std::vector<Count> out(tier_.size(), 0), in(tier_.size(), 0);
    Count degree = 0;
    for (const Climb& climb : climbs)
        degree = std::max({degree, ++out[index(climb.from)], ++in[index(climb.to)]});
    const auto planes = static_cast<Count>(planes_above(climbs.front().from).size());
    colours_ = planes * ((degree + planes - 1) / planes);
    leaving_.assign(tier_.size() * colours_, kNone);
    entering_.assign(tier_.size() * colours_, kNone);
    for (std::uint32_t i = 0; i < climbs.size(); ++i) {
        Climb& climb = climbs[i];
        const std::uint32_t* const left = &leaving_[index(climb.from) * colours_];
        const std::uint32_t* const right = &entering_[index(climb.to) * colours_];
        std::optional<Count> both, one, other;
        for (Count c = 0; c < colours_ && !both; ++c) {
            if (left[c] == kNone && right[c] == kNone) both = c;
            if (left[c] == kNone && !one) one = c;
            if (right[c] == kNone && !other) other = c;
        }
        // There are as many colours as messages at any switch, so one is free at each end.
        if (!both) flip(climb.to, *one, *other, climbs);
        climb.colour = both.value_or(*one);
        leaving_[index(climb.from) * colours_ + climb.colour] = i;
        entering_[index(climb.to) * colours_ + climb.colour] = i;
    }
}

/// Up to the plane of its colour and down from it, or by another one that both ends reach.
bool ClosRoutes::step(Message& message, Climb& climb) {
    const Count above = tier(climb.from) + 1;
    const auto& planes = planes_above(climb.from);
    const auto emptiest = [&](std::span<const LinkId> links, bool up, Plane plane) {
        std::optional<LinkId> best;
        for (const LinkId link : links) {
            const NodeId to = up ? topology_.link(link).dst : topology_.link(link).src;
            if (topology_.is_npu(to) || tier(to) != above || this->plane(above, to) != plane) continue;
            if (!best || uses_[link.index()] < uses_[best->index()]) best = link;
        }
        return best;
    };
    std::optional<LinkId> up, down;
    Count best = std::numeric_limits<Count>::max();
    for (std::size_t i = 0; i < planes.size(); ++i) {
        const Plane plane = planes[(climb.colour + i) % planes.size()];
        const auto there = emptiest(topology_.out_links(climb.from), true, plane);
        const auto back = emptiest(topology_.in_links(climb.to), false, plane);
        if (!there || !back) continue;
        const Count uses = std::max(uses_[there->index()], uses_[back->index()]);
        if (uses >= best) continue;
        up = there;
        down = back;
        best = uses;
        if (i == 0) break;
    }
    if (!up) return false;
    for (const LinkId link : {*up, *down}) {
        if (uses_[link.index()]++ == 0) used_.push_back(link);
    }
    message.links.push_back(*up);
    down_[climb.message].push_back(*down);
    climb.from = topology_.link(*up).dst;
    climb.to = topology_.link(*down).src;
    return true;
}

void ClosRoutes::climb(std::span<Message> messages, Count tier) {
    const auto plane_of = [&](const Climb& climb) { return plane(tier, climb.from); };
    std::ranges::stable_sort(climbs_, {}, plane_of);
    for (auto first = climbs_.begin(); first != climbs_.end();) {
        const auto last = std::find_if(first, climbs_.end(),
                                       [&](const Climb& c) { return plane_of(c) != plane_of(*first); });
        if (!planes_above(first->from).empty()) colour({first, last});
        first = last;
    }
    std::vector<Climb> on;
    for (Climb& climb : climbs_) {
        Message& message = messages[climb.message];
        if (planes_above(climb.from).empty() || !step(message, climb)) continue;
        if (climb.from == climb.to) {
            message.found = true;
        } else {
            on.push_back(climb);
        }
    }
    climbs_ = std::move(on);
}

void ClosRoutes::route(std::span<Message> messages) {
    climbs_.clear();
    down_.assign(messages.size(), {});
    for (const LinkId link : used_) uses_[link.index()] = 0;
    used_.clear();
    for (std::uint32_t i = 0; i < messages.size(); ++i) {
        Message& message = messages[i];
        const NodeId from = topology_.link(message.out).dst, to = topology_.link(message.in).src;
        message.links.clear();
        message.found = false;
        if (message.out == message.in) continue;
        if (from == to) {
            message.found = true;
        } else if (plane(0, from) == plane(0, to)) {
            climbs_.push_back({i, from, to});
        }
    }
    for (Count tier = 0; tier < planes_.size() && !climbs_.empty(); ++tier) climb(messages, tier);
    for (std::size_t i = 0; i < messages.size(); ++i) {
        if (messages[i].found)
            messages[i].links.insert(messages[i].links.end(), down_[i].rbegin(), down_[i].rend());
    }
}

}  // namespace tutti::heuristics
