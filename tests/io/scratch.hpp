#pragma once

#include "core/error.hpp"
#include "source_dir.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace tutti::test {

/// A directory of its own for one test, gone when the test is.
class Scratch {
  public:
    Scratch() {
        std::string name = (std::filesystem::temp_directory_path() / "tutti-test-XXXXXX").string();
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        root_ = name;
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() {
        std::error_code ignored;
        std::filesystem::remove_all(root_, ignored);
    }

    [[nodiscard]] std::string path(const std::string& name) const { return (root_ / name).string(); }
    [[nodiscard]] std::string file(const std::string& name, const std::string& content) const {
        std::ofstream(path(name), std::ios::binary) << content;
        return path(name);
    }
    [[nodiscard]] std::size_t count() const {
        return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(root_), {}));
    }

  private:
    std::filesystem::path root_;
};

inline std::string content_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    REQUIRE_MESSAGE(file, path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// The error with which `action` refuses its input.
template <class Action>
InputError refusal(Action action) {
    try {
        action();
    } catch (const InputError& error) {
        return error;
    }
    FAIL("expected an InputError");
    return InputError("none");
}

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != text.npos;
}

/// The files below a directory of the repository, sorted.
inline std::vector<std::string> files_below(const std::string& directory, const std::string& suffix) {
    const auto root = std::filesystem::path(TUTTI_SOURCE_DIR) / directory;
    std::vector<std::string> files;
    if (!std::filesystem::exists(root)) return files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
        if (entry.is_regular_file() && entry.path().string().ends_with(suffix))
            files.push_back(entry.path().string());
    }
    std::sort(files.begin(), files.end());
    return files;
}

}  // namespace tutti::test
