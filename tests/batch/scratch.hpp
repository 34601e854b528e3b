#pragma once

#include "tests/io/scratch.hpp"

#include <filesystem>
#include <string>

namespace tutti::test {

/// A scratch directory in which whole trees of files are laid out.
class ScratchTree {
  public:
    [[nodiscard]] std::string at(const std::string& name) const { return scratch_.path(name); }

    /// Writes a file, and the folders above it; returns its path.
    std::string put(const std::string& name, const std::string& text = "{}") const {
        std::filesystem::create_directories(std::filesystem::path(at(name)).parent_path());
        return scratch_.file(name, text);
    }
    [[nodiscard]] std::string get(const std::string& name) const { return content_of(at(name)); }

  private:
    Scratch scratch_;
};

}  // namespace tutti::test
