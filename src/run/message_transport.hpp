#pragma once

#include <cstddef>
#include <cstdint>

namespace tutti::run {

/// How processes that share no memory pass messages on: those of one sender, receiver and tag arrive in the
/// order in which they were sent.
class MessageTransport {
  public:
    virtual ~MessageTransport() = default;
    [[nodiscard]] virtual std::uint32_t process() const = 0;
    [[nodiscard]] virtual std::uint32_t processes() const = 0;
    /// Tags are smaller than that.
    [[nodiscard]] virtual std::uint32_t most_tags() const = 0;

    /// A message that is on its way. Its memory is not touched until done() has said that it is over, which
    /// it says once.
    using Request = std::size_t;
    [[nodiscard]] virtual Request send(const std::byte* data, std::size_t bytes, std::uint32_t to,
                                       std::uint32_t tag) = 0;
    [[nodiscard]] virtual Request receive(std::byte* data, std::size_t bytes, std::uint32_t from,
                                          std::uint32_t tag) = 0;
    [[nodiscard]] virtual bool done(Request request) = 0;
};

}  // namespace tutti::run
