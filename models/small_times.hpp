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

/// The least real sum of a chain of sends for each small sum, or more.
class RealTimes {
  public:
    /// The times must outlive this.
    RealTimes(const std::vector<SmallTimesCertificate::Times>& times, Busy busy)
        : times_(times), busy_(busy) {}

    [[nodiscard]] Ticks of(std::int64_t small);

  private:
    const std::vector<SmallTimesCertificate::Times>& times_;
    const Busy busy_;
    std::vector<Ticks> least_{Ticks(0)};
};

}  // namespace tutti::models
