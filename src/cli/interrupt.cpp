#include "cli/interrupt.hpp"

#include <csignal>

namespace tutti::cli {
namespace {

// The one global of the house: a signal handler has nothing else to reach.
std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void raise_flag(int) { interrupted.store(true); }

}  // namespace

const std::atomic<bool>& catch_signals() {
    struct sigaction action {};
    action.sa_handler = raise_flag;
    action.sa_flags = static_cast<int>(SA_RESETHAND | static_cast<unsigned>(SA_RESTART));
    for (const int signal : {SIGINT, SIGTERM}) {
        struct sigaction before {};
        // Whoever starts us in the background with the signal ignored wants it to stay so.
        if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;
        (void)sigaction(signal, &action, nullptr);
    }
    (void)std::signal(SIGPIPE, SIG_IGN);
    return interrupted;
}

}  // namespace tutti::cli
