#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace tutti::models::remote {

/// The descriptor at which the helper program finds the socket to its parent.
inline constexpr int kHelperSocket = 3;

/// Where the helper program is: what TUTTI_SOLVER names, else `tutti-solver` beside the program or library
/// that holds this code or in the folder above (a build tree), else ../libexec/tutti/tutti-solver or
/// ../../libexec/tutti/tutti-solver from there (an installed one). Empty if there is none, or if TUTTI_SOLVER
/// is set and empty.
[[nodiscard]] std::string helper_file();

/// A process of the helper program, for as long as this lives: the destructor kills it and waits for its end.
/// No descriptor of this process but the socket is open in it, no signal handler of this process is touched,
/// and it does not outlive this process. The thread that starts it must not end before it: that would kill
/// it.
class Helper {
  public:
    explicit Helper(const std::string& file);
    ~Helper();
    Helper(const Helper&) = delete;
    Helper& operator=(const Helper&) = delete;

    /// Why it could not be started; empty: it was.
    [[nodiscard]] const std::string& obstacle() const { return obstacle_; }
    [[nodiscard]] pid_t pid() const { return pid_; }

    /// Called while waiting, at least every kBetweenLooks: whether to keep waiting.
    using KeepGoing = std::function<bool()>;
    static constexpr std::chrono::milliseconds kBetweenLooks{10};

    /// Sends all; false if stopped, or if the helper closed the socket.
    [[nodiscard]] bool send(std::string_view bytes, const KeepGoing& keep_going);
    /// Receives some bytes; 0 if stopped, or at the end.
    [[nodiscard]] std::size_t receive(std::span<char> room, const KeepGoing& keep_going);
    /// Asks it to stop and answer with its best solution. Nothing can be sent afterwards.
    void request_stop();

    /// What it has in memory now; 0 where the system does not tell.
    [[nodiscard]] std::size_t resident_bytes() const;

    /// Kills it, if it still runs, and waits for its end. Returns how it ended, as text.
    std::string end();

  private:
    [[nodiscard]] bool wait(short events) const;
    void kill_process() const;

    pid_t pid_ = -1;
    int process_ = -1;  ///< a descriptor of the process: its number may be another's once it is gone
    int socket_ = -1;
    std::string obstacle_;
};

/// What a process has in memory now; 0 where the system does not tell.
[[nodiscard]] std::size_t resident_bytes_of(pid_t pid);

}  // namespace tutti::models::remote
