// Real files, broken: by a byte or a word they are read or refused, and judged or refused, whatever comes of
// it; with one send less they are wrong.

#include "core/rng.hpp"
#include "io/forestcoll_xml.hpp"
#include "io/sccl_json.hpp"
#include "io/tacos_csv.hpp"
#include "io/teccl_json.hpp"
#include "plan/plan_error.hpp"
#include "tests/support/send_plans.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <functional>
#include <sstream>

using namespace tutti;
using namespace tutti::test;

namespace {

constexpr std::uint64_t kSeeds = 1500;

std::string content(const std::string& name) {
    std::ifstream file(step_file(name), std::ios::binary);
    REQUIRE(file);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::size_t word_end(const std::string& text, std::size_t at) {
    const auto is_word = [](char ch) { return std::isalnum(static_cast<unsigned char>(ch)) != 0; };
    std::size_t end = at + 1;
    while (is_word(text[at]) && end < text.size() && is_word(text[end])) ++end;
    return end;
}

void mutate(std::string& text, Rng& rng) {
    static const std::vector<std::string> words{
        "0",       "1",   "7",    "-1",   "99999999999", "9223372036854775807",
        "1e9",     "0.3", "null", "[]",   "{}",          "\"\"",
        "\"rrc\"", ",",   "->",   "None", "16384",       "\n",
        "<send/>", "\xFF"};
    const std::size_t at = rng.below(text.size());
    switch (rng.below(5)) {
        case 0:
            text[at] = static_cast<char>(rng.below(256));
            break;
        case 1:
            text.erase(at, rng.below(30));
            break;
        case 2:
            text.insert(rng.below(text.size() + 1), text.substr(at, rng.below(60)));
            break;
        default:
            text.replace(at, word_end(text, at) - at, words[rng.below(words.size())]);
    }
}

struct Outcome {
    std::size_t refused = 0, judged = 0;
};

/// Reads and judges many mutants.
Outcome outcome_of(const std::string& name, const std::function<plan::PlanVerdict(io::Source&)>& judge) {
    const std::string original = content(name);
    Outcome outcome;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        CAPTURE(name);
        CAPTURE(seed);
        Rng rng(seed);
        std::string text = original;
        for (std::uint64_t i = 0; i <= rng.below(3) && !text.empty(); ++i) mutate(text, rng);
        try {
            io::Source source = io::Source::of_text(text, "mutant");
            const auto verdict = judge(source);
            CHECK((verdict.violation_count > 0) == !verdict.acceptable());
            ++outcome.judged;
        } catch (const plan::PlanError& error) {
            CHECK_FALSE(error.code().empty());
            CHECK(error.file() == "mutant");
            ++outcome.refused;
        } catch (const std::exception& error) {
            FAIL(error.what());
        }
    }
    return outcome;
}

void expect_both(const Outcome& outcome) {
    CHECK(outcome.refused > 20);
    CHECK(outcome.judged > 10);
}

}  // namespace

TEST_CASE("damaged files of all step formats are refused or judged without a crash") {
    const auto sccl = [](io::Source& source) { return judged(io::read_sccl_json(source)); };
    expect_both(outcome_of("ReduceScatter.n4-Ring.n4-steps2.msccl.json", sccl));
    expect_both(outcome_of("Allgather.n8-DGX1-steps2.rounds3.chunks2.msccl.json", sccl));
    expect_both(outcome_of(
        "Alltoall.n8-MI300X-DUMB-MI300X-DUMB-steps2-tacclsol-improve-1736374135_taccl.sccl.json", sccl));
    expect_both(outcome_of("teccl-alltoall-excerpt.json",
                           [](io::Source& source) { return judged(io::read_teccl_json(source)); }));
    expect_both(outcome_of("tacos-mesh3x3.csv",
                           [](io::Source& source) { return judged(io::read_tacos_csv(source)); }));
    expect_both(outcome_of("forestcoll-two-boxes.xml",
                           [](io::Source& source) { return judged(io::read_forestcoll_xml(source)); }));
}

TEST_CASE("every send of a real plan is needed") {
    const auto check = [](const plan::ScclPlan& plan) {
        REQUIRE(told(plan) == "valid");
        for (std::size_t i = 0; i < plan.sends.size(); ++i) {
            CAPTURE(i);
            plan::ScclPlan without = plan;
            without.sends.erase(without.sends.begin() + static_cast<std::ptrdiff_t>(i));
            CHECK(judged(without).verdict == plan::PlanClass::Invalid);
        }
    };
    for (const char* name :
         {"Allgather.n4-Ring.n4-steps2.msccl.json", "Allgather.n8-DGX1-steps2.rounds3.chunks2.msccl.json",
          "ReduceScatter.n4-Ring.n4-steps2.msccl.json", "Allreduce.n4-Ring.n4-steps2.msccl.json",
          "Scan.n4-Line.n4-steps3.msccl.json",
          "Alltoall.n8-MI300X-DUMB-MI300X-DUMB-steps2-tacclsol-improve-1736374135_taccl.sccl.json"}) {
        CAPTURE(name);
        io::Source source(step_file(name));
        check(io::read_sccl_json(source));
    }
    for (const char* name : {"forestcoll-ring4.xml", "forestcoll-two-boxes.xml"}) {
        CAPTURE(name);
        io::Source source(step_file(name));
        const plan::ForestCollPlan plan = io::read_forestcoll_xml(source);
        REQUIRE(told(plan) == "valid");
        for (std::size_t t = 0; t < plan.trees.size(); ++t) {
            for (std::size_t i = 0; i < plan.trees[t].sends.size(); ++i) {
                CAPTURE(t);
                CAPTURE(i);
                plan::ForestCollPlan without = plan;
                auto& sends = without.trees[t].sends;
                sends.erase(sends.begin() + static_cast<std::ptrdiff_t>(i));
                CHECK(judged(without).verdict == plan::PlanClass::Invalid);
            }
        }
    }
}

TEST_CASE("every flow of a real schedule of TE-CCL is needed") {
    for (const char* name : {"teccl-mesh4.json", "teccl-alltoall-excerpt.json"}) {
        io::Source source(step_file(name));
        const plan::EpochSchedule schedule = io::read_teccl_json(source);
        REQUIRE(told(judged(schedule)) == "valid");
        for (std::size_t i = 0; i < schedule.flows.size(); ++i) {
            CAPTURE(name);
            CAPTURE(i);
            plan::EpochSchedule without = schedule;
            without.flows.erase(without.flows.begin() + static_cast<std::ptrdiff_t>(i));
            CHECK(judged(without).verdict == plan::PlanClass::Invalid);
        }
    }
}
