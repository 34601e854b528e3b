#pragma once

#include <atomic>
#include <chrono>
#include <optional>

namespace tutti {

/// When to give up: a deadline, a flag raised from outside (Ctrl-C), or neither. Polled by every long loop.
class Stop {
  public:
    using Clock = std::chrono::steady_clock;
    Stop() = default;
    explicit Stop(std::optional<std::chrono::duration<double>> limit, const std::atomic<bool>* flag = nullptr)
        : flag_(flag) {
        // Beyond a year a limit is no limit, and the clock's arithmetic cannot overflow.
        if (limit && *limit < std::chrono::hours(24 * 365)) {
            deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(*limit);
        }
    }
    [[nodiscard]] bool requested() const {
        if (flag_ != nullptr && flag_->load(std::memory_order_relaxed)) return true;
        return deadline_ && Clock::now() >= *deadline_;
    }

  private:
    std::optional<Clock::time_point> deadline_;
    const std::atomic<bool>* flag_ = nullptr;
};

}  // namespace tutti
