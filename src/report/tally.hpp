#pragma once

#include "core/instance.hpp"
#include "core/schedule.hpp"

#include <cstdint>
#include <vector>

namespace tutti::report {

/// A schedule counted, link by link and chunk by chunk.
struct Tally {
    std::uint64_t sends = 0;
    std::vector<std::uint64_t> link_sends;   ///< per link
    std::vector<Ticks> link_busy;            ///< per link
    std::vector<std::uint32_t> chunk_sends;  ///< per chunk
    std::vector<Ticks> chunk_start;          ///< per chunk: its first send
};

/// Precondition: the schedule is valid. InputError where it names what the instance does not have: its file
/// was changed after it was judged. O(sends).
[[nodiscard]] Tally tally_of(const Instance& instance, SendSource& sends);

/// Load in equal slices of the makespan: the busy share of each slice, from 0 to 1.
class Slices {
  public:
    static constexpr std::size_t kCount = 200;

    Slices(Ticks makespan, std::size_t rows);
    void add(std::size_t row, Ticks start, Ticks free);
    /// The row divided by `whole`, from 0 to 1.
    [[nodiscard]] std::vector<double> load(std::size_t row, double whole = 1) const;

  private:
    double per_tick_;  ///< slices
    std::vector<double> filled_;
};

}  // namespace tutti::report
