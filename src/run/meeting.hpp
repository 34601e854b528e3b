#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <stdexcept>

namespace tutti::run {

/// A member that others wait for is gone: its process ended.
class LostPeerError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Counts what has happened, and wakes those who sleep until more happens. It may lie in memory that
/// processes share: it consists of counters only, and is ready to be used when they are 0.
struct Bell {
    alignas(64) std::atomic<std::uint32_t> count{0};
    std::atomic<std::uint32_t> asleep{0};

    void ring();
};

/// What somebody who waits does: a few turns at once, then it lets others have the core, then it sleeps.
class Patience {
  public:
    /// `check`: called now and then while waiting is long; throws to end it. `spare_cores`: whether spinning
    /// takes no core from those that are waited for.
    explicit Patience(const std::function<void()>& check, bool spare_cores)
        : check_(&check), spins_(spare_cores ? 2000U : 50U) {}

    /// Has `poll` called every few turns, from when others get the core on: for who must serve something else
    /// meanwhile. It must outlive this.
    void poll_with(const std::function<void()>& poll) { poll_ = &poll; }

    /// One more turn in vain.
    void wait();
    /// The same, waiting for the bell to have rung more often than `heard` times: asleep once it is long.
    void wait(Bell& bell, std::uint32_t heard);
    /// What was waited for has come.
    void reset() { turns_ = 0; }

  private:
    /// Returns how many nanoseconds the wait has lasted once it is time to sleep, else 0.
    [[nodiscard]] std::int64_t turn();

    const std::function<void()>* check_;
    const std::function<void()>* poll_ = nullptr;
    std::uint32_t spins_, turns_ = 0;
    std::int64_t since_ = 0, checked_ = 0;  ///< nanoseconds
};

/// Where all members of a team wait for each other. It may lie in memory that processes share.
struct MeetingPoint {
    alignas(64) std::atomic<std::uint32_t> arrived{0};
    Bell left;

    /// Returns when all members have called it. What they wrote before is seen by all. The last one to arrive
    /// does `last` before anybody leaves.
    template <class Last>
    void meet(std::uint32_t members, Patience& patience, const Last& last) {
        const std::uint32_t before = left.count.load(std::memory_order_acquire);
        if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == members) {
            last();
            arrived.store(0, std::memory_order_relaxed);
            left.ring();
            return;
        }
        patience.reset();
        while (left.count.load(std::memory_order_acquire) == before) patience.wait(left, before);
    }
    void meet(std::uint32_t members, Patience& patience) {
        meet(members, patience, [] {});
    }
};

}  // namespace tutti::run
