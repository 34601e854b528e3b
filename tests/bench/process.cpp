// A command is measured as a whole, as whoever types it has it: from its start to its end, with the reading
// of its input and the writing of its output. The kernel says what it took.

#include "tests/bench/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <system_error>

namespace tutti::bench {
namespace {

using Clock = std::chrono::steady_clock;

/// On a busy machine a second of processor time takes several by the wall's clock; one that waits for
/// something takes none at all.
constexpr double kMostWallPerCpu = 30;
constexpr double kWallGrace = 60;

/// Two pipes' reading ends.
struct Pipe {
    Pipe() {
        if (::pipe2(ends.data(), O_CLOEXEC) != 0)
            throw std::system_error(errno, std::generic_category(), "pipe");
    }
    ~Pipe() {
        for (const int end : ends) {
            if (end >= 0) ::close(end);
        }
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    void close_writing_end() {
        ::close(ends[1]);
        ends[1] = -1;
    }
    std::array<int, 2> ends{-1, -1};
};

[[noreturn]] void be_command(std::vector<char*>& words, const Pipe& out, const Pipe& err,
                             const ProcessLimits& limits) {
    ::dup2(out.ends[1], STDOUT_FILENO);
    ::dup2(err.ends[1], STDERR_FILENO);
    const auto seconds = static_cast<rlim_t>(std::ceil(limits.cpu_seconds));
    const rlimit time{seconds, seconds + 5}, memory{limits.bytes, limits.bytes}, no_core{0, 0};
    ::setrlimit(RLIMIT_CPU, &time);
    ::setrlimit(RLIMIT_AS, &memory);
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::execvp(words[0], words.data());
    ::_exit(127);
}

/// Reads both until both are closed, or until the deadline; false in that case.
bool read_all(const Pipe& out, const Pipe& err, std::string& said, std::string& complained,
              Clock::time_point deadline) {
    std::array<pollfd, 2> ends{{{out.ends[0], POLLIN, 0}, {err.ends[0], POLLIN, 0}}};
    std::array<std::string*, 2> texts{&said, &complained};
    while (ends[0].fd >= 0 || ends[1].fd >= 0) {
        if (Clock::now() > deadline) return false;
        if (::poll(ends.data(), ends.size(), 200) <= 0) continue;
        for (std::size_t i = 0; i < ends.size(); ++i) {
            if (ends[i].fd < 0 || ends[i].revents == 0) continue;
            std::array<char, 4096> block{};
            const ssize_t n = ::read(ends[i].fd, block.data(), block.size());
            if (n > 0) {
                texts[i]->append(block.data(), static_cast<std::size_t>(n));
            } else {
                ends[i].fd = -1;
            }
        }
    }
    return true;
}

std::string last_line(std::string text) {
    while (text.ends_with('\n')) text.pop_back();
    const auto newline = text.rfind('\n');
    return newline == std::string::npos ? text : text.substr(newline + 1);
}

double seconds_of(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

ProcessEnd run_process(const std::vector<std::string>& words, const ProcessLimits& limits) {
    std::vector<std::string> copies = words;
    std::vector<char*> pointers;
    for (std::string& word : copies) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    Pipe out, err;
    const auto begin = Clock::now();
    const pid_t child = ::fork();
    if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (child == 0) be_command(pointers, out, err, limits);
    out.close_writing_end();
    err.close_writing_end();
    ProcessEnd end;
    std::string complaints;
    const std::chrono::duration<double> most(kMostWallPerCpu * limits.cpu_seconds + kWallGrace);
    if (!read_all(out, err, end.out, complaints, begin + std::chrono::duration_cast<Clock::duration>(most))) {
        ::kill(child, SIGKILL);
    }
    int status = 0;
    rusage usage{};
    ::wait4(child, &status, 0, &usage);
    end.wall_seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    end.cpu_seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
    end.peak_bytes = static_cast<std::size_t>(usage.ru_maxrss) * 1024;
    end.last_words = last_line(std::move(complaints));
    if (WIFEXITED(status)) {
        end.code = WEXITSTATUS(status);
    } else {
        end.out_of_time = WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL;
        if (!end.out_of_time) end.last_words = "killed by signal " + std::to_string(WTERMSIG(status));
    }
    return end;
}

}  // namespace tutti::bench
