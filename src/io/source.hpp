#pragma once

#include "core/error.hpp"
#include "core/stop.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace tutti::io {

/// Bytes of a file, of standard input or of a text in memory, read in blocks. Untrusted input enters here:
/// all errors are InputErrors that name the file.
class Source {
  public:
    /// A path, or "-" for standard input. While a pipe or a terminal is waited for, `stop` is polled; then
    /// reading throws LimitError.
    explicit Source(const std::string& path, const Stop& stop = {});
    [[nodiscard]] static Source of_text(std::string text, std::string name);

    Source(Source&&) noexcept;
    Source& operator=(Source&&) noexcept;
    ~Source();

    /// What messages call it: the path, or "standard input".
    [[nodiscard]] const std::string& name() const { return name_; }
    /// The number of bytes taken so far.
    [[nodiscard]] std::uint64_t offset() const { return offset_; }

    /// Rejects an input of more bytes: at once where its size is known, otherwise when they have been read.
    void limit(std::uint64_t bytes);

    /// The next `count` bytes without taking them; fewer only at the end. Precondition: count <= kBlock.
    [[nodiscard]] std::string_view peek(std::size_t count);
    /// Takes bytes until `into` is full or the input ends; returns their number.
    std::size_t read(std::span<char> into);
    /// Takes the buffered bytes, at least one; empty at the end. Valid until the next call.
    [[nodiscard]] std::string_view block();

    /// Throws InputError with this file and that place.
    [[noreturn]] void fail(const std::string& message, const std::string& place = {}) const;

    static constexpr std::size_t kBlock = std::size_t{1} << 16;

  private:
    struct File;  ///< an open descriptor

    Source(std::string text, std::string name, std::unique_ptr<File> file);
    /// Appends what the file has next to the unread bytes; false at its end.
    bool refill();
    void take(std::size_t count);
    /// Returns when a read would not block.
    void wait_for_input() const;

    std::string name_;
    Stop stop_;
    std::unique_ptr<File> file_;  ///< none: all there is lies in buffer_
    std::string buffer_;
    std::size_t next_ = 0, filled_ = 0;  ///< the unread bytes of buffer_
    std::uint64_t offset_ = 0;
    std::uint64_t limit_ = std::numeric_limits<std::uint64_t>::max();
};

/// The whole input.
[[nodiscard]] std::string read_text(Source& source, std::uint64_t limit);

}  // namespace tutti::io
