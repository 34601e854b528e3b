#include "run/emulated_links.hpp"

#include "core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tutti::run {

EmulatedLinks::RouteId EmulatedLinks::connect(NodeId from, NodeId to, std::uint32_t turn, Bytes size) {
    const auto router = routers_.try_emplace(size.count, *topology_, size).first;
    auto route = router->second.route(from, to, from.value() + to.value() + turn);
    if (!route) {
        throw InputError(fmt::format("the topology has no path from {} to {}", name_of(*topology_, from),
                                     name_of(*topology_, to)));
    }
    routes_.push_back(std::move(route->links));
    return static_cast<RouteId>(routes_.size() - 1);
}

Ticks EmulatedLinks::latency(RouteId route) const {
    Ticks sum;
    for (const LinkId link : routes_[route]) sum += topology_->link(link).wire.alpha;
    return sum;
}

void EmulatedLinks::send(Message message, RouteId route, Bytes size, Ticks now) {
    queue_.push({now, Item::Kind::Request, message, route, 0, size});
}

std::optional<Ticks> EmulatedLinks::next() const {
    return queue_.empty() ? std::nullopt : std::optional(queue_.top().time);
}

std::optional<EmulatedLinks::Event> EmulatedLinks::advance() {
    const Item item = queue_.top();
    queue_.pop();
    switch (item.kind) {
        case Item::Kind::Start:
            return Event{Event::Kind::Start, item.message, item.time};
        case Item::Kind::Arrive:
            return Event{Event::Kind::Arrive, item.message, item.time};
        case Item::Kind::Request:
            break;
    }
    return serve(item);
}

/// How long the link is busy with what passes at that pace.
Ticks EmulatedLinks::booked(Ticks pace, LinkId link) const {
    return topology_->busy() == Busy::Beta ? pace : topology_->link(link).wire.alpha + pace;
}

/// Books the links up to the next node that stores: all of them at once, each alpha after the one before.
std::optional<EmulatedLinks::Event> EmulatedLinks::serve(const Item& item) {
    const std::vector<LinkId>& links = routes_[item.route];
    std::uint32_t end = item.hop;
    Ticks pace;
    do {
        pace = std::max(pace, topology_->beta(links[end], item.size));
    } while (topology_->is_cut_through(topology_->link(links[end++]).dst) && end < links.size());

    Ticks start = item.time;
    for (bool moved = true; moved;) {
        moved = false;
        Ticks at = start;
        for (std::uint32_t hop = item.hop; hop < end; ++hop) {
            BusyIntervals<Ticks>& link = busy_[links[hop].index()];
            link.forget_before(item.time);
            const Ticks free = link.earliest(at, booked(pace, links[hop]));
            moved = moved || free > at;
            start += free - at;
            at = free + topology_->link(links[hop]).wire.alpha;
        }
    }
    Ticks at = start;
    for (std::uint32_t hop = item.hop; hop < end; ++hop) {
        busy_[links[hop].index()].book(at, at + booked(pace, links[hop]));
        at += topology_->link(links[hop]).wire.alpha;
    }
    const auto next = end == links.size() ? Item::Kind::Arrive : Item::Kind::Request;
    queue_.push({at + pace, next, item.message, item.route, end, item.size});
    if (item.hop > 0) return std::nullopt;
    if (start == item.time) return Event{Event::Kind::Start, item.message, start};
    queue_.push({start, Item::Kind::Start, item.message, item.route, 0, item.size});
    return std::nullopt;
}

}  // namespace tutti::run
