#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tutti::io {

/// Files of one directory and its subdirectories that appear together or not at all. They are written to a
/// hidden directory inside it and renamed when all are complete. If a rename fails, the files already renamed
/// are removed. Without commit() nothing is left. Throws InputError that names the file.
class FileSet {
  public:
    /// The directory must exist; "" is the current one.
    explicit FileSet(const std::string& directory);
    FileSet(const FileSet&) = delete;
    FileSet& operator=(const FileSet&) = delete;
    ~FileSet();

    /// Writes and syncs the file, under its temporary name. `name` may begin with a subdirectory; commit()
    /// creates it.
    void write(const std::string& name, std::string_view bytes);
    /// Renames all files, replacing existing ones. Call once, last.
    void commit();

  private:
    [[nodiscard]] std::string place(const std::string& name) const;

    std::string directory_;  ///< where they go
    std::string hidden_;     ///< where they are meanwhile
    std::vector<std::string> names_;
};

}  // namespace tutti::io
