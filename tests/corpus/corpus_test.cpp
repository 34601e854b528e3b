// Plans that other people's tools made, mutated ones and malformed ones, with the verdict that each must get:
// tests/data/msccl-xml/manifest.tsv, a line per file and reading. The expectations come from an independent
// checker, not from this one. Judged by the same code as `tutti verify`, options and all.

#include "app/plan_judge.hpp"
#include "cli/parse.hpp"
#include "source_dir.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace tutti;
namespace fs = std::filesystem;

const fs::path kFolder = fs::path(TUTTI_SOURCE_DIR) / "tests/data/msccl-xml";

struct Expectation {
    std::string file, options, verdict, codes;
};

std::vector<Expectation> manifest() {
    std::ifstream in(kFolder / "manifest.tsv");
    std::vector<Expectation> rows;
    std::string line;
    std::getline(in, line);
    while (std::getline(in, line)) {
        std::istringstream cells(line);
        Expectation row;
        for (std::string* cell : {&row.file, &row.options, &row.verdict, &row.codes})
            std::getline(cells, *cell, '\t');
        rows.push_back(row);
    }
    return rows;
}

std::vector<std::string> words_of(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    return words;
}

plan::PlanVerdict judged(const Expectation& row) {
    std::vector<std::string> arguments{"verify", (kFolder / row.file).string()};
    for (const std::string& word : words_of(row.options)) arguments.push_back(word);
    const auto options = std::any_cast<app::JudgeOptions>(cli::parse(arguments).options);
    const app::PlanJudge judge(options, app::PlanJudge::OtherFiles::Malformed, false);
    return judge.judge(options.files.front(), 0).verdict;
}

/// "invalid: race", "valid-if-buffered (9 9)".
std::string told(const plan::PlanVerdict& verdict) {
    std::string text(name_of(verdict.verdict));
    if (verdict.verdict == plan::PlanClass::ValidIfBuffered && verdict.fifo)
        text += fmt::format(" ({} {})", verdict.fifo->chunks, verdict.fifo->steps);
    if (!verdict.violations.empty())
        text += fmt::format(": {}: {}", verdict.violations[0].code, verdict.violations[0].message);
    return text;
}

bool agrees(const plan::PlanVerdict& verdict, const Expectation& row) {
    if (name_of(verdict.verdict) != row.verdict) return false;
    const auto codes = words_of(row.codes);
    if (verdict.verdict == plan::PlanClass::ValidIfBuffered) {
        return verdict.fifo && codes == std::vector{std::to_string(verdict.fifo->chunks),
                                                    std::to_string(verdict.fifo->steps)};
    }
    if (verdict.acceptable()) return verdict.violations.empty();
    if (verdict.violations.empty()) return false;
    return codes.empty() || std::ranges::find(codes, verdict.violations[0].code) != codes.end();
}

}  // namespace

TEST_CASE("every plan of the corpus gets its verdict, and one of its reasons") {
    const auto rows = manifest();
    CHECK(rows.size() > 150);
    for (const Expectation& row : rows) {
        const auto verdict = judged(row);
        INFO(row.file, " ", row.options, ": expected ", row.verdict, " (", row.codes, "), found ",
             told(verdict));
        CHECK(agrees(verdict, row));
    }
}

TEST_CASE("the manifest of the corpus lists every file there") {
    std::set<std::string> listed, there;
    for (const Expectation& row : manifest()) listed.insert(row.file);
    for (const auto& entry : fs::recursive_directory_iterator(kFolder)) {
        if (entry.path().extension() == ".xml") there.insert(fs::relative(entry.path(), kFolder).string());
    }
    CHECK(listed == there);
}

TEST_CASE("a verdict does not depend on the name of the file") {
    const fs::path folder = fs::temp_directory_path() / fmt::format("tutti-corpus-{}", ::getpid());
    fs::create_directories(folder);
    for (Expectation row : manifest()) {
        if (!row.file.starts_with("own/") && !row.file.starts_with("malformed/")) continue;
        const fs::path nameless = folder / "x.json";
        fs::copy_file(kFolder / row.file, nameless, fs::copy_options::overwrite_existing);
        row.file = nameless.string();
        INFO(row.file);
        CHECK(agrees(judged(row), row));
    }
    fs::remove_all(folder);
}
