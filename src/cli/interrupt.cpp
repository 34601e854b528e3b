#include "cli/interrupt.hpp"

#include <csignal>
#include <ctime>

namespace tutti::cli {
namespace {

// The only global variable: a signal handler can use nothing else.
std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

std::atomic<std::int64_t> first_at{0};
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

/// The first signal sets the flag; a second one, at least a second later, kills the process. (Tools like
/// `timeout` send theirs twice at once, to the process and to its group.) Async-signal-safe.
void raise_flag(int signal) {
    timespec now{};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    const auto milliseconds = std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
    if (!interrupted.exchange(true)) {
        first_at.store(milliseconds);
    } else if (milliseconds - first_at.load() >= 1000) {
        (void)std::signal(signal, SIG_DFL);
        (void)std::raise(signal);
    }
}

}  // namespace

const std::atomic<bool>& catch_signals() {
    struct sigaction action {};
    action.sa_handler = raise_flag;
    action.sa_flags = SA_RESTART;
    for (const int signal : {SIGINT, SIGTERM}) {
        struct sigaction before {};
        // A shell may start a background process with the signal ignored: keep it ignored.
        if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;
        (void)sigaction(signal, &action, nullptr);
    }
    (void)std::signal(SIGPIPE, SIG_IGN);
    return interrupted;
}

}  // namespace tutti::cli
