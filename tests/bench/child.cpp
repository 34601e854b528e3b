#include "tests/bench/child.hpp"

#include <fmt/format.h>

#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <exception>
#include <new>
#include <system_error>

namespace tutti::bench {
namespace {

constexpr int kFailed = 3;

[[noreturn]] void be_child(const std::function<std::string()>& work, int out, std::size_t most_bytes) {
    const rlimit memory{most_bytes, most_bytes};
    ::setrlimit(RLIMIT_AS, &memory);
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    std::string said;
    int code = 0;
    try {
        said = work();
    } catch (const std::bad_alloc&) {
        said = "out of memory";
        code = kFailed;
    } catch (const std::exception& error) {
        said = error.what();
        code = kFailed;
    }
    for (std::size_t done = 0; done < said.size();) {
        const ssize_t n = ::write(out, said.data() + done, said.size() - done);
        if (n <= 0) break;
        done += static_cast<std::size_t>(n);
    }
    ::_exit(code);  // solvers' libraries need not be taken down
}

}  // namespace

ChildEnd in_child(const std::function<std::string()>& work, Stop::Seconds most, std::size_t most_bytes) {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    const pid_t child = ::fork();
    if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (child == 0) {
        ::close(ends[0]);
        be_child(work, ends[1], most_bytes);
    }
    ::close(ends[1]);
    ChildEnd end;
    const Stop stop(most);
    bool killed = false;
    for (;;) {
        if (!killed && stop.requested()) {
            ::kill(child, SIGKILL);
            killed = true;
        }
        pollfd readable{ends[0], POLLIN, 0};
        if (::poll(&readable, 1, 200) <= 0) continue;
        std::array<char, 4096> block{};
        const ssize_t n = ::read(ends[0], block.data(), block.size());
        if (n <= 0) break;
        end.said.append(block.data(), static_cast<std::size_t>(n));
    }
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (killed) {
        end.death = "does not stop";
    } else if (WIFSIGNALED(status)) {
        end.death = fmt::format("killed by signal {}", WTERMSIG(status));
    } else if (WEXITSTATUS(status) != 0) {
        end.death = end.said.empty() ? fmt::format("exit {}", WEXITSTATUS(status)) : end.said;
    }
    return end;
}

int pin_to_one_core() {
    cpu_set_t all;
    if (::sched_getaffinity(0, sizeof all, &all) != 0) return -1;
    for (int core = CPU_SETSIZE - 1; core >= 0; --core) {
        if (!CPU_ISSET(static_cast<std::size_t>(core), &all)) continue;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(static_cast<std::size_t>(core), &one);
        return ::sched_setaffinity(0, sizeof one, &one) == 0 ? core : -1;
    }
    return -1;
}

}  // namespace tutti::bench
