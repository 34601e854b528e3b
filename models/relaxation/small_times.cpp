// The bound "time-expanded" where times are too long for it: an all-reduce of 1 MiB shares on a DGX-1 takes
// 170 us, and its times have no common divisor above a fraction of a nanosecond. But hardly anything depends
// on the exact times: latencies are small beside betas, and betas are small multiples of one another. So
// links get small times, a beta of 1 to 5, say, and what does not fit into a small horizon is translated
// back: it takes at least the least real time of a chain of sends (one after the other on a link, or on from
// where one ends) that is longer than the small horizon in small times. That holds for any small times; good
// ones keep the order of such sums. (verify/certificate_small_times has the argument, docs/bounds.md the
// formula.)
//
// Several are tried: betas alone, 1 and 2 for the fastest link, and betas of 3 and 5 with latencies. DGX-1
// without bonds, all-reduce of 1 MiB shares: bound 127 929 120 without this, 169 172 160 with betas of 5 and
// latencies of 1; the best schedule known takes 169 872 160.

#include "models/small_times.hpp"
#include "models/relaxation.hpp"
#include "models/routing.hpp"

#include <chrono>

namespace tutti::models {
namespace {

constexpr std::int64_t kBetas[] = {1, 2, 3, 5};  ///< of the fastest link
constexpr std::int64_t kMostSmallTicks = 512;    ///< of a makespan
constexpr std::int64_t kLeastGain = 4;  ///< so many times fewer units than the instance has by itself

}  // namespace

Relaxed small_times_bound(const Instance& instance, const Backend& backend, Ticks from,
                          const RelaxationLimits& limits) {
    Relaxed result;
    if (!has_small_times(instance)) return result;
    const auto begin = std::chrono::steady_clock::now();
    const Units64 unit = unit_of(instance);
    for (const std::int64_t fastest : kBetas) {
        if (limits.solve.stop.requested()) break;
        const std::vector<SmallTimesCertificate::Times> times = small_times(instance, fastest);
        RealTimes real(instance, times);
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
