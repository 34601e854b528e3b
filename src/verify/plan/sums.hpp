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

/// The runs of a value: stored ones, or the only one of a single contribution.
class SumRuns {
  public:
    SumRuns() = default;
    explicit SumRuns(std::span<const SumRun> stored) : stored_(stored.data()), size_(stored.size()) {}
    explicit SumRuns(const SumRun& one) : one_(one), size_(1) {}

    [[nodiscard]] const SumRun* data() const { return stored_ != nullptr ? stored_ : &one_; }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] const SumRun* begin() const { return data(); }
    [[nodiscard]] const SumRun* end() const { return data() + size_; }
    [[nodiscard]] SumRun front() const { return *data(); }
    [[nodiscard]] SumRun operator[](std::size_t i) const { return data()[i]; }

  private:
    SumRun one_{};
    const SumRun* stored_ = nullptr;
    std::size_t size_ = 0;
};

/// All values that occur in a plan, interned. Multisets, so that double counting is detected; exact (no
/// hashes), so that a verdict is a proof. Ranks that add the same chunk are usually consecutive, so a
/// multiset is stored as runs of ranks. Single contributions, which are most values of a plan without
/// reductions, can be numbers that need no room.
class Sums {
  public:
    static constexpr SumId kUndefined = 0;
    /// Stands for all sums of more runs than a right result can have.
    static constexpr SumId kTooMany = 1;

    explicit Sums(std::size_t most_runs);

    /// From now on the single contributions of chunks 0 … chunks - 1 of so many ranks need no room, if there
    /// are numbers for all of them. Precondition: there are no values yet.
    void number_singles(std::int64_t ranks, std::int64_t chunks);
    [[nodiscard]] SumId single(std::int32_t rank, std::int64_t chunk);
    /// Undefined if one of them is. O(runs), O(1) if cached.
    [[nodiscard]] SumId sum(SumId a, SumId b);
    [[nodiscard]] SumId of(std::vector<SumRun> runs);
    /// Sorted by chunk, then rank; neighbours joined. Precondition: neither undefined nor too many.
    [[nodiscard]] SumRuns runs(SumId id) const {
        expects(id != kUndefined && id != kTooMany);
        if (id >= kFirstSingle) {
            const std::int64_t number = id - kFirstSingle;
            const auto rank = static_cast<std::int32_t>(number / chunks_);
            return SumRuns(SumRun{number % chunks_, rank, rank, 1});
        }
        if (begin_[id] == begin_[id + 1]) return {};
        return SumRuns(
            std::span(units_[begin_[id] / kUnit] + begin_[id] % kUnit, begin_[id + 1] - begin_[id]));
    }

  private:
    [[nodiscard]] SumId interned(std::span<const SumRun> runs);
    /// Room for so many runs, next to each other, behind those of the last value.
    [[nodiscard]] SumRun* room_for(std::size_t runs);
    void grow();
    /// Their numbers are below this.
    [[nodiscard]] SumId values() const { return static_cast<SumId>(begin_.size() - 1); }

    /// Runs never move, as growing arrays do, which need three times their size meanwhile.
    static constexpr std::size_t kUnit = 1024;
    static constexpr SumId kFirstSingle = SumId{1} << 31U;

    std::size_t most_runs_;
    std::int64_t ranks_ = 0, chunks_ = 0;  ///< whose single contributions are numbers
    std::vector<std::unique_ptr<SumRun[]>> pool_;
    std::vector<SumRun*> units_;        ///< of the pool, kUnit runs each
    std::vector<std::uint32_t> begin_;  ///< by value: its first run, in all units; and the end
    std::vector<SumId> table_;          ///< open addressing by hash; 0: free
    std::unordered_map<std::uint64_t, SumId> added_;
    std::vector<SumRun> scratch_;
};

}  // namespace tutti::verify
