#pragma once

#include "batch/message.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct pollfd;

namespace tutti::batch::cluster {

/// A socket that carries messages both ways and never blocks. Whatever goes wrong with it closes it.
class Link {
  public:
    /// Takes the descriptor over.
    explicit Link(int descriptor);
    Link(Link&& other) noexcept;
    Link& operator=(Link&& other) noexcept;
    ~Link() { close(); }

    [[nodiscard]] bool open() const { return descriptor_ >= 0; }
    void close();

    /// What to poll for.
    [[nodiscard]] pollfd polled() const;
    /// Sends now what can be sent, the rest with later calls of send() and receive().
    void send(std::string_view message);
    /// The whole messages that have come. Of one that sends without end only so much at a time.
    [[nodiscard]] std::vector<std::string> receive();
    /// The bytes that have come, ever.
    [[nodiscard]] std::uint64_t heard() const { return heard_; }

  private:
    void flush();

    int descriptor_ = -1;
    Frames frames_;
    std::string unsent_;
    std::uint64_t heard_ = 0;
};

/// A socket that others can connect to, at a port that the system chooses.
class Listener {
  public:
    /// Throws std::system_error.
    explicit Listener(bool this_host_only);
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;
    ~Listener();

    [[nodiscard]] int descriptor() const { return descriptor_; }
    [[nodiscard]] std::uint16_t port() const { return port_; }
    /// The next one who wants to talk, if there is one.
    [[nodiscard]] std::optional<Link> accept();

  private:
    int descriptor_ = -1;
    std::uint16_t port_ = 0;
};

/// Nothing when nobody answers there in that time. `host` is an address or a name.
[[nodiscard]] std::optional<Link> connect_to(const std::string& host, std::uint16_t port,
                                             std::chrono::milliseconds time);

/// Where others may reach this host, IPv4 first; without loopback.
[[nodiscard]] std::vector<std::string> addresses_of_this_host();

}  // namespace tutti::batch::cluster
