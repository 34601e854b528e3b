#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace tutti::run {

/// Memory that processes share: a file of the kernel without a name (memfd), mapped. It is passed on by fork
/// or over a socket, and is gone with the last process that has it, however that ends: there is nothing to
/// clean up. Pages exist from when they are first touched.
class SharedMemory {
  public:
    /// All zero. Throws LimitError if the system does not give that many addresses.
    [[nodiscard]] static SharedMemory create(std::size_t bytes);
    /// What another process passed on as a file, which this now owns.
    [[nodiscard]] static SharedMemory adopt(int file);
    SharedMemory(SharedMemory&& other) noexcept;
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;
    SharedMemory& operator=(SharedMemory&&) = delete;
    ~SharedMemory();

    [[nodiscard]] std::byte* data() const { return data_; }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] int file() const { return file_; }

    /// Marks seat `seat` as taken by this process until it ends in whatever way: the kernel keeps the mark.
    void take_seat(std::uint32_t seat) const;
    /// The process that took the seat and still lives; nothing also if it is this one.
    [[nodiscard]] std::optional<std::int32_t> holder_of(std::uint32_t seat) const;
    /// Gives whole pages back to the system; they are zero again.
    void forget(std::byte* first, std::size_t bytes) const;

  private:
    SharedMemory(int file, std::size_t bytes);

    int file_ = -1;
    std::size_t size_ = 0;
    std::byte* data_ = nullptr;
};

}  // namespace tutti::run
