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

/// What somebody who waits does: a few turns at once, then it lets others have the core, then it sleeps.
class Patience {
  public:
    /// `check`: called now and then while waiting is long; throws to end it. `spare_cores`: whether spinning
    /// takes no core from those that are waited for.
    explicit Patience(const std::function<void()>& check, bool spare_cores)
        : check_(&check), spins_(spare_cores ? 2000U : 50U) {}

    /// One more turn in vain.
    void wait();
    /// What was waited for has come.
    void reset() { turns_ = 0; }

  private:
    const std::function<void()>* check_;
    std::uint32_t spins_, turns_ = 0;
    std::int64_t since_ = 0, checked_ = 0;  ///< nanoseconds
};

/// Where all members of a team wait for each other. It may lie in memory that processes share: it consists of
/// counters only, and is ready to be used when they are 0.
struct MeetingPoint {
    alignas(64) std::atomic<std::uint32_t> arrived{0};
    alignas(64) std::atomic<std::uint32_t> generation{0};

    /// Returns when all members have called it. What they wrote before is seen by all.
    void meet(std::uint32_t members, Patience& patience);
};

}  // namespace tutti::run
