#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>

namespace tutti {

/// When to stop: at a deadline, when a flag is set (Ctrl-C, another solver's answer), or never. Polled by
/// every long loop.
class Stop {
  public:
    using Clock = std::chrono::steady_clock;
    using Seconds = std::chrono::duration<double>;
    Stop() = default;
    explicit Stop(std::optional<Seconds> limit, const std::atomic<bool>* flag = nullptr) {
        *this = Stop().within(limit, flag);
    }

    /// Stops at this stop, after `limit`, or when the flag is set, whichever comes first. At most four flags
    /// in all.
    [[nodiscard]] Stop within(std::optional<Seconds> limit, const std::atomic<bool>* flag = nullptr) const {
        Stop sooner = *this;
        // Beyond a year a limit is no limit, and the clock's arithmetic cannot overflow.
        if (limit && *limit < std::chrono::hours(24 * 365)) {
            const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(*limit);
            if (!deadline_ || deadline < *deadline_) sooner.deadline_ = deadline;
        }
        if (flag != nullptr) sooner.flags_.at(sooner.flag_count_++) = flag;
        return sooner;
    }

    [[nodiscard]] bool requested() const {
        for (std::size_t i = 0; i < flag_count_; ++i) {
            if (flags_[i]->load(std::memory_order_relaxed)) return true;
        }
        return deadline_ && Clock::now() >= *deadline_;
    }
    /// The time until the deadline, if there is one.
    [[nodiscard]] std::optional<Seconds> remaining() const {
        if (!deadline_) return std::nullopt;
        return std::max(Seconds(0), Seconds(*deadline_ - Clock::now()));
    }

  private:
    std::optional<Clock::time_point> deadline_;
    std::array<const std::atomic<bool>*, 4> flags_{};
    std::size_t flag_count_ = 0;
};

}  // namespace tutti
