#include "run/meeting.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace tutti::run {
namespace {

using Clock = std::chrono::steady_clock;

[[nodiscard]] std::int64_t now() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
}

inline void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

}  // namespace

void Patience::wait() {
    constexpr std::int64_t kYield = 200'000, kCheck = 20'000'000, kLongestSleep = 500'000;
    ++turns_;
    if (turns_ < spins_) {
        pause();
        return;
    }
    if (turns_ == spins_) since_ = checked_ = now();
    std::this_thread::yield();
    if (turns_ % 16 != 0) return;
    const std::int64_t time = now(), waited = time - since_;
    if (time - checked_ > kCheck) {
        checked_ = time;
        (*check_)();
    }
    // Sleeping costs as much again as was waited at most.
    if (waited > kYield) {
        std::this_thread::sleep_for(std::chrono::nanoseconds(std::min(waited / 8, kLongestSleep)));
    }
}

void MeetingPoint::meet(std::uint32_t members, Patience& patience) {
    const std::uint32_t before = generation.load(std::memory_order_acquire);
    if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == members) {
        arrived.store(0, std::memory_order_relaxed);
        generation.store(before + 1, std::memory_order_release);
        return;
    }
    patience.reset();
    while (generation.load(std::memory_order_acquire) == before) patience.wait();
}

}  // namespace tutti::run
