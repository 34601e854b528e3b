#pragma once

#include <string>

namespace tutti::app {

/// A folder for temporary files, for as long as this lives.
class ScratchFolder {
  public:
    /// Throws OutputError where none can be made. `name`: the beginning of its name.
    explicit ScratchFolder(const std::string& name);
    ~ScratchFolder();
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    [[nodiscard]] const std::string& path() const { return path_; }

  private:
    std::string path_;
};

}  // namespace tutti::app
