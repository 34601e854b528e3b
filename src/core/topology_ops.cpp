#include "core/topology_ops.hpp"

#include <fmt/format.h>

namespace tutti {

std::vector<std::size_t> TopologyEdits::find(const LinkName& name) const {
    if (const auto* id = std::get_if<LinkId>(&name)) {
        if (id->index() < parts_.links.size()) return {id->index()};
        throw InputError(fmt::format("expected a link from 0 to {}, found {}",
                                     static_cast<std::int64_t>(parts_.links.size()) - 1, id->value()));
    }
    const auto& [src, dst] = std::get<LinksBetween>(name);
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < parts_.links.size(); ++i) {
        if (parts_.links[i].src == src && parts_.links[i].dst == dst) found.push_back(i);
    }
    if (found.empty()) throw InputError(fmt::format("no link goes from {} to {}", src.value(), dst.value()));
    return found;
}

void TopologyEdits::remove(const LinkName& name) {
    for (const std::size_t i : find(name)) removed_[i] = true;
}

void TopologyEdits::slow(const Slowdown& slowdown) {
    for (const std::size_t i : find(slowdown.link)) {
        Wire& wire = parts_.links[i].wire;
        const bool physical = wire.units() == Units::Physical;
        if ((slowdown.beta && physical) || (slowdown.bandwidth && !physical)) {
            throw InputError(physical ? "this link has a bandwidth, not a beta"
                                      : "this link has a beta, not a bandwidth");
        }
        if (slowdown.alpha) wire.alpha = *slowdown.alpha;
        if (slowdown.beta) wire.beta = *slowdown.beta;
        if (slowdown.bandwidth) wire.bandwidth = *slowdown.bandwidth;
        if (!slowdown.factor) continue;
        if (physical) {
            wire.bandwidth = divide(wire.bandwidth, *slowdown.factor);
            if (wire.bandwidth.mantissa == 0)
                throw InputError("the factor leaves no bandwidth; remove the link instead");
        } else {
            wire.beta = scale_up(wire.beta, *slowdown.factor);
        }
    }
}

TopologyParts TopologyEdits::apply() && {
    std::vector<Link> kept;
    kept.reserve(parts_.links.size());
    for (std::size_t i = 0; i < parts_.links.size(); ++i) {
        if (!removed_[i]) kept.push_back(parts_.links[i]);
    }
    parts_.links = std::move(kept);
    return std::move(parts_);
}

}  // namespace tutti
