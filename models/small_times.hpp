#pragma once

#include "core/bound.hpp"
#include "core/instance.hpp"

#include <cstdint>
#include <vector>

// Small times in place of the links' own (SmallTimesCertificate of core/bound.hpp): for bounds, and to find
// schedules.

namespace tutti::models {

/// Whether times matter only through the chains of sends that they allow: no switch cuts through, all chunks
/// are of one size, and everything is released at 0.
[[nodiscard]] bool has_small_times(const Instance& instance);

/// For each latency and beta that links have, if the fastest beta takes that long: betas in proportion,
/// latencies too, but where they are nothing beside a beta by their rank.
[[nodiscard]] std::vector<SmallTimesCertificate::Times> small_times(const Instance& instance,
                                                                    std::int64_t fastest);

/// The instance with these times.
[[nodiscard]] Instance quickened(const Instance& instance,
                                 const std::vector<SmallTimesCertificate::Times>& times);

/// The least real time of a chain of sends for each small time that it takes, or more. Each send of a chain
/// starts after the one before on its link, or after one that ends where it starts (of the same chunk: so
/// where all chunks are plain and switches only store, no chain turns round at a switch).
class RealTimes {
  public:
    /// Preconditions: the times are of all links of the instance; both outlive this.
    RealTimes(const Instance& instance, const std::vector<SmallTimesCertificate::Times>& times);

    /// Ticks::max() if there is no such chain. O(links) for each small tick that was not asked before.
    [[nodiscard]] Ticks of(std::int64_t small);

  private:
    struct Step {
        Ticks real;
        std::int64_t small;
    };
    void add();

    const Topology& topology_;
    bool turns_;                             ///< some chain may turn round at a switch
    std::vector<Step> busy_, transit_;       ///< per link
    std::vector<std::vector<Ticks>> up_to_;  ///< per small time and link: up to a start on it
    std::vector<Ticks> least_{Ticks(0)};     ///< per small time: up to an arrival
};

}  // namespace tutti::models
