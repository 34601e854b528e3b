// Transformed programs: the proof, the field run, the f64 run and the oracle agree on every legal schedule of
// the set, on random programs with random schedules, and on mutants of both.

#include "io/tensor_json.hpp"
#include "io/tensor_schedule_json.hpp"
#include "rewrite/schedule.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/random_tensor_program.hpp"
#include "tests/support/tensor_numbers.hpp"
#include "tests/support/tensor_runs.hpp"
#include "tests/support/tensor_set.hpp"
#include "verify/tensor/equivalence.hpp"
#include "verify/tensor/field_numbers.hpp"

#include <doctest/doctest.h>

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

using namespace tutti;
using namespace tutti::test;
using tensor::Program;
using tensor::Step;

namespace {

std::vector<Step> steps_of(const io::Json& line) {
    std::vector<Step> steps;
    for (const io::Json& step : line.at("steps")) steps.push_back(io::parse_tensor_step(step));
    return steps;
}

std::string text_of(const std::vector<Step>& steps) {
    std::string text;
    for (const Step& step : steps) text += io::json_line(io::write_tensor_step(step)) + "\n";
    return text;
}

/// What the judges say of two programs: "" if all find them equal.
std::string opinion(const Program& original, const Program& changed, bool with_oracle) {
    const verify::Equivalence proof = verify::equivalence(original, changed);
    if (!proof.equivalent) return "proof: " + proof.parting->code + ": " + proof.parting->words;
    const verify::RunReport field = verify::field_run(original, changed);
    if (field.runs == 0) return "no size at which both type";
    if (field.difference) return "field: " + field.difference->value;
    const verify::RunReport real = verify::real_run(original, changed, {.salts = 2});
    if (real.difference) return "f64: " + real.difference->value;
    if (!with_oracle) return "";
    const std::map<std::string, std::int64_t> sizes = [&] {
        std::map<std::string, std::int64_t> small;
        for (const auto& [name, size] : original.sizes()) small[name] = std::min<std::int64_t>(size, 5);
        return small;
    }();
    try {
        const std::string words =
            oracle_difference(tensor::at_sizes(original, {}, sizes), tensor::at_sizes(changed, {}, sizes),
                              verify::FieldNumbers(3));
        return words.empty() ? "" : "oracle: " + words;
    } catch (const tensor::Refusal&) {
        return "";  // sizes that must divide
    }
}

/// As few of the steps as are still judged wrong.
std::vector<Step> shrunk(const Program& original, std::vector<Step> steps) {
    for (std::size_t i = steps.size(); i-- > 0;) {
        std::vector<Step> fewer = steps;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
        try {
            if (!opinion(original, rewrite::replay(original, fewer), true).empty()) steps = fewer;
        } catch (const tensor::Refusal&) {
            continue;
        }
    }
    return steps;
}

struct MutantCount {
    std::size_t judged = 0, refused_wrongly = 0;
    bool say = true;  ///< which are refused wrongly
};

/// Compares what the proof says of a mutant of the changed program with the field run.
void judge_mutant(const Program& original, const Program& changed, Rng& rng, MutantCount& count) {
    const auto mutant = random_mutant(changed, rng);
    if (!mutant) return;
    const auto why = verify::parting(original, *mutant);
    verify::RunReport report;
    try {
        report = verify::field_run(original, *mutant);
    } catch (const InputError&) {
        CHECK(why.has_value());  // an input of another shape
        return;
    }
    if (report.runs == 0) return;
    ++count.judged;
    INFO(io::json_line(io::write_tensor_program(original)));
    INFO(io::json_line(io::write_tensor_program(*mutant)));
    if (!why) CHECK_FALSE(report.difference.has_value());
    // Another layout of an input or output changes no number, but is not what the caller asked for.
    if (!why || report.difference || why->code == "layout" || why->code == "input") return;
    ++count.refused_wrongly;
    if (count.say) MESSAGE(original.name(), ": ", why->subterm, ": ", why->words);
}

}  // namespace

TEST_CASE("every legal schedule of the set is equivalent to all judges") {
    for (const io::Json& line : tensor_lines("legal.jsonl")) {
        const Program original = tensor_program(line.at("program").get<std::string>());
        const std::vector<Step> steps = steps_of(line);
        INFO(original.name(), ": ", text_of(steps));
        CHECK(opinion(original, rewrite::replay(original, steps), false) == "");
    }
}

TEST_CASE("ranks compute what others computed under every legal schedule") {
    std::map<std::string, std::vector<std::vector<Step>>> schedules;
    for (const io::Json& line : tensor_lines("legal.jsonl"))
        schedules[line.at("program").get<std::string>()].push_back(steps_of(line));
    for (const std::string& file : files_of_numbers()) {
        const io::Json test = tensor_json(file);
        const std::string name = test.at("program").get<std::string>();
        for (const auto& steps : schedules[name]) {
            INFO(file, ": ", text_of(steps));
            const Program program = at_sizes_of(test, rewrite::replay(tensor_program(name), steps));
            for (const NumberKind& kind : kNumberKinds) CHECK(numbers_difference(test, program, kind) == "");
        }
    }
}

TEST_CASE("random programs with random schedules: all judges and the oracle agree") {
    std::size_t transformed_programs = 0;
    for_seeds(cases(150), [&](Rng& rng, std::uint64_t) {
        const Program original = random_tensor_program(rng);
        const auto [changed, steps] = random_form(original, rng);
        if (!steps.empty()) ++transformed_programs;
        const std::string words = opinion(original, changed, true);
        if (words.empty()) return;
        FAIL_CHECK(words, "\n", io::json_line(io::write_tensor_program(original)), "\n",
                   text_of(shrunk(original, steps)));
    });
    CHECK(transformed_programs > 0);
}

TEST_CASE("of mutants of transformed programs none is accepted wrongly and next to none refused wrongly") {
    std::vector<std::pair<Program, Program>> pairs;
    for (const io::Json& line : tensor_lines("legal.jsonl")) {
        const Program original = tensor_program(line.at("program").get<std::string>());
        pairs.emplace_back(original, rewrite::replay(original, steps_of(line)));
    }
    MutantCount count;
    for_seeds(cases(2000), [&](Rng& rng, std::uint64_t) {
        const auto& [original, changed] = pairs[static_cast<std::size_t>(rng.below(pairs.size()))];
        judge_mutant(original, changed, rng, count);
    });
    CHECK(count.judged > 0);
    CHECK(count.refused_wrongly <= 1 + count.judged / 1000);
}

TEST_CASE("of mutants of random programs, transformed or not, none is accepted wrongly") {
    MutantCount count{.say = false};
    for_seeds(cases(1500), [&](Rng& rng, std::uint64_t) {
        const Program original = random_tensor_program(rng);
        const Program changed = rng.below(2) == 0 ? original : random_form(original, rng).program;
        for (int i = 0; i < 4; ++i) judge_mutant(original, changed, rng, count);
    });
    MESSAGE(count.judged, " mutants judged, ", count.refused_wrongly, " equal and refused");
    CHECK(count.judged > 0);
}

TEST_CASE("a fusion that closes a circle is refused, as a step and in a program") {
    // The update of LAMB needs the norm, and the norm what the update's kernel makes.
    const Program lamb = tensor_program("lamb");
    const auto code = [](const auto& make) -> std::string {
        try {
            (void)make();
        } catch (const tensor::Refusal& refusal) {
            return refusal.code();
        }
        return "";
    };
    CHECK(code([&] {
              return rewrite::apply_step(lamb, tensor::Fuse{{"direction", "mul10"}, "step"});
          }) == "cycle");
    tensor::ProgramParts parts = lamb.parts();
    tensor::Fused fused{"step", {}};
    for (std::size_t i = 0; i < parts.values.size(); ++i) {
        if (parts.values[i].name == "direction" || parts.values[i].name == "mul10")
            fused.values.emplace_back(i);
    }
    parts.fused.push_back(fused);
    CHECK(code([&] { return Program(parts); }) == "cycle");
}
