#include "run/team_join.hpp"

#include "core/error.hpp"
#include "run/team.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace tutti::run {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::uint64_t kGreeting = 0x0002'6974'7475'7400;  // changes with what teams share
constexpr std::chrono::milliseconds kBetweenTries{10};

/// What a process says when it comes, and what it is told.
struct Greeting {
    std::uint64_t magic = kGreeting;
    std::uint32_t process = 0, processes = 0;
};
struct Reply {
    char refused[256] = {};  ///< empty: the memory comes with it
};

class Socket {
  public:
    explicit Socket(int file) : file_(file) {
        if (file < 0) {
            throw LimitError(
                fmt::format("the system gives no socket: {}", std::generic_category().message(errno)));
        }
    }
    ~Socket() { close(file_); }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;
    [[nodiscard]] int file() const { return file_; }

  private:
    int file_;
};

/// A name of Linux's own name space of sockets: it begins with a zero byte.
struct JobAddress {
    sockaddr_un address{};
    socklen_t length = 0;

    explicit JobAddress(const std::string& job) {
        const std::string name = fmt::format("tutti-{}-{}", geteuid(), job);
        if (job.empty() || name.size() + 1 > sizeof address.sun_path)
            throw InputError(fmt::format("the name of a job has 1 to 80 characters, found {}", job.size()));
        address.sun_family = AF_UNIX;
        std::memcpy(address.sun_path + 1, name.data(), name.size());
        length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    }
    [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

void do_not_wait_forever(int file) {
    const timeval longest{2, 0};
    (void)setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
    (void)setsockopt(file, SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof longest);
}

[[nodiscard]] bool is_same_user(int file) {
    ucred other{};
    socklen_t length = sizeof other;
    return getsockopt(file, SOL_SOCKET, SO_PEERCRED, &other, &length) == 0 && other.uid == geteuid();
}

void send_reply(int file, const Reply& reply, int memory) {
    iovec part{const_cast<Reply*>(&reply), sizeof reply};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (memory >= 0) {
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        cmsghdr* const header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        std::memcpy(CMSG_DATA(header), &memory, sizeof memory);
    }
    (void)sendmsg(file, &message, MSG_NOSIGNAL);
}

/// Nothing if the connection broke.
[[nodiscard]] std::optional<std::pair<Reply, int>> receive_reply(int file) {
    Reply reply;
    iovec part{&reply, sizeof reply};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ssize_t got = recvmsg(file, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL);
    if (got != static_cast<ssize_t>(sizeof reply)) return std::nullopt;
    int memory = -1;
    const cmsghdr* const header = CMSG_FIRSTHDR(&message);
    if (header != nullptr && header->cmsg_type == SCM_RIGHTS)
        std::memcpy(&memory, CMSG_DATA(header), sizeof memory);
    reply.refused[sizeof reply.refused - 1] = '\0';
    return std::pair{reply, memory};
}

/// Process 0: the others come one by one.
class Host {
  public:
    explicit Host(const TeamName& name)
        : name_(name),
          memory_(Team::memory_for(name.processes)),
          socket_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
          here_(name.processes, false) {
        const JobAddress address(name.job);
        Team::announce(memory_, 0);
        here_[0] = true;
        if (bind(socket_.file(), address.get(), address.length) != 0 || listen(socket_.file(), 128) != 0) {
            throw InputError(
                fmt::format("job '{}' is being started already, or another of its processes is 0", name.job));
        }
    }

    [[nodiscard]] SharedMemory run(const std::function<void()>& check) && {
        const auto end = SteadyClock::now() + name_.patience;
        std::uint32_t come = 1;
        while (come < name_.processes) {
            check();
            if (SteadyClock::now() > end) throw LimitError(missing_text());
            pollfd wait{socket_.file(), POLLIN, 0};
            if (poll(&wait, 1, static_cast<int>(kBetweenTries.count())) <= 0) continue;
            const int file = accept4(socket_.file(), nullptr, nullptr, SOCK_CLOEXEC);
            if (file < 0) continue;
            const Socket guest(file);
            if (welcome(guest)) ++come;
        }
        return std::move(memory_);
    }

  private:
    [[nodiscard]] bool welcome(const Socket& guest) {
        do_not_wait_forever(guest.file());
        Greeting greeting;
        if (!is_same_user(guest.file()) || recv(guest.file(), &greeting, sizeof greeting, MSG_WAITALL) !=
                                               static_cast<ssize_t>(sizeof greeting))
            return false;
        const std::string refused = reason_against(greeting);
        Reply reply;
        refused.copy(reply.refused, sizeof reply.refused - 1);
        send_reply(guest.file(), reply, refused.empty() ? memory_.file() : -1);
        if (!refused.empty()) throw InputError(refused);
        // It counts from when it is announced: if it ends after that, all will know.
        char announced = 0;
        here_[greeting.process] = recv(guest.file(), &announced, 1, 0) == 1;
        return here_[greeting.process];
    }

    [[nodiscard]] std::string reason_against(const Greeting& greeting) const {
        if (greeting.magic != kGreeting)
            return "the processes of a job must all be of the same version of tutti";
        if (greeting.processes != name_.processes) {
            return fmt::format("job '{}': one process says that they are {}, another that they are {}",
                               name_.job, name_.processes, greeting.processes);
        }
        if (greeting.process >= name_.processes || here_[greeting.process])
            return fmt::format("job '{}': two processes are number {}", name_.job, greeting.process);
        return {};
    }

    [[nodiscard]] std::string missing_text() const {
        std::vector<std::uint32_t> missing;
        for (std::uint32_t process = 0; process < name_.processes; ++process) {
            if (!here_[process]) missing.push_back(process);
        }
        return fmt::format("job '{}': of {} processes {} did not come within {} s", name_.job,
                           name_.processes, fmt::join(missing, ", "),
                           static_cast<double>(name_.patience.count()) / 1000);
    }

    const TeamName& name_;
    SharedMemory memory_;
    Socket socket_;
    std::vector<bool> here_;
};

}  // namespace

SharedMemory memory_of_team(const TeamName& name, const std::function<void()>& check) {
    if (name.process >= name.processes) {
        throw InputError(
            fmt::format("expected a process from 0 to {}, found {}", name.processes - 1, name.process));
    }
    if (name.process == 0) return Host(name).run(check);
    const JobAddress address(name.job);
    const auto end = SteadyClock::now() + name.patience;
    while (true) {
        check();
        const Socket host(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        do_not_wait_forever(host.file());
        const Greeting greeting{kGreeting, name.process, name.processes};
        if (connect(host.file(), address.get(), address.length) == 0 &&
            send(host.file(), &greeting, sizeof greeting, MSG_NOSIGNAL) ==
                static_cast<ssize_t>(sizeof greeting)) {
            if (auto reply = receive_reply(host.file())) {
                if (reply->first.refused[0] != '\0') throw InputError(reply->first.refused);
                if (reply->second >= 0) {
                    SharedMemory memory = SharedMemory::adopt(reply->second);
                    Team::announce(memory, name.process);
                    (void)send(host.file(), "!", 1, MSG_NOSIGNAL);
                    return memory;
                }
            }
        }
        if (SteadyClock::now() > end) {
            throw LimitError(fmt::format("job '{}': process 0 did not come within {} s", name.job,
                                         static_cast<double>(name.patience.count()) / 1000));
        }
        std::this_thread::sleep_for(kBetweenTries);
    }
}

}  // namespace tutti::run
