// Why posix_spawn: the caller may have threads, and a fork of those without exec may not even allocate.
// glibc's does not copy the page tables, so that it takes as long for a caller of 10 GB as for one of 10 MB.
//
// Why a socket and not pipes: MSG_NOSIGNAL makes a closed end an error of the call, so that the caller's
// SIGPIPE need not be touched; and one half of it can be closed, which is how the helper is asked to end.
//
// Signals: the helper is started with SIGINT, SIGTERM and SIGHUP blocked. A terminal sends Ctrl-C to all
// processes in front; the caller alone decides what ends. The helper asks the system to be killed when the
// caller dies (serve.cpp), and reads the end of the socket then in any case.
//
// The caller may have told the system to reap its children (SIGCHLD ignored), or may reap any child itself.
// Then how the helper ended is not known, and its number may belong to another process: so signals go to a
// process descriptor where the system has them (Linux 5.3).

#include "models/remote/helper.hpp"

#include "models/backends/library_file.hpp"
#include "models/backends/module.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

namespace tutti::models::remote {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHelperName = "tutti-solver";

/// The caller's environment, except that the helper looks for solvers' modules where the caller does: it lies
/// elsewhere, so that it would not find them relative to itself.
std::vector<std::string> helper_environment() {
    constexpr std::string_view kModulePath = "TUTTI_MODULE_PATH=";
    std::vector<std::string> variables;
    for (char** variable = environ; *variable != nullptr; ++variable) {
        if (!std::string_view(*variable).starts_with(kModulePath)) variables.emplace_back(*variable);
    }
    std::string folders;
    for (const fs::path& folder : module_folders()) folders += (folders.empty() ? "" : ":") + folder.string();
    variables.push_back(std::string(kModulePath) + folders);
    return variables;
}

/// What posix_spawn takes; freed at the end.
struct SpawnSettings {
    posix_spawn_file_actions_t actions{};
    posix_spawnattr_t attributes{};

    explicit SpawnSettings(int socket) {
        (void)posix_spawn_file_actions_init(&actions);
        (void)posix_spawnattr_init(&attributes);
        for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
            (void)posix_spawn_file_actions_addopen(&actions, standard, "/dev/null", O_RDWR, 0);
        }
        // To itself this only takes the close-on-exec away.
        (void)posix_spawn_file_actions_adddup2(&actions, socket, kHelperSocket);
        (void)posix_spawn_file_actions_addclosefrom_np(&actions, kHelperSocket + 1);
        sigset_t blocked, as_usual;
        (void)sigemptyset(&blocked);
        for (const int signal : {SIGINT, SIGTERM, SIGHUP}) (void)sigaddset(&blocked, signal);
        (void)sigfillset(&as_usual);
        (void)posix_spawnattr_setsigmask(&attributes, &blocked);
        (void)posix_spawnattr_setsigdefault(&attributes, &as_usual);
        (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    }
    SpawnSettings(const SpawnSettings&) = delete;
    SpawnSettings& operator=(const SpawnSettings&) = delete;
    ~SpawnSettings() {
        (void)posix_spawn_file_actions_destroy(&actions);
        (void)posix_spawnattr_destroy(&attributes);
    }
};

/// The same socket with a number that is none of the helper's first ones, of which /dev/null takes three.
int moved_up(int socket) {
    if (socket > kHelperSocket) return socket;
    const int moved = ::fcntl(socket, F_DUPFD_CLOEXEC, kHelperSocket + 1);
    ::close(socket);
    return moved;
}

std::string end_text(int status) {
    if (WIFEXITED(status)) return fmt::format("it ended with exit code {}", WEXITSTATUS(status));
    const int signal = WTERMSIG(status);
    const char* const name = ::sigabbrev_np(signal);
    std::string text =
        name == nullptr ? fmt::format("it died of signal {}", signal) : fmt::format("it died of SIG{}", name);
    if (signal == SIGKILL) text += " (mostly it is the system, when memory runs out)";
    return text;
}

}  // namespace

std::string helper_file() {
    std::error_code error;
    if (const char* const named = std::getenv("TUTTI_SOLVER"); named != nullptr) return named;
    static constexpr char kHere = 0;  // any address in this file's code or data will do
    const fs::path folder = fs::path(library_file(&kHere)).parent_path();
    for (const char* const way : {".", "..", "../libexec/tutti", "../../libexec/tutti"}) {
        const fs::path file = (folder / way / kHelperName).lexically_normal();
        if (fs::is_regular_file(file, error) && ::access(file.c_str(), X_OK) == 0) return file.string();
    }
    return {};
}

Helper::Helper(const std::string& file) {
    std::array<int, 2> ends{-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        obstacle_ = fmt::format("no socket for the helper process: {}", std::strerror(errno));
        return;
    }
    socket_ = ends[0];
    const int theirs = moved_up(ends[1]);
    const SpawnSettings settings(theirs);
    std::string name = kHelperName;
    const std::array<char*, 2> arguments{name.data(), nullptr};
    std::vector<std::string> variables = helper_environment();
    std::vector<char*> environment;
    for (std::string& variable : variables) environment.push_back(variable.data());
    environment.push_back(nullptr);
    const int error = theirs < 0 ? errno
                                 : ::posix_spawn(&pid_, file.c_str(), &settings.actions, &settings.attributes,
                                                 arguments.data(), environment.data());
    if (theirs >= 0) ::close(theirs);
    if (error != 0) {
        pid_ = -1;
        obstacle_ = fmt::format("the helper process {} cannot be started: {}", file, std::strerror(error));
        return;
    }
    process_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
}

Helper::~Helper() {
    (void)end();
    if (socket_ >= 0) ::close(socket_);
}

/// Whether the socket is ready; false after kBetweenLooks.
bool Helper::wait(short events) const {
    pollfd polled{socket_, events, 0};
    return ::poll(&polled, 1, static_cast<int>(kBetweenLooks.count())) > 0;
}

bool Helper::send(std::string_view bytes, const KeepGoing& keep_going) {
    while (!bytes.empty()) {
        if (!keep_going()) return false;
        const ssize_t count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count > 0) {
            bytes.remove_prefix(static_cast<std::size_t>(count));
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            (void)wait(POLLOUT);
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

std::size_t Helper::receive(std::span<char> room, const KeepGoing& keep_going) {
    while (keep_going()) {
        const ssize_t count = ::recv(socket_, room.data(), room.size(), MSG_DONTWAIT);
        if (count >= 0) return static_cast<std::size_t>(count);
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            (void)wait(POLLIN);
        } else if (errno != EINTR) {
            break;
        }
    }
    return 0;
}

void Helper::request_stop() { (void)::shutdown(socket_, SHUT_WR); }

std::size_t Helper::resident_bytes() const { return resident_bytes_of(pid_); }

void Helper::kill_process() const {
    if (process_ >= 0) {
        (void)::syscall(SYS_pidfd_send_signal, process_, SIGKILL, nullptr, 0);
    } else {
        (void)::kill(pid_, SIGKILL);
    }
}

std::string Helper::end() {
    if (pid_ < 0) return {};
    kill_process();  // one that is on its way out keeps its status
    int status = 0;
    pid_t reaped = 0;
    do {
        reaped = ::waitpid(pid_, &status, 0);
    } while (reaped < 0 && errno == EINTR);
    pid_ = -1;
    if (process_ >= 0) ::close(process_);
    process_ = -1;
    return reaped < 0 ? "it ended, and somebody else was told how" : end_text(status);
}

std::size_t resident_bytes_of(pid_t pid) {
    std::ifstream file(fmt::format("/proc/{}/statm", pid));
    std::size_t pages = 0, resident = 0;
    if (!(file >> pages >> resident)) return 0;
    return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace tutti::models::remote
