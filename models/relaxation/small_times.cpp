// The bound "time-expanded" where times are too long for it: an all-reduce of 1 MiB shares on a DGX-1 takes
// 170 us, and its times have no common divisor above a fraction of a nanosecond. But hardly anything depends
// on the exact times: latencies are small beside betas, and betas are small multiples of one another. So
// links get small times, a beta of 1 to 5, say, and what does not fit into a small horizon is translated
// back: it takes at least the least sum of real times (of sends one after the other on a link, of transits of
// a path) that is longer than the small horizon in small times. That holds for any small times; good ones
// keep the order of such sums. (verify/certificate_small_times has the argument, docs/bounds.md the formula.)
//
// Several are tried: betas alone, 1 and 2 for the fastest link, and betas of 3 and 5 with latencies. DGX-1
// without bonds, all-reduce of 1 MiB shares: bound 127 929 120 without this, 169 172 160 with betas of 5 and
// latencies of 1; the best schedule known takes 169 872 160.

#include "models/relaxation.hpp"
#include "models/routing.hpp"

#include <algorithm>
#include <chrono>
#include <map>

namespace tutti::models {
namespace {

constexpr std::int64_t kBetas[] = {1, 2, 3, 5};  ///< of the fastest link
constexpr std::int64_t kLeastWithLatency = 3;    ///< from this beta on latencies count
constexpr std::int64_t kMostSmallTicks = 512;    ///< of a makespan
constexpr std::int64_t kLeastGain = 4;  ///< so many times fewer units than the instance has by itself

using LinkTimes = SmallTimesCertificate::Times;

/// The least real sum for each small sum, or more.
class RealTimes {
  public:
    RealTimes(const std::vector<LinkTimes>& times, Busy busy) : times_(times), busy_(busy) {}

    [[nodiscard]] Ticks of(std::int64_t small) {
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

  private:
    const std::vector<LinkTimes>& times_;
    const Busy busy_;
    std::vector<Ticks> least_{Ticks(0)};
};

/// Whether times matter only through the chains of sends that they allow.
bool has_small_times(const Instance& instance) {
    const Topology& topology = instance.topology();
    for (std::size_t n = topology.npus(); n < topology.nodes(); ++n) {
        if (topology.is_cut_through(NodeId(n))) return false;
    }
    return instance.chunks() > 0 && instance.demands().sizes().size() == 1 &&
           std::ranges::all_of(instance.collectives(),
                               [](const Collective& c) { return last_release(c) == Ticks(0); });
}

/// For each latency and beta that links have, if the fastest beta takes that long: betas in proportion,
/// latencies too, but where they are nothing beside a beta by their rank.
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

/// The instance with these times.
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

}  // namespace

Relaxed small_times_bound(const Instance& instance, const Backend& backend, Ticks from,
                          const RelaxationLimits& limits) {
    Relaxed result;
    if (!has_small_times(instance)) return result;
    const auto begin = std::chrono::steady_clock::now();
    const Units64 unit = unit_of(instance);
    for (const std::int64_t fastest : kBetas) {
        if (limits.solve.stop.requested()) break;
        const std::vector<LinkTimes> times = small_times(instance, fastest);
        RealTimes real(times, instance.topology().parts().busy);
        const Ticks known = result.bound ? result.bound->value : from;
        std::int64_t small = 0;
        while (small <= kMostSmallTicks && real.of(small + 1) <= known) ++small;
        if (small > kMostSmallTicks || small * kLeastGain > known.count() / unit) break;
        const Instance quick = quickened(instance, times);
        const Relaxed relaxed = time_expanded_bound(quick, backend, Ticks(small), limits);
        result.too_large = result.too_large || relaxed.too_large;
        if (!relaxed.bound) continue;
        const Ticks value = real.of(relaxed.bound->value.count());
        if (value <= known) continue;
        result.bound = {
            "time-expanded", value,
            SmallTimesCertificate{times, std::get<TimedLengthsCertificate>(relaxed.bound->certificate)}, 0};
    }
    if (result.bound)
        result.bound->seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return result;
}

}  // namespace tutti::models
