#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tutti::run {

/// A folder that only this user can write to: of the user's cache, or if that cannot be had a new one, which
/// is removed with this object. Code is loaded from there, so its owner and permissions are looked at.
class KernelFolder {
  public:
    KernelFolder();
    KernelFolder(const KernelFolder&) = delete;
    KernelFolder& operator=(const KernelFolder&) = delete;
    ~KernelFolder();

    /// Empty: there is none.
    [[nodiscard]] const std::string& path() const { return path_; }

  private:
    std::string path_;
    bool is_temporary_ = false;
};

/// Runs a program without a shell; its output goes to the file. False if it cannot be started, fails, or
/// takes longer than a minute.
[[nodiscard]] bool run_quietly(const std::vector<std::string>& command, const std::string& output);

/// The path of a program, as the shell would find it.
[[nodiscard]] std::optional<std::string> program_on_path(const std::string& name);

/// A file's bytes; none if it cannot be read.
[[nodiscard]] std::optional<std::string> file_text(const std::string& path);
[[nodiscard]] bool write_file(const std::string& path, const std::string& text);

}  // namespace tutti::run
