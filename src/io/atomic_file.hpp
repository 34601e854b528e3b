#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tutti::io {

/// A file that is replaced atomically: written under a temporary name in the same directory, renamed by
/// commit(). Readers see the old content until then. Without commit() the temporary file is removed.
/// "-" is standard output; devices and pipes are written directly. Throws OutputError.
class AtomicFile {
  public:
    explicit AtomicFile(const std::string& path);
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;
    ~AtomicFile();

    void write(std::string_view bytes);
    /// The bytes written so far.
    [[nodiscard]] std::uint64_t size() const { return size_; }
    /// The content is synced and renamed when this returns. Call once, last.
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

/// Syncs the directory that holds the file. File systems that do not support this are ignored.
void sync_folder_of(const std::string& path);

/// Writes a whole file, which appears at once or not at all. Throws OutputError.
void write_file(const std::string& path, std::string_view text);

}  // namespace tutti::io
