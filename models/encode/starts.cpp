#include "models/encode/starts.hpp"

#include <fmt/format.h>

namespace tutti::models {

Starts::Starts(Program& program, const Network& network, const Windows& windows, Units64 deadline,
               const std::string& name, const std::function<bool(const Hop&)>& takes)
    : ranges_(network.hops.size()) {
    for (std::size_t h = 0; h < network.hops.size(); ++h) {
        const Hop& hop = network.hops[h];
        const auto [first, last] = windows.starts(hop, deadline);
        if (first > last || (takes && !takes(hop))) continue;
        std::string links;
        for (const Leg& leg : hop.legs)
            links += fmt::format("{}{}", links.empty() ? "" : "_", leg.link.value());
        ranges_[h] = {first, last, static_cast<std::uint32_t>(program.vars())};
        for (Units64 t = first; t <= last; ++t) program.boolean(fmt::format("{}.link{}.t{}", name, links, t));
    }
}

Traffic::Traffic(const Network& network, const Starts& starts, NodeId node, Units64 deadline)
    : arrivals(static_cast<std::size_t>(deadline) + 1), departures(static_cast<std::size_t>(deadline) + 1) {
    for (const std::uint32_t h : network.in[node.index()]) {
        for (const HopEnd& end : network.hops[h].ends) {
            if (end.node != node) continue;
            const Starts::Range& range = starts.range(h);
            for (Units64 t = range.first; t <= range.last; ++t) {
                arrivals[static_cast<std::size_t>(t + end.after)].push_back(*starts.at(h, t));
            }
        }
    }
    for (const std::uint32_t h : network.out[node.index()]) {
        const Starts::Range& range = starts.range(h);
        for (Units64 t = range.first; t <= range.last; ++t) {
            departures[static_cast<std::size_t>(t)].push_back(*starts.at(h, t));
        }
    }
}

}  // namespace tutti::models
