#include "models/small_times.hpp"

#include <algorithm>
#include <map>

namespace tutti::models {
namespace {

constexpr std::size_t kMostLinks = 16'384;     ///< along which chains are followed
constexpr std::int64_t kLeastWithLatency = 3;  ///< from this beta on latencies count

using LinkTimes = SmallTimesCertificate::Times;

bool only_stores(const Instance& instance) {
    for (const SwitchRule& rule : instance.topology().parts().switches) {
        if (!(rule == SwitchRule{})) return false;
    }
    for (std::size_t c = 0; c < instance.chunks(); ++c) {
        if (instance.demand(ChunkId(c)).reduction) return false;
    }
    return true;
}

const LinkTimes& times_of(const Instance& instance, LinkId link, const std::vector<LinkTimes>& times) {
    const Ticks alpha = instance.alpha(link), beta = instance.beta(link, ChunkId(0));
    return *std::ranges::find_if(
        times, [&](const LinkTimes& each) { return each.alpha == alpha && each.beta == beta; });
}

}  // namespace

RealTimes::RealTimes(const Instance& instance, const std::vector<LinkTimes>& times)
    : topology_(instance.topology()), turns_(!only_stores(instance)) {
    for (std::size_t l = 0; l < topology_.links().size(); ++l) {
        const LinkTimes& own = times_of(instance, LinkId(l), times);
        transit_.push_back({own.alpha + own.beta, (own.small_alpha + own.small_beta).count()});
        busy_.push_back(topology_.busy() == Busy::Beta ? Step{own.beta, own.small_beta.count()}
                                                       : transit_.back());
    }
    up_to_.emplace_back(topology_.links().size(), Ticks(0));
}

Ticks RealTimes::of(std::int64_t small) {
    while (static_cast<std::int64_t>(least_.size()) <= small) add();
    return least_[static_cast<std::size_t>(small)];
}

void RealTimes::add() {
    const auto small = static_cast<std::int64_t>(least_.size());
    const auto after = [&](std::size_t link, const Step& step) {
        const Ticks before =
            up_to_[static_cast<std::size_t>(std::max<std::int64_t>(0, small - step.small))][link];
        return before == Ticks::max() ? before : before + step.real;
    };
    // Per node the least time up to an arrival, from where that is, and the least one from elsewhere.
    struct Arrivals {
        Ticks least = Ticks::max(), other = Ticks::max();
        NodeId from;
    };
    std::vector<Arrivals> at(topology_.nodes());
    std::vector<Ticks> up_to(topology_.links().size());
    Ticks least = Ticks::max();
    for (std::size_t l = 0; l < up_to.size(); ++l) {
        const Link& link = topology_.link(LinkId(l));
        const Ticks end = after(l, transit_[l]);
        Arrivals& there = at[link.dst.index()];
        least = std::min(least, end);
        if (end < there.least) {
            if (link.src != there.from) there.other = there.least;
            there.least = end;
            there.from = link.src;
        } else if (link.src != there.from) {
            there.other = std::min(there.other, end);
        }
    }
    for (std::size_t l = 0; l < up_to.size(); ++l) {
        const Link& link = topology_.link(LinkId(l));
        const Arrivals& here = at[link.src.index()];
        const bool turns = !turns_ && topology_.is_switch(link.src) && here.from == link.dst;
        up_to[l] = std::min(turns ? here.other : here.least, after(l, busy_[l]));
    }
    least_.push_back(least);
    up_to_.push_back(std::move(up_to));
}

bool has_small_times(const Instance& instance) {
    const Topology& topology = instance.topology();
    for (std::size_t n = topology.npus(); n < topology.nodes(); ++n) {
        if (topology.is_cut_through(NodeId(n))) return false;
    }
    return instance.chunks() > 0 && topology.links().size() <= kMostLinks &&
           instance.demands().sizes().size() == 1 &&
           std::ranges::all_of(instance.collectives(),
                               [](const Collective& c) { return last_release(c) == Ticks(0); });
}

std::vector<LinkTimes> small_times(const Instance& instance, std::int64_t fastest) {
    std::map<std::pair<Ticks, Ticks>, LinkTimes> all;
    Ticks least_alpha = Ticks::max(), least_beta = Ticks::max();
    for (std::size_t l = 0; l < instance.topology().links().size(); ++l) {
        const Ticks alpha = instance.alpha(LinkId(l)), beta = instance.beta(LinkId(l), ChunkId(0));
        all[{alpha, beta}] = {alpha, beta, {}, {}};
        if (alpha > Ticks(0)) least_alpha = std::min(least_alpha, alpha);
        least_beta = std::min(least_beta, beta);
    }
    const auto scaled = [&](Ticks ticks) {
        return static_cast<std::int64_t>(static_cast<double>(ticks.count()) * static_cast<double>(fastest) /
                                         static_cast<double>(least_beta.count()));
    };
    std::vector<LinkTimes> result;
    for (auto& [real, times] : all) {
        std::int64_t alpha = scaled(times.alpha);
        // A latency that is nothing beside a beta still counts, by its rank, but never as much as one.
        if (fastest >= kLeastWithLatency && times.alpha > Ticks(0)) {
            const std::int64_t rank = times.alpha.count() / least_alpha.count();
            alpha = std::max(alpha, std::clamp<std::int64_t>(rank, 1, fastest - 2));
        }
        times.small_alpha = Ticks(alpha);
        times.small_beta = Ticks(std::max<std::int64_t>(scaled(times.beta), 1));
        result.push_back(times);
    }
    return result;
}

Instance quickened(const Instance& instance, const std::vector<LinkTimes>& times) {
    TopologyParts parts = instance.topology().parts();
    for (std::size_t l = 0; l < parts.links.size(); ++l) {
        const LinkTimes& own = times_of(instance, LinkId(l), times);
        parts.links[l].wire = {own.small_alpha, own.small_beta, {}};
    }
    return Instance({instance.name(), std::move(parts), instance.groups(), instance.collectives()});
}

}  // namespace tutti::models
