#include "run/meeting.hpp"

#include <algorithm>
#include <chrono>
#include <climits>
#include <ctime>
#include <thread>

#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace tutti::run {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kBetweenChecks = 20'000'000;  // nanoseconds

[[nodiscard]] std::int64_t now() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
}

inline void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/// Until the word is no longer `seen`, somebody wakes it, or it is time for a check. Not private to this
/// process: std::atomic::wait would be.
void sleep_on(std::atomic<std::uint32_t>& word, std::uint32_t seen) {
#ifdef __linux__
    const timespec longest{0, kBetweenChecks};
    (void)syscall(SYS_futex, &word, FUTEX_WAIT, seen, &longest, nullptr, 0);
#else
    if (word.load() == seen) std::this_thread::sleep_for(std::chrono::microseconds(200));
#endif
}

}  // namespace

void Bell::ring() {
    // Both sides write one word and read the other's, in one order for all: either the sleeper sees the new
    // count, or it is seen asleep.
    count.fetch_add(1, std::memory_order_seq_cst);
    if (asleep.load(std::memory_order_seq_cst) == 0) return;
#ifdef __linux__
    (void)syscall(SYS_futex, &count, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
#endif
}

std::int64_t Patience::turn() {
    constexpr std::int64_t kYield = 200'000;
    constexpr std::uint32_t kBetweenLooks = 16;
    ++turns_;
    if (turns_ < spins_) {
        pause();
        return 0;
    }
    if (turns_ == spins_) since_ = checked_ = now();
    std::this_thread::yield();
    if (turns_ % kBetweenLooks != 0) return 0;
    if (poll_ != nullptr) (*poll_)();
    const std::int64_t time = now(), waited = time - since_;
    if (time - checked_ > kBetweenChecks) {
        checked_ = time;
        (*check_)();
    }
    return waited > kYield && poll_ == nullptr ? waited : 0;
}

void Patience::wait() {
    constexpr std::int64_t kLongestSleep = 500'000;
    // Sleeping costs as much again as was waited at most.
    if (const std::int64_t waited = turn(); waited > 0)
        std::this_thread::sleep_for(std::chrono::nanoseconds(std::min(waited / 8, kLongestSleep)));
}

void Patience::wait(Bell& bell, std::uint32_t heard) {
    if (turn() == 0) return;
    bell.asleep.fetch_add(1, std::memory_order_seq_cst);
    sleep_on(bell.count, heard);
    bell.asleep.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace tutti::run
