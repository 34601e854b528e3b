// Tensor programs on threads: what the ranks end with is what the program means, and fusion changes no bit.

#include "run/program_run.hpp"

#include "source_dir.hpp"

#include "core/error.hpp"
#include "io/tensor_json.hpp"
#include "io/tensor_schedule_json.hpp"
#include "rewrite/schedule.hpp"
#include "run/rank_parts.hpp"
#include "tensor/builder.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/random_tensor_program.hpp"
#include "tests/support/tensor_set.hpp"
#include "verify/tensor/equivalence.hpp"
#include "verify/tensor/field.hpp"
#include "verify/tensor/real_numbers.hpp"

#include <doctest/doctest.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

using namespace tutti;
using run::Precision;
using tensor::Program;
using verify::RealNumbers;

namespace {

/// Sizes that do not divide, and ranks without elements.
const std::vector<std::int64_t> kRanks{1, 2, 3, 5};

Program resized(const Program& program, std::int64_t ranks, std::int64_t size) {
    std::map<std::string, std::int64_t> sizes;
    for (const auto& [name, old] : program.sizes()) sizes[name] = size++;
    return tensor::at_sizes(program, std::vector<std::int64_t>(program.mesh().axes().size(), ranks), sizes);
}

std::string words(const std::optional<verify::Difference>& difference) {
    if (!difference) return "";
    return difference->value + " on rank " + std::to_string(difference->rank) + ": " +
           std::to_string(RealNumbers::number(difference->found)) + " instead of " +
           std::to_string(RealNumbers::number(difference->expected));
}

void check_run(const Program& original, const Program& changed,
               const run::ProgramNetwork* network = nullptr) {
    const bool has_halves = std::ranges::any_of(
        original.order(), [&](tensor::ValueId id) { return original[id].type.dtype == tensor::DType::F16; });
    for (const Precision precision : {Precision::F64, Precision::Declared}) {
        const bool is_full = precision == Precision::F64;
        const RealNumbers numbers(is_full ? RealNumbers::Precision::F64 : RealNumbers::Precision::F32);
        const verify::Arrays inputs = verify::drawn_inputs(original, numbers);
        const run::ProgramRun run =
            run::run_program(changed, run::rank_inputs(changed, inputs, precision),
                             {.arithmetic = precision, .calls = 2, .network = network});
        const verify::Results meaning =
            verify::meaning_of(original, inputs, RealNumbers(RealNumbers::Precision::F64));
        const verify::Tolerance tolerance =
            is_full ? verify::Tolerance{1e-9, 1e-12} : verify::Tolerance{0, has_halves ? 1e-2 : 1e-5};
        CHECK_MESSAGE(words(verify::difference(changed.mesh(), run::rank_results(changed, run.outputs),
                                               meaning, tolerance)) == "",
                      original.name(), is_full ? " in f64" : " in its own types");
    }
}

Program with_fused(const Program& program, std::vector<tensor::Fused> fused) {
    tensor::ProgramParts parts = program.parts();
    parts.fused = std::move(fused);
    parts.overlaps.clear();
    return Program(parts);
}

/// The same values, each by itself.
Program one_by_one(const Program& program) { return with_fused(program, {}); }

/// What all ranks ended with.
std::vector<std::vector<double>> all_elements(const run::ProgramRun& run) {
    std::vector<std::vector<double>> elements;
    for (const run::RankTensors& rank : run.outputs) {
        for (const auto& [name, tensor] : rank) {
            std::vector<double>& of = elements.emplace_back();
            for (std::int64_t i = 0; i < tensor.elements(); ++i)
                of.push_back(tensor.at(static_cast<std::size_t>(i)));
        }
    }
    return elements;
}

/// The second program on real threads, in the field, against what the first means.
verify::RunReport threads_in_the_field(const Program& original, const Program& changed,
                                       const verify::RunOptions& options) {
    const auto run = [](const Program& form, const verify::Arrays& inputs, std::uint64_t salt) {
        const run::ProgramRun made =
            run::run_program(form, run::rank_inputs(form, inputs, Precision::Field),
                             {.arithmetic = run::Arithmetic(Precision::Field, salt), .calls = 2});
        return run::rank_results(form, made.outputs);
    };
    return verify::field_run(original, changed, options, run);
}

/// What a program and a form of it are, for who reads that a test failed.
std::string text_of(const Program& original, const std::vector<tensor::Step>& steps) {
    std::string text = io::json_line(io::write_tensor_program(original));
    for (const tensor::Step& step : steps) text += "\n" + io::json_line(io::write_tensor_step(step));
    return text;
}

}  // namespace

TEST_CASE("every program of the set gives what it means, at sizes that do not divide") {
    std::size_t runs = 0;
    for (const std::string& name : test::tensor_program_names()) {
        const Program program = test::tensor_program(name);
        for (const std::int64_t ranks : kRanks) {
            if (program.mesh().axes().size() > 1 && ranks > 3) continue;
            try {
                const Program at = resized(program, ranks, 5);
                check_run(at, at);
                ++runs;
            } catch (const tensor::Refusal&) {  // a dimension does not divide where it has to
            }
        }
    }
    CHECK(runs > 20);
}

TEST_CASE("every legal schedule gives what the program means, with the bits of its values one by one") {
    std::size_t runs = 0;
    for (const io::Json& line : test::tensor_lines("legal.jsonl")) {
        const Program program = test::tensor_program(line.at("program").get<std::string>());
        std::vector<tensor::Step> steps;
        for (const io::Json& step : line.at("steps")) steps.push_back(io::parse_tensor_step(step));
        for (const std::int64_t ranks : {std::int64_t{2}, std::int64_t{3}}) {
            INFO(line.at("program").get<std::string>(), ", ", line.at("name").get<std::string>(), ", ",
                 ranks);
            try {
                const Program at = resized(program, ranks, 4);
                const Program changed = rewrite::replay(at, steps);
                check_run(at, changed);
                const verify::Arrays inputs =
                    verify::drawn_inputs(at, RealNumbers(RealNumbers::Precision::F32));
                const auto run = [&](const Program& form) {
                    return all_elements(
                        run::run_program(form, run::rank_inputs(form, inputs, Precision::Declared)));
                };
                CHECK(run(changed) == run(one_by_one(changed)));
                ++runs;
            } catch (const tensor::Refusal&) {
            }
        }
    }
    CHECK(runs > 100);
}

TEST_CASE("every legal schedule is exact in the field, with the real threads, waits and buffers") {
    std::size_t runs = 0;
    std::uint64_t seed = 0;
    for (const io::Json& line : test::tensor_lines("legal.jsonl")) {
        const Program program = test::tensor_program(line.at("program").get<std::string>());
        std::vector<tensor::Step> steps;
        for (const io::Json& step : line.at("steps")) steps.push_back(io::parse_tensor_step(step));
        const verify::RunReport report =
            threads_in_the_field(program, rewrite::replay(program, steps), {.salts = 4, .seed = ++seed});
        INFO(line.at("program").get<std::string>(), ", ", line.at("name").get<std::string>());
        CHECK(words(report.difference) == "");
        runs += report.runs;
    }
    CHECK(runs > 200);
}

TEST_CASE("random programs with random schedules are exact in the field, with the real threads") {
    std::size_t runs = 0, changed = 0;
    test::for_seeds(test::cases(60), [&](Rng& rng, std::uint64_t seed) {
        const Program original = test::random_tensor_program(rng);
        const auto [form, steps] = test::random_form(original, rng);
        INFO(text_of(original, steps));
        const verify::RunReport report = threads_in_the_field(original, form, {.salts = 2, .seed = seed});
        CHECK_MESSAGE(words(report.difference) == "",
                      fmt::format("axes {}, sizes {}", report.axes, report.sizes));
        runs += report.runs;
        if (!steps.empty()) ++changed;
    });
    CHECK(runs > 0);
    CHECK(changed > 0);
}

TEST_CASE("the examples and their schedules give what the programs mean") {
    std::size_t examples = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(TUTTI_SOURCE_DIR) + "/examples/tensor")) {
        const std::string path = entry.path().string();
        if (!path.ends_with(".schedule.json")) continue;
        INFO(path);
        const std::string name = path.substr(0, path.size() - std::string(".schedule.json").size());
        Program program = io::read_tensor_program(name + ".json");
        if (program.sizes().contains("N")) program = tensor::at_sizes(program, {}, {{"N", 43}});
        const Program changed = rewrite::replay(program, io::read_tensor_schedule(path).steps);
        CHECK(verify::equivalence(program, changed).equivalent);
        check_run(program, changed);
        ++examples;
    }
    CHECK(examples == 9);
}

TEST_CASE("a fused kernel has the bits of the values one by one") {
    tensor::Builder b("fused", {{"data", 2}});
    const auto g = b.input("g", {5003}, tensor::DType::F16, {{"data", tensor::Layout::local()}});
    const auto h = b.input("h", {5003});
    const auto sum = g.all_reduce("data").cast(tensor::DType::F32).named("sum");
    const auto scaled = (sum * 0.3).named("scaled");
    const auto root = tensor::sqrt(scaled * scaled + 1.0).named("root");
    b.output((h / root - tensor::exp(-scaled)).named("out"));
    const Program single = b.program();
    std::vector<tensor::ValueId> pointwise;
    for (const tensor::ValueId id : single.order()) {
        if (is_pointwise(single[id].op)) pointwise.push_back(id);
    }
    const Program fused = with_fused(single, {{"all", pointwise}});
    const verify::Arrays inputs = verify::drawn_inputs(single, RealNumbers(RealNumbers::Precision::F32));
    const auto run = [&](const Program& program) {
        return run::run_program(program, run::rank_inputs(program, inputs, Precision::Declared));
    };
    const run::ProgramRun one = run(fused), many = run(single);
    CHECK(one.kernels.size() == 2);
    CHECK(many.kernels.size() == pointwise.size() + 1);
    CHECK(all_elements(one) == all_elements(many));
}

TEST_CASE("half types are rounded after every operation, to nearest even") {
    std::vector<float> numbers{1.0F + 0x1p-11F, 1.0F + 0x3p-11F, 65520.0F, 0x1p-25F, 0x1.8p-24F, -3.0F};
    run::round_to(tensor::DType::F16, Precision::Declared, std::span(numbers));
    CHECK(numbers == std::vector<float>{1.0F, 1.0F + 0x4p-11F, std::numeric_limits<float>::infinity(), 0.0F,
                                        0x1p-23F, -3.0F});
    numbers = {1.0F + 0x1p-8F, 1.0F + 0x3p-8F};
    run::round_to(tensor::DType::BF16, Precision::Declared, std::span(numbers));
    CHECK(numbers == std::vector<float>{1.0F, 1.0F + 0x4p-8F});
}

TEST_CASE("a rank without its input ends the run for all") {
    tensor::Builder b("missing", {{"data", 3}});
    const auto x = b.input("x", {4}, tensor::DType::F32, {{"data", tensor::Layout::local()}});
    b.output(x.all_reduce("data"));
    const Program program = b.program();
    std::vector<run::RankTensors> inputs = run::rank_inputs(
        program, verify::drawn_inputs(program, RealNumbers(RealNumbers::Precision::F64)), Precision::F64);
    inputs[1].clear();
    CHECK_THROWS_WITH_AS((void)run::run_program(program, inputs), "rank 1 has no input 'x'", InputError);
}
