#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tutti::io {

/// Files of one directory that appear together or not at all: they are written in a hidden directory beside
/// their places, and moved when all are there. If one cannot be moved, those that were moved are removed
/// again. Unfinished, it leaves nothing behind. Throws InputError that names the file.
class FileSet {
  public:
    /// The directory must be there; "" is the current one.
    explicit FileSet(const std::string& directory);
    FileSet(const FileSet&) = delete;
    FileSet& operator=(const FileSet&) = delete;
    ~FileSet();

    /// On the disk when this returns, but not in its place. `name` is without a directory.
    void write(const std::string& name, std::string_view bytes);
    /// All files are in their places, instead of what was there, when this returns. Call once, last.
    void commit();

  private:
    [[nodiscard]] std::string place(const std::string& name) const;

    std::string directory_;  ///< where they go
    std::string hidden_;     ///< where they are meanwhile
    std::vector<std::string> names_;
};

}  // namespace tutti::io
