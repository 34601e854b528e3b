#include "models/small_times.hpp"

#include <algorithm>
#include <map>

namespace tutti::models {
namespace {

constexpr std::int64_t kLeastWithLatency = 3;  ///< from this beta on latencies count

using LinkTimes = SmallTimesCertificate::Times;

}  // namespace

Ticks RealTimes::of(std::int64_t small) {
    while (static_cast<std::int64_t>(least_.size()) <= small) {
        Ticks best = Ticks::max();
        const auto sum = static_cast<std::int64_t>(least_.size());
        const auto step = [&](Ticks real, Ticks quick) {
            const std::int64_t before = std::max<std::int64_t>(0, sum - quick.count());
            best = std::min(best, real + least_[static_cast<std::size_t>(before)]);
        };
        for (const LinkTimes& each : times_) {
            if (busy_ == Busy::Beta) step(each.beta, each.small_beta);
            step(each.alpha + each.beta, each.small_alpha + each.small_beta);
        }
        least_.push_back(best);
    }
    return least_[static_cast<std::size_t>(small)];
}

bool has_small_times(const Instance& instance) {
    const Topology& topology = instance.topology();
    for (std::size_t n = topology.npus(); n < topology.nodes(); ++n) {
        if (topology.is_cut_through(NodeId(n))) return false;
    }
    return instance.chunks() > 0 && instance.demands().sizes().size() == 1 &&
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
        const Ticks alpha = instance.alpha(LinkId(l)), beta = instance.beta(LinkId(l), ChunkId(0));
        const auto own = std::ranges::find_if(
            times, [&](const LinkTimes& each) { return each.alpha == alpha && each.beta == beta; });
        parts.links[l].wire = {own->small_alpha, own->small_beta, {}};
    }
    return Instance({instance.name(), std::move(parts), instance.groups(), instance.collectives()});
}

}  // namespace tutti::models
