// The direction of dependencies between directories (README, "Directories"), checked by reading the includes.

#include "source_dir.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>

namespace {

namespace fs = std::filesystem;

const std::map<std::string, std::set<std::string>> kMayInclude{
    {"src/core", {"core"}},
    {"src/text", {"text", "core"}},
    {"src/symmetry", {"symmetry", "core"}},
    {"src/plan", {"plan", "core"}},
    {"src/tensor", {"tensor", "core"}},
    {"src/rewrite", {"rewrite", "core", "tensor"}},
    {"src/emit", {"emit", "core", "tensor"}},
    {"src/verify", {"verify", "core", "symmetry", "plan", "tensor"}},
    {"src/bounds", {"bounds", "core"}},
    {"src/lang", {"lang", "core", "plan"}},
    {"src/io", {"io", "core", "text", "symmetry", "plan", "lang", "tensor"}},
    {"src/compile", {"compile", "core", "plan", "lang"}},
    {"src/timing", {"timing", "core", "plan"}},
    {"src/run", {"run", "core", "plan", "verify", "timing", "tensor", "emit"}},
    {"src/mpi", {"mpi", "app", "run", "core", "plan"}},
    {"heuristics", {"heuristics", "core", "symmetry"}},
    {"models", {"models", "core", "symmetry", "bounds"}},
    {"src/synth", {"synth", "core", "symmetry", "bounds", "heuristics", "models", "verify"}},
    {"src/tune", {"tune", "core", "tensor", "rewrite", "synth", "verify", "bounds"}},
    {"src/batch", {"batch", "text", "synth", "io", "core", "plan", "timing", "verify", "bounds"}},
    {"src/report", {"report", "text", "symmetry", "io", "core", "verify", "bounds"}},
    {"src/app",
     {"app",  "run",  "batch",  "report", "compile", "lang",   "synth",  "io",      "text", "symmetry",
      "core", "plan", "timing", "verify", "bounds",  "models", "tensor", "rewrite", "emit", "tune"}},
    {"src/cli", {"cli", "app", "text"}},
    {"python/src", {"app", "lang", "io", "text", "symmetry", "core", "plan"}},
};

/// Includes in quotes are ours; third parties' are in angle brackets.
std::set<std::string> rooms_included_by(const fs::path& file) {
    static const std::regex kInclude(R"re(^\s*#include "([a-z_]+)/)re");
    std::set<std::string> rooms;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        std::smatch match;
        if (std::regex_search(line, match, kInclude)) rooms.insert(match[1]);
    }
    return rooms;
}

bool is_source(const fs::path& path) { return path.extension() == ".cpp" || path.extension() == ".hpp"; }

}  // namespace

TEST_CASE("no directory includes what it may not") {
    const fs::path root = TUTTI_SOURCE_DIR;
    std::size_t files = 0;
    for (const auto& [room, allowed] : kMayInclude) {
        for (const auto& entry : fs::recursive_directory_iterator(root / room)) {
            if (!is_source(entry.path())) continue;
            ++files;
            for (const std::string& included : rooms_included_by(entry.path())) {
                INFO(entry.path().string(), " includes ", included, "/");
                CHECK(allowed.contains(included));
            }
        }
    }
    CHECK(files > 60);
}

TEST_CASE("every directory under src has a row in the table") {
    for (const auto& entry : fs::directory_iterator(fs::path(TUTTI_SOURCE_DIR) / "src")) {
        if (!entry.is_directory()) continue;
        INFO(entry.path().string());
        CHECK(kMayInclude.contains("src/" + entry.path().filename().string()));
    }
}

TEST_CASE("only the backends see a solver's headers") {
    const std::regex solver(R"(#include <(z3|highs|Highs|interfaces/highs|ortools))");
    for (const char* room : {"src", "heuristics", "models"}) {
        for (const auto& entry : fs::recursive_directory_iterator(fs::path(TUTTI_SOURCE_DIR) / room)) {
            if (!is_source(entry.path()) || entry.path().parent_path().filename() == "backends") continue;
            std::ifstream in(entry.path());
            const std::string text(std::istreambuf_iterator<char>(in), {});
            INFO(entry.path().string());
            CHECK_FALSE(std::regex_search(text, solver));
        }
    }
}

TEST_CASE("only one file knows standard output, and only one the codes of terminals") {
    // All else prints through text::Output, which escapes what it is given. What is excepted prints literals.
    const std::regex streams(R"(std::(cout|cerr|clog)|\bf?(printf|puts)\()"), codes(R"(\\033|\\x1b|\\u001b)");
    const std::set<std::string> knows_streams{"src/cli/terminal.cpp", "src/core/expects.hpp",
                                              "src/emit/rank_program.hpp",  // of programs that are written
                                              "src/emit/gpu_program.hpp", "models/remote/solver_main.cpp"};
    for (const char* room : {"src", "heuristics", "models"}) {
        for (const auto& entry : fs::recursive_directory_iterator(fs::path(TUTTI_SOURCE_DIR) / room)) {
            if (!is_source(entry.path())) continue;
            const std::string name = entry.path().lexically_relative(TUTTI_SOURCE_DIR).string();
            std::ifstream in(entry.path());
            for (std::string line; std::getline(in, line);) {
                if (line.find("///") != line.npos) continue;
                INFO(name, ": ", line);
                if (!knows_streams.contains(name)) CHECK_FALSE(std::regex_search(line, streams));
                if (name != "src/text/terminal_codes.cpp") CHECK_FALSE(std::regex_search(line, codes));
            }
        }
    }
}
