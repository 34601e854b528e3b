// How modules are found, and what becomes of one that cannot be used.

#include "models/backends/module.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

namespace fs = std::filesystem;
using namespace tutti::models;

namespace {

/// What tests/CMakeLists.txt has built for this file.
fs::path test_modules() { return fs::read_symlink("/proc/self/exe").parent_path() / "test_modules"; }

class ModulePath {
  public:
    explicit ModulePath(const std::string& value) {
        if (const char* const before = std::getenv(kName)) before_ = before;
        ::setenv(kName, value.c_str(), 1);
    }
    ~ModulePath() { before_ ? ::setenv(kName, before_->c_str(), 1) : ::unsetenv(kName); }
    ModulePath(const ModulePath&) = delete;
    ModulePath& operator=(const ModulePath&) = delete;

  private:
    static constexpr const char* kName = "TUTTI_MODULE_PATH";
    std::optional<std::string> before_;
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE(
    "modules are looked for in TUTTI_MODULE_PATH, then beside the program, then where they are installed") {
    const auto folders = module_folders("/first::/second", "/opt/tutti/bin/tutti");
    REQUIRE(folders.size() >= 6);
    CHECK(folders[0] == "/first");
    CHECK(folders[1] == "/second");
    CHECK(folders[2] == "/opt/tutti/bin/modules");
    CHECK(folders[3] == "/opt/tutti/bin/tutti/modules");
    CHECK(folders[4] == "/opt/tutti/modules");
    CHECK(has(folders[5].string(), "/opt/tutti/lib"));
    CHECK(module_folders("", "/opt/tutti/lib/libtutti.so")[1] == "/opt/tutti/lib/tutti/modules");
    // The helper program finds the modules that its parent has found.
    CHECK(module_folders("", "/opt/tutti/libexec/tutti/tutti-solver").back() == folders[5]);
}

TEST_CASE("a module that was built with another interface is refused, with both interfaces named") {
    const OpenedBackend opened = open_module(test_modules() / "stale/tutti_z3.so");
    CHECK_FALSE(opened);
    CHECK(has(opened.absence, "was built for another version of tutti"));
    CHECK(has(opened.absence, "an old interface"));
    CHECK(has(opened.absence, "compiler"));
}

TEST_CASE("a shared library that is no module is refused") {
    const OpenedBackend opened = open_module(test_modules() / "foreign/tutti_z3.so");
    CHECK_FALSE(opened);
    CHECK(has(opened.absence, "has no tutti_open_backend"));
}

TEST_CASE("a file that cannot be loaded is refused with the loader's reason") {
    const fs::path file = fs::temp_directory_path() / "tutti-not-a-module.so";
    std::ofstream(file) << "text\n";
    const OpenedBackend text = open_module(file);
    fs::remove(file);
    CHECK_FALSE(text);
    CHECK(has(text.absence, "cannot be loaded: "));
    CHECK(has(text.absence, file.string()));
    const OpenedBackend nothing = open_module(file);
    CHECK_FALSE(nothing);
    CHECK(has(nothing.absence, "No such file"));
}

TEST_CASE("the first folder that has a module decides, and the other modules are found as before") {
    const BackendEntry& z3 = *find_backend("z3");
    const ModulePath path("/nowhere:" + (test_modules() / "stale").string());
    const OpenedBackend opened = z3.open();
    CHECK_FALSE(opened);
    CHECK(has(opened.absence, "stale/tutti_z3.so was built for another version"));
    for (const BackendEntry& other : backends()) {
        if (other.name != "z3") CHECK(static_cast<bool>(other.open()) == other.built());
    }
}
