// Why fork() without exec: the child has the task and the program at once, which makes an instance cost
// about a millisecond instead of the tens that loading the program takes. The price is that the parent must
// be of one thread: what another thread has locked would stay locked in the child for ever.
//
// Why the child ignores SIGINT and SIGTERM: a terminal sends Ctrl-C, and `timeout` or a cluster SIGTERM, to
// the whole group. The parent alone decides what is to end, and sends SIGKILL. The system sends it too when
// the parent dies.

#include "batch/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <utility>

namespace tutti::batch {
namespace {

constexpr unsigned kMessages = 3;  ///< the child's only descriptor beyond the standard ones
constexpr int kLeftByException = 70;

struct Pipe {
    int read = -1, write = -1;

    Pipe() {
        std::array<int, 2> ends{};
        if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category());
        read = ends[0];
        write = ends[1];
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    ~Pipe() {
        if (read >= 0) ::close(read);
        if (write >= 0) ::close(write);
    }
    /// The reading end, which is the caller's from now on.
    int take_reader() {
        const int reader = read;
        read = -1;
        (void)::fcntl(reader, F_SETFL, O_NONBLOCK);
        return reader;
    }
};

void close_all_but_ours(int messages, int words) {
    // First, since all numbers of descriptors may be in use.
    const auto [low, high] = std::minmax({static_cast<unsigned>(messages), static_cast<unsigned>(words)});
    if (low > kMessages) (void)::close_range(kMessages, low - 1, 0);
    if (high > low + 1) (void)::close_range(low + 1, high - 1, 0);
    (void)::close_range(high + 1, ~0U, 0);
    const int nothing = ::open("/dev/null", O_RDWR);
    // The pipes may have any numbers, also those that they are to get.
    const int messages_aside = ::fcntl(messages, F_DUPFD, kMessages + 1);
    const int words_aside = ::fcntl(words, F_DUPFD, kMessages + 1);
    (void)::dup2(nothing, STDIN_FILENO);
    (void)::dup2(nothing, STDOUT_FILENO);
    (void)::dup2(words_aside, STDERR_FILENO);
    (void)::dup2(messages_aside, static_cast<int>(kMessages));
    (void)::close_range(kMessages + 1, ~0U, 0);
}

/// The numbers of a file below /proc, as many as are asked for; 0 for what is not there.
template <std::size_t Count>
std::array<std::uint64_t, Count> numbers_in(const std::string& path) {
    std::array<std::uint64_t, Count> numbers{};
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return numbers;
    std::array<char, 256> text{};
    const ssize_t count = ::read(file, text.data(), text.size());
    ::close(file);
    const char* at = text.data();
    const char* const end = at + std::max<ssize_t>(count, 0);
    for (std::uint64_t& number : numbers) {
        while (at != end && *at == ' ') ++at;
        at = std::from_chars(at, end, number).ptr;
    }
    return numbers;
}

std::uint64_t page_bytes() { return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)); }

/// What this process has mapped for its data; see proc(5).
std::uint64_t data_bytes() { return numbers_in<6>("/proc/self/statm")[5] * page_bytes(); }

/// What this process has made itself; not the pages of its program and libraries.
std::uint64_t own_bytes() {
    const auto pages = numbers_in<3>("/proc/self/statm");
    return (pages[1] - pages[2]) * page_bytes();
}

/// Measured before main(): what every process of this program has.
const std::uint64_t kOwnAtStart = own_bytes();

void bound_memory(std::optional<std::uint64_t> most) {
    if (!most) return;
    constexpr std::uint64_t kForStacksAndLibraries = std::uint64_t{1} << 30;
    rlimit limit{};
    if (::getrlimit(RLIMIT_DATA, &limit) != 0) return;
    // What is there already counts too, and under a sanitizer that is terabytes.
    const rlim_t wanted = data_bytes() + *most * 2 + kForStacksAndLibraries;
    if (limit.rlim_cur == RLIM_INFINITY || wanted < limit.rlim_cur) limit.rlim_cur = wanted;
    (void)::setrlimit(RLIMIT_DATA, &limit);
}

/// When memory runs out, the system is to kill this child and not the batch.
void raise_oom_score() {
    const int file = ::open("/proc/self/oom_score_adj", O_WRONLY);
    if (file < 0) return;
    (void)!::write(file, "800", 3);
    ::close(file);
}

void send_all(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::write(static_cast<int>(kMessages), bytes.data(), bytes.size());
        // The parent is gone, and nobody would read the result.
        if (count < 0 && errno != EINTR) ::_exit(kLeftByException);
        if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
    }
}

[[noreturn]] void run_child(pid_t parent, int messages, int words, std::optional<std::uint64_t> most_memory,
                            const std::function<void(const Send&)>& work) {
    (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(0);  // it died before prctl()
    for (const int signal : {SIGINT, SIGTERM}) (void)std::signal(signal, SIG_IGN);
    close_all_but_ours(messages, words);
    raise_oom_score();
    bound_memory(most_memory);
    try {
        std::mutex mutex;
        work([&mutex](std::string_view bytes) {
            const std::lock_guard lock(mutex);
            send_all(bytes);
        });
    } catch (...) {
        ::_exit(kLeftByException);
    }
    ::_exit(0);
}

}  // namespace

Child start_child(std::optional<std::uint64_t> most_memory, const std::function<void(const Send&)>& work) {
    Pipe messages, words;
    const std::uint64_t inherited = inherited_bytes();
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid < 0) throw std::system_error(errno, std::generic_category());
    if (pid == 0) run_child(parent, messages.write, words.write, most_memory, work);
    return {pid, messages.take_reader(), words.take_reader(), inherited};
}

Ending reap(Child& child) {
    int status = 0;
    rusage usage{};
    while (::wait4(child.pid, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    ::close(child.messages);
    ::close(child.words);
    const std::uint64_t inherited = std::exchange(child, {}).inherited_bytes;
    Ending ending;
    if (WIFSIGNALED(status)) ending.signal = WTERMSIG(status);
    if (WIFEXITED(status)) ending.exit_code = WEXITSTATUS(status);
    const std::uint64_t peak = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
    ending.peak_memory_bytes = peak - std::min(peak, inherited);
    return ending;
}

std::uint64_t resident_bytes(const Child& child) {
    const std::uint64_t resident = numbers_in<2>(fmt::format("/proc/{}/statm", child.pid))[1] * page_bytes();
    return resident - std::min(resident, child.inherited_bytes);
}

std::uint64_t inherited_bytes() {
    const std::uint64_t own = own_bytes();
    return own - std::min(own, kOwnAtStart);
}

double seconds_waited_for_cores(pid_t pid) {
    std::uint64_t longest = 0;
    std::error_code error;
    std::filesystem::directory_iterator thread(fmt::format("/proc/{}/task", pid), error);
    for (const std::filesystem::directory_iterator end; !error && thread != end; thread.increment(error))
        longest = std::max(longest, numbers_in<2>((thread->path() / "schedstat").string())[1]);
    return static_cast<double>(longest) * 1e-9;
}

std::string signal_text(int signal) {
    const char* name = ::sigabbrev_np(signal);
    const char* meaning = ::sigdescr_np(signal);
    if (name == nullptr || meaning == nullptr) return fmt::format("signal {}", signal);
    return fmt::format("SIG{} ({})", name, meaning);
}

}  // namespace tutti::batch
