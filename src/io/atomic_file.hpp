#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tutti::io {

/// A file that appears whole or not at all: written beside its place, moved there by commit(). A reader never
/// sees half of it, and what was there before stays until then. Unfinished, it leaves nothing behind.
/// "-" is standard output; a device or a pipe is written as it comes. Throws OutputError.
class AtomicFile {
  public:
    explicit AtomicFile(const std::string& path);
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;
    ~AtomicFile();

    void write(std::string_view bytes);
    /// The bytes written so far.
    [[nodiscard]] std::uint64_t size() const { return size_; }
    /// Everything is on the disk, and in its place, when this returns. Call once, last.
    void commit();

  private:
    void open_beside(const std::string& path);
    void flush();
    [[noreturn]] void fail(int error) const;

    std::string name_;       ///< for messages
    std::string target_;     ///< where it goes, links followed; empty when written in place
    std::string temporary_;  ///< where it is meanwhile
    int descriptor_ = -1;
    std::string buffer_;
    std::uint64_t size_ = 0;
};

/// The names in the file's directory are on the disk when this returns; a file system that cannot do this has
/// no need to.
void sync_folder_of(const std::string& path);

}  // namespace tutti::io
