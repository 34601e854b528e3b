#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace tutti::test {

/// A file with this text, for as long as this lives.
class TextFile {
  public:
    explicit TextFile(const std::string& text) {
        std::string pattern = (std::filesystem::temp_directory_path() / "tutti-test-XXXXXX").string();
        const int descriptor = ::mkstemp(pattern.data());
        REQUIRE(descriptor >= 0);
        path_ = pattern;
        std::ofstream(path_) << text;
    }
    TextFile(const TextFile&) = delete;
    TextFile& operator=(const TextFile&) = delete;
    ~TextFile() { std::filesystem::remove(path_); }
    [[nodiscard]] const std::string& path() const { return path_; }

  private:
    std::string path_;
};

}  // namespace tutti::test
