#include "batch/cluster/link.hpp"

#include "core/error.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>

namespace tutti::batch::cluster {
namespace {

constexpr std::size_t kMostUnsent = std::size_t{1} << 26;
constexpr std::size_t kMostAtATime = std::size_t{1} << 18;

/// Whether the last call may be tried again.
bool only_not_now() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

void set(int descriptor, int level, int name, int value) {
    (void)::setsockopt(descriptor, level, name, &value, sizeof value);
}

/// A host that is gone without a word is noticed by what it does not acknowledge.
constexpr int kUnacknowledgedMilliseconds = 30'000;

bool listen_at(int descriptor, const sockaddr* address, socklen_t size) {
    return ::bind(descriptor, address, size) == 0 && ::listen(descriptor, SOMAXCONN) == 0;
}

/// For IPv6 and, if not for this host only, IPv4 alike; -1 with errno.
int listen_ipv6() {
    const int descriptor = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return -1;
    set(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, 0);
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_addr = in6addr_any;
    if (listen_at(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address)) return descriptor;
    ::close(descriptor);
    return -1;
}

int listen_ipv4(in_addr_t at) {
    const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = ::htonl(at);
    if (descriptor >= 0 && listen_at(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address))
        return descriptor;
    throw std::system_error(errno, std::generic_category(), "a socket to listen at");
}

std::uint16_t port_of(int descriptor) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    (void)::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size);
    return ::ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                                                 : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

bool connected(int descriptor, const addrinfo& to, std::chrono::milliseconds time) {
    if (::connect(descriptor, to.ai_addr, to.ai_addrlen) == 0) return true;
    if (errno != EINPROGRESS) return false;
    pollfd polled{descriptor, POLLOUT, 0};
    int error = 0;
    socklen_t size = sizeof error;
    return ::poll(&polled, 1, static_cast<int>(time.count())) == 1 &&
           ::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
}

}  // namespace

Link::Link(int descriptor) : descriptor_(descriptor) {
    (void)::fcntl(descriptor, F_SETFL, O_NONBLOCK);
    set(descriptor, IPPROTO_TCP, TCP_NODELAY, 1);
}

Link::Link(Link&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      frames_(std::move(other.frames_)),
      unsent_(std::move(other.unsent_)),
      heard_(other.heard_) {}

Link& Link::operator=(Link&& other) noexcept {
    close();
    descriptor_ = std::exchange(other.descriptor_, -1);
    frames_ = std::move(other.frames_);
    unsent_ = std::move(other.unsent_);
    heard_ = other.heard_;
    return *this;
}

void Link::close() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
}

pollfd Link::polled() const {
    return {descriptor_, static_cast<short>(unsent_.empty() ? POLLIN : POLLIN | POLLOUT), 0};
}

void Link::send(std::string_view message) {
    unsent_ += framed(message);
    flush();
    if (unsent_.size() > kMostUnsent) close();
}

void Link::flush() {
    while (open() && !unsent_.empty()) {
        const ssize_t count = ::send(descriptor_, unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
        if (count > 0) {
            unsent_.erase(0, static_cast<std::size_t>(count));
        } else {
            if (count < 0 && !only_not_now()) close();
            return;
        }
    }
}

std::vector<std::string> Link::receive() {
    std::vector<std::string> messages;
    std::array<char, 16384> bytes{};
    flush();
    for (std::size_t now = 0; open() && now < kMostAtATime;) {
        const ssize_t count = ::recv(descriptor_, bytes.data(), bytes.size(), 0);
        if (count < 0 && only_not_now()) break;
        if (count <= 0) {
            close();
            break;
        }
        now += static_cast<std::size_t>(count);
        heard_ += static_cast<std::uint64_t>(count);
        try {
            auto whole = frames_.feed({bytes.data(), static_cast<std::size_t>(count)});
            std::ranges::move(whole, std::back_inserter(messages));
        } catch (const InputError&) {
            close();
        }
    }
    return messages;
}

Listener::Listener(bool this_host_only) {
    if (!this_host_only) descriptor_ = listen_ipv6();
    if (descriptor_ < 0) descriptor_ = listen_ipv4(this_host_only ? INADDR_LOOPBACK : INADDR_ANY);
    port_ = port_of(descriptor_);
}

Listener::~Listener() { ::close(descriptor_); }

std::optional<Link> Listener::accept() {
    const int descriptor = ::accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    return descriptor < 0 ? std::nullopt : std::optional<Link>(Link(descriptor));
}

std::optional<Link> connect_to(const std::string& host, std::uint16_t port, std::chrono::milliseconds time) {
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found) != 0) return std::nullopt;
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all(found, ::freeaddrinfo);
    for (const addrinfo* to = found; to != nullptr; to = to->ai_next) {
        const int descriptor = ::socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (descriptor < 0) continue;
        Link link(descriptor);
        if (!connected(descriptor, *to, time)) continue;
        set(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, kUnacknowledgedMilliseconds);
        return link;
    }
    return std::nullopt;
}

std::vector<std::string> addresses_of_this_host() {
    std::vector<std::string> ipv4, ipv6;
    ifaddrs* list = nullptr;
    if (::getifaddrs(&list) != 0) return {};
    const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> all(list, ::freeifaddrs);
    for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
        if (one->ifa_addr == nullptr || (one->ifa_flags & IFF_UP) == 0 ||
            (one->ifa_flags & IFF_LOOPBACK) != 0)
            continue;
        const bool six = one->ifa_addr->sa_family == AF_INET6;
        if (!six && one->ifa_addr->sa_family != AF_INET) continue;
        std::array<char, NI_MAXHOST> text{};
        const socklen_t size = six ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
        if (::getnameinfo(one->ifa_addr, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0)
            continue;
        const std::string address = text.data();
        // fe80::1%eth0 means something else on every host.
        if (address.find('%') == std::string::npos) (six ? ipv6 : ipv4).push_back(address);
    }
    ipv4.insert(ipv4.end(), ipv6.begin(), ipv6.end());
    return ipv4;
}

}  // namespace tutti::batch::cluster
