// The helper's side of remote_backend.cpp. One order per process, so that a killed solver leaves no state for
// the next one.
//
// When the parent closes its half of the socket, the solve is stopped. If the parent died, the system kills
// this process (PR_SET_PDEATHSIG); in case the parent died before that was set, its process id is polled too.

#include "models/remote/serve.hpp"

#include "models/backends/registry.hpp"
#include "models/remote/message.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <new>
#include <thread>

namespace tutti::models::remote {
namespace {

enum Exit { kAnswered = 0, kNoOrder = 2, kParentGone = 3 };

std::size_t receive_some(int socket, std::span<char> room) {
    ssize_t count = 0;
    do {
        count = ::recv(socket, room.data(), room.size(), 0);
    } while (count < 0 && errno == EINTR);
    return count > 0 ? static_cast<std::size_t>(count) : 0;
}

bool send_whole(int socket, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count < 0 && errno != EINTR) return false;
        if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

/// Sets the flag when the socket is closed; ends the process when the parent's process id has changed.
void watch_socket(int socket, pid_t parent, std::atomic<bool>& flag) {
    char byte = 0;
    while (receive_some(socket, {&byte, 1}) > 0) {
    }
    flag = true;
    while (::getppid() == parent) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ::_exit(kParentGone);
}

/// A hard limit, in case memory grows faster than it is polled. Includes current use, stacks and libraries.
void bound_memory(std::optional<std::size_t> most) {
    if (!most) return;
    constexpr rlim_t kForStacksAndLibraries = rlim_t{1} << 30;
    std::ifstream file("/proc/self/statm");
    std::size_t pages = 0, skipped = 0;
    file >> skipped >> skipped >> skipped >> skipped >> skipped >> pages;
    rlimit limit{};
    if (!file || ::getrlimit(RLIMIT_DATA, &limit) != 0) return;
    const rlim_t has = pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
    const rlim_t wanted = has + 2 * rlim_t{*most} + kForStacksAndLibraries;
    if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur <= wanted) return;
    limit.rlim_cur = wanted;
    (void)::setrlimit(RLIMIT_DATA, &limit);
}

/// Makes the OOM killer choose this process before its parent.
void prefer_oom_kill() {
    std::ofstream file("/proc/self/oom_score_adj");
    file << 900;
}

/// What solve() says, or why it was not asked.
template <class Result>
Result solved(const Order& order, const auto& program, const SolveLimits& limits) {
    Result result;
    const BackendEntry* const entry = find_backend(order.backend);
    if (entry == nullptr) {
        result.words = fmt::format("the helper process knows no solver '{}'", order.backend);
        return result;
    }
    const OpenedBackend opened = entry->open();
    if (!opened) {
        result.words = "in the helper process it " + opened.absence;
        return result;
    }
    try {
        return opened.backend->solve(program, limits);
    } catch (const std::bad_alloc&) {
        result.words = "out of memory";
        return result;
    }
}

}  // namespace

int serve(int socket) {
    (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const pid_t parent = ::getppid();
    prefer_oom_kill();
    const Stop::Clock::time_point begin = Stop::Clock::now();
    const auto order = read_order([&](std::span<char> room) { return receive_some(socket, room); });
    if (!order) return kNoOrder;
    bound_memory(order->memory_bytes);

    static std::atomic<bool> flag{false};  // for as long as the thread may look at it
    std::thread([socket, parent] { watch_socket(socket, parent, flag); }).detach();
    SolveLimits limits;
    auto seconds = order->seconds;
    if (seconds) *seconds -= Stop::Clock::now() - begin;  // the order took its time to come
    limits.stop = Stop(seconds, &flag);
    limits.threads = order->threads;
    limits.seed = order->seed;
    limits.memory_bytes = order->memory_bytes;
    limits.presolve = order->presolve;
    const Sink sink = [&](std::string_view bytes) { return send_whole(socket, bytes); };
    const bool is_sent =
        std::holds_alternative<Program>(order->program)
            ? write_answer(sink, solved<Answer>(*order, std::get<Program>(order->program), limits))
            : write_answer(sink,
                           solved<LinearAnswer>(*order, std::get<LinearProgram>(order->program), limits));
    return is_sent ? kAnswered : kParentGone;
}

}  // namespace tutti::models::remote
