// Execution plans of MSCCL++'s own tests, and mutated ones, with the verdict that each must get:
// tests/data/mscclpp-json/MANIFEST.tsv. The expectations come from an independent checker, not from this one.

#include "io/mscclpp_json.hpp"
#include "io/source.hpp"
#include "source_dir.hpp"
#include "verify/plan/plan_verifier.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

namespace {

using namespace tutti;
using plan::PlanClass;

const std::string kFolder = std::string(TUTTI_SOURCE_DIR) + "/tests/data/mscclpp-json/";

plan::ExecutionPlan read(const std::string& file) {
    io::Source source(kFolder + file);
    return io::read_mscclpp_json(source);
}

plan::PlanVerdict judged(const std::string& file, std::optional<plan::Target> target = {}) {
    verify::PlanReading reading;
    reading.target = target;
    return verify::verify(read(file), reading);
}

bool warns(const plan::PlanVerdict& verdict, std::string_view code) {
    return std::ranges::any_of(verdict.warnings, [&](const auto& finding) { return finding.code == code; });
}

struct Expectation {
    std::string file, verdict, codes;
};

std::vector<Expectation> manifest() {
    std::ifstream in(kFolder + "MANIFEST.tsv");
    std::vector<Expectation> rows;
    std::string line;
    std::getline(in, line);
    while (std::getline(in, line)) {
        const auto tab = line.find('\t'), colon = line.find(": ");
        Expectation row{line.substr(0, tab), line.substr(tab + 1, colon - tab - 1), {}};
        if (colon != std::string::npos) row.codes = line.substr(colon + 2);
        rows.push_back(row);
    }
    return rows;
}

}  // namespace

TEST_CASE("every execution plan of the corpus gets its verdict, for one of its reasons") {
    const auto rows = manifest();
    REQUIRE(rows.size() == 61);
    for (const Expectation& row : rows) {
        const plan::PlanVerdict verdict = judged(row.file);
        const std::string code = verdict.violations.empty() ? "" : verdict.violations[0].code;
        INFO(row.file, ": ", row.verdict, " ", row.codes, "; ",
             verdict.violations.empty() ? "" : verdict.violations[0].message);
        CHECK(name_of(verdict.verdict) == row.verdict);
        CHECK(code.empty() == row.codes.empty());
        CHECK(row.codes.find(code) != std::string::npos);
    }
}

TEST_CASE("every execution plan of the corpus is read back as it was written") {
    for (const Expectation& row : manifest()) {
        const plan::ExecutionPlan plan = read(row.file);
        io::Source text = io::Source::of_text(io::mscclpp_json_text(plan), row.file);
        CHECK_MESSAGE(io::read_mscclpp_json(text) == plan, row.file);
    }
}

TEST_CASE(
    "MSCCL++ executor test: a copy is split over a thread block group by chunks, its readers by halves") {
    const plan::PlanVerdict verdict = judged("dsl-tests/exec_reduce_tbg.json");
    REQUIRE(verdict.verdict == PlanClass::Invalid);
    CHECK(verdict.violations[0].code == "race");
    CHECK(verdict.violations[0].message.find("part 1 of 2") != std::string::npos);
}

TEST_CASE("MSCCL++ DSL: fused puts of sixteen ranks are an operation of more buffers than one can have") {
    const auto limits = plan::Target::Mscclpp;
    const plan::PlanVerdict verdict = judged("dsl-tests/mn_reducescatter_pkt_2x8.json", limits);
    CHECK(verdict.verdict == PlanClass::Valid);
    CHECK(warns(verdict, "limit-buffers"));
    CHECK_FALSE(warns(judged("dsl-tests/mn_reducescatter_pkt_2x2.json", limits), "limit-buffers"));
}

TEST_CASE("MSCCL++ DSL: switch all-gathers end with relaxed signals, which do not bring the data along") {
    CHECK(warns(judged("dsl-tests/allgather_nvls_zero_copy_2.json"), "unfinished"));
    CHECK_FALSE(warns(judged("dsl-tests/mn_allgather_2x2.json"), "unfinished"));
}
