#pragma once

#include "core/expects.hpp"
#include "plan/condition.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace tutti::verify {

/// A sum of contributions, as a number: equal numbers are equal multisets.
using SumId = std::uint32_t;

/// The ranks first … last contribute their chunk `chunk`, each `times` times.
struct SumRun {
    std::int64_t chunk = 0;
    std::int32_t first = 0, last = 0;
    std::uint32_t times = 1;
    friend bool operator==(const SumRun&, const SumRun&) = default;
};

/// All values that occur in a plan, interned. Multisets, so that double counting is detected; exact (no
/// hashes), so that a verdict is a proof. Ranks that add the same chunk are usually consecutive, so a
/// multiset is stored as runs of ranks.
class Sums {
  public:
    static constexpr SumId kUndefined = 0;
    /// Stands for all sums of more runs than a right result can have.
    static constexpr SumId kTooMany = 1;

    explicit Sums(std::size_t most_runs);

    /// Room for so many contributions, each a value of its own.
    void reserve(std::size_t values);
    [[nodiscard]] SumId single(std::int32_t rank, std::int64_t chunk);
    /// Undefined if one of them is. O(runs), O(1) if cached.
    [[nodiscard]] SumId sum(SumId a, SumId b);
    [[nodiscard]] SumId of(std::vector<SumRun> runs);
    /// Sorted by chunk, then rank; neighbours joined. Precondition: neither undefined nor too many.
    [[nodiscard]] std::span<const SumRun> runs(SumId id) const {
        expects(id != kUndefined && id != kTooMany);
        if (begin_[id] == begin_[id + 1]) return {};
        return {units_[begin_[id] / kUnit] + begin_[id] % kUnit, begin_[id + 1] - begin_[id]};
    }

  private:
    [[nodiscard]] SumId interned(std::span<const SumRun> runs);
    /// Room for so many runs, next to each other, behind those of the last value.
    [[nodiscard]] SumRun* room_for(std::size_t runs);
    void grow();

    /// Runs never move, as growing arrays do, which need three times their size meanwhile.
    static constexpr std::size_t kUnit = 4096;

    std::size_t most_runs_;
    std::vector<std::unique_ptr<SumRun[]>> pool_;
    std::vector<SumRun*> units_;         ///< of the pool, kUnit runs each
    std::vector<std::uint32_t> begin_;   ///< by value: its first run, in all units; and the end
    std::vector<std::uint32_t> hashes_;  ///< the lower half of each
    std::vector<SumId> table_;           ///< open addressing by hash; 0: free
    std::unordered_map<std::uint64_t, SumId> added_;
    std::vector<SumRun> scratch_;
};

}  // namespace tutti::verify
