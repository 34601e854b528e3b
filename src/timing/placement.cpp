#include "timing/placement.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::timing {
namespace {

/// The NPUs of the ranks: those of the options, or 0, 1, ….
std::vector<NodeId> checked_group(const Topology& topology, const TimingOptions& options,
                                  std::int32_t ranks) {
    const auto wanted = static_cast<std::size_t>(ranks);
    if (options.group.empty()) {
        if (wanted > topology.npus()) {
            throw InputError(
                fmt::format("the plan has {} ranks, the topology only {} NPUs", ranks, topology.npus()));
        }
        std::vector<NodeId> group;
        for (std::size_t rank = 0; rank < wanted; ++rank) group.emplace_back(rank);
        return group;
    }
    if (options.group.size() != wanted) {
        throw InputError(fmt::format("expected a group of {} NPUs, one for each rank of the plan, found {}",
                                     ranks, options.group.size()));
    }
    std::vector<NodeId> sorted = options.group;
    std::ranges::sort(sorted);
    if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
        throw InputError(fmt::format("NPU {} is twice in the group", twice->value()));
    if (sorted.back().index() >= topology.npus()) {
        throw InputError(fmt::format("expected NPUs from 0 to {} in the group, found {}", topology.npus() - 1,
                                     sorted.back().value()));
    }
    return options.group;
}

}  // namespace

Placement::Placement(const Topology& topology, TimedProgram& program, const TimingOptions& options,
                     JobTiming& timing)
    : topology_(topology),
      program_(program),
      options_(options),
      timing_(timing),
      router_(topology, timing.chunk),
      chunk_size_(program.add_size(timing.chunk)) {
    timing_.group = checked_group(topology, options, timing.ranks);
    if (options.group.empty() && topology.npus() > timing_.group.size()) {
        timing_.notes.push_back(fmt::format("the topology has {} NPUs; the plan runs on the first {}",
                                            topology.npus(), timing_.group.size()));
    }
}

RouteId Placement::connect(Rank from, Rank to, OptionalId<plan::ChannelId> channel, std::uint32_t turn) {
    const NodeId a = npu(from), b = npu(to);
    const FixedRoute* const given = fixed(from, to, channel);
    const auto route = given != nullptr ? checked(*given) : router_.route(a, b, a.value() + b.value() + turn);
    if (!route) {
        throw InputError(
            fmt::format("the plan sends from {} to {}, but the topology has no path between them",
                        name_of_rank(from), name_of_rank(to)));
    }
    ++timing_.connections;
    if (route->relays > 0) ++timing_.relayed;
    note_buffers(*route);
    return program_.add_route(route->links);
}

const FixedRoute* Placement::fixed(Rank from, Rank to, OptionalId<plan::ChannelId> channel) const {
    const auto found = std::ranges::find_if(options_.routes, [&](const FixedRoute& route) {
        return route.from == from && route.to == to && (!route.channel || route.channel == channel);
    });
    return found == options_.routes.end() ? nullptr : &*found;
}

Route Placement::checked(const FixedRoute& given) const {
    Route checked;
    NodeId at = npu(given.from);
    for (const LinkId link : given.links) {
        const bool joins = link.index() < topology_.links().size() && topology_.link(link).src == at;
        if (!joins || std::ranges::count(given.links, link) != 1) {
            throw InputError(fmt::format("the route given from {} to {} is no path of the topology",
                                         name_of_rank(given.from), name_of_rank(given.to)));
        }
        if (!checked.links.empty() && topology_.is_npu(at)) ++checked.relays;
        checked.links.push_back(link);
        at = topology_.link(link).dst;
    }
    if (at != npu(given.to)) {
        throw InputError(fmt::format("the route given from {} to {} ends at {}", name_of_rank(given.from),
                                     name_of_rank(given.to), tutti::name_of(topology_, at)));
    }
    return checked;
}

std::string Placement::name_of_rank(Rank rank) const {
    return fmt::format("rank {} (NPU {})", rank, npu(rank).value());
}

void Placement::note_once(const std::string& note) {
    if (std::ranges::find(timing_.notes, note) == timing_.notes.end()) timing_.notes.push_back(note);
}

void Placement::note_buffers(const Route& route) {
    if (noted_buffers_) return;
    for (const LinkId link : route.links) {
        const NodeId node = topology_.link(link).dst;
        if (topology_.is_npu(node) || !topology_.rule(node).buffer) continue;
        timing_.notes.push_back(
            fmt::format("{} has a limited buffer; timing takes buffers of switches to be large enough",
                        tutti::name_of(topology_, node)));
        noted_buffers_ = true;
        return;
    }
}

}  // namespace tutti::timing
