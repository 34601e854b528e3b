#include "run/child_processes.hpp"

#include "core/error.hpp"
#include "run/meeting.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>

namespace tutti::run {
namespace {

constexpr int kFailed = 1;

/// In the child. It must not return into code that is the parent's, and runs no destructors of it.
[[noreturn]] void do_work(const std::function<void(std::uint32_t)>& work, std::uint32_t child, pid_t parent) {
    // Ctrl-C reaches the whole group of processes; the parent decides what it means.
    (void)signal(SIGINT, SIG_IGN);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(kFailed);  // it ended before that was set
    try {
        work(child);
        _exit(0);
    } catch (...) {
        _exit(kFailed);
    }
}

}  // namespace

ChildProcesses::ChildProcesses(std::uint32_t count, const std::function<void(std::uint32_t)>& work) {
    const pid_t parent = getpid();
    children_.reserve(count);
    for (std::uint32_t child = 0; child < count; ++child) {
        const pid_t id = fork();
        if (id == 0) do_work(work, child, parent);
        if (id < 0) {
            const std::string reason = std::generic_category().message(errno);
            for (const pid_t other : children_) (void)kill(other, SIGKILL);
            for (const pid_t other : children_) (void)waitpid(other, nullptr, 0);
            throw LimitError(fmt::format("the system starts no more processes: {}", reason));
        }
        children_.push_back(id);
    }
}

ChildProcesses::~ChildProcesses() {
    for (const pid_t child : children_) {
        if (child != 0) (void)kill(child, SIGKILL);
    }
    for (const pid_t child : children_) {
        if (child != 0) (void)waitpid(child, nullptr, 0);
    }
}

bool ChildProcesses::are_running() const {
    return std::ranges::any_of(children_, [](pid_t child) { return child != 0; });
}

void ChildProcesses::check(std::string_view reason) {
    // Those that fail because another was killed are not the cause, and it has ended before them.
    std::string failed;
    for (std::size_t child = 0; child < children_.size(); ++child) {
        int status = 0;
        const pid_t id = children_[child];
        if (id == 0 || waitpid(id, &status, WNOHANG) != id) continue;
        children_[child] = 0;
        if (WIFSIGNALED(status)) {
            throw LostPeerError(fmt::format("process {} of {} (pid {}) was killed by signal {}", child,
                                            children_.size(), id, WTERMSIG(status)));
        }
        if (WEXITSTATUS(status) != 0 && failed.empty())
            failed = fmt::format("process {} of {} (pid {}) failed", child, children_.size(), id);
    }
    if (!failed.empty()) throw LostPeerError(reason.empty() ? failed : std::string(reason));
}

}  // namespace tutti::run
