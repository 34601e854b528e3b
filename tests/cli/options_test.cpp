#include "cli/parse.hpp"

#include "app/batch.hpp"
#include "app/bound.hpp"
#include "app/convert.hpp"
#include "app/judge.hpp"
#include "app/pareto.hpp"
#include "app/synthesize.hpp"
#include "cli/commands.hpp"
#include "cli/commands/topology.hpp"
#include "core/error.hpp"

#include <doctest/doctest.h>

#include <sstream>

using namespace tutti;
using namespace tutti::cli;
using app::BatchOptions;
using app::ConvertFormat;
using app::ConvertOptions;
using app::JudgeOptions;
using app::ParetoOptions;
using app::PlanOptions;
using app::ScheduleFormat;
using app::SynthesisOptions;

namespace {

/// The command line as one would type it, without quotes.
Call parsed(const std::string& line) {
    std::istringstream words(line);
    std::vector<std::string> arguments;
    for (std::string word; words >> word;) arguments.push_back(word);
    return parse(arguments);
}

/// The options of the command that the line calls.
template <class Options>
Options asked(const std::string& line) {
    return std::any_cast<Options>(parsed(line).options);
}

template <class Options>
bool asks(const std::string& line, const Options& expected, const Talk& talk = {}) {
    const Call call = parsed(line);
    return std::any_cast<Options>(call.options) == expected && call.talk == talk;
}

std::string complaint(const std::string& line) {
    try {
        (void)parsed(line);
    } catch (const InputError& error) {
        return error.message();
    }
    return "no complaint";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("synth has defaults that need no options") {
    const SynthesisOptions expected{.instance = "a.json"};
    CHECK(asks("synth a.json", expected));
    CHECK(expected.seed == 1);
    CHECK(expected.method == "auto");
}

TEST_CASE("synth takes its options in any order, with or without an equals sign") {
    const SynthesisOptions expected{.instance = "a.json",
                                    .output = "b.tsch",
                                    .format = ScheduleFormat::Stream,
                                    .method = "greedy",
                                    .seed = 7,
                                    .threads = 2,
                                    .time_limit = 1.5};
    CHECK(
        asks("synth a.json -o b.tsch --format stream --method greedy --seed 7 --threads 2 --time-limit 1.5 "
             "--json --quiet",
             expected, {.json = true, .quiet = true}));
    CHECK(
        asks("synth -q --json --time-limit=1.5 --threads=2 --seed=7 --method=greedy --format=stream "
             "--output=b.tsch a.json",
             expected, {.json = true, .quiet = true}));
}

TEST_CASE("a dash is a file, not an option") {
    CHECK(asks("bound a.json --time-limit 2.5 -q", app::BoundOptions{.instance = "a.json", .time_limit = 2.5},
               {.quiet = true}));
    CHECK(asks("synth - -o -", SynthesisOptions{.instance = "-", .output = "-"}));
}

TEST_CASE("if an option is given twice, the last value counts") {
    CHECK(asks("synth a --seed 1 --seed 2 --json --json", SynthesisOptions{.instance = "a", .seed = 2},
               {.json = true}));
    CHECK(asks("topology ring --npus 3 --npus 4", TopologyPage{{.what = "ring", .fields = {{"npus", "4"}}}}));
}

TEST_CASE("the largest seed is a seed, and nothing beyond it") {
    CHECK(asked<SynthesisOptions>(("synth a --seed 18446744073709551615")).seed == ~std::uint64_t{0});
    CHECK(contains(complaint("synth a --seed 18446744073709551616"), "--seed: expected a whole number"));
    CHECK(contains(complaint("synth a --seed=-1"), "found '-1'"));
    CHECK(contains(complaint("synth a --seed 1.5"), "found '1.5'"));
    CHECK(contains(complaint("synth a --seed="), "--seed"));
}

TEST_CASE("a time limit is a positive number of seconds") {
    CHECK(asked<SynthesisOptions>(("synth a --time-limit 2")).time_limit == 2.0);
    for (const char* bad : {"0", "-1", "nan", "inf", "1s", "1e999"}) {
        CHECK(contains(complaint(std::string("synth a --time-limit=") + bad), "positive number of seconds"));
    }
}

TEST_CASE("verify takes files in any order, or the instance by name") {
    CHECK(
        asks("verify a b c --max-violations 3", JudgeOptions{.files = {"a", "b", "c"}, .max_violations = 3}));
    CHECK(
        asks("verify s --instance i --json", JudgeOptions{.files = {"s"}, .instance = "i"}, {.json = true}));
    CHECK(contains(complaint("verify"), "an instance and at least one schedule"));
    CHECK(contains(complaint("verify - -"), "only one file can be standard input"));
    CHECK(contains(complaint("verify - --instance -"), "only one file can be standard input"));
}

TEST_CASE("convert takes its format from the file's name, and options only where they count") {
    ConvertOptions plain{.files = {"i", "s"}, .output = "x.json"};
    CHECK(asks("convert i s -o x.json", plain));
    plain.output = "x.tsch";
    plain.format = ConvertFormat::Stream;
    CHECK(asks("convert i s -o x.tsch", plain));
    ConvertOptions plan{.files = {"i", "s"}, .output = "x.xml", .format = ConvertFormat::MscclXml};
    CHECK(asks("convert i s -o x.xml", plan));
    plan.target = plan::Target::Rccl;
    plan.protocol = plan::Protocol::LL128;
    plan.mode = app::CallMode::OutOfPlace;
    plan.collective = "ar";
    plan.min_bytes = 0;
    plan.max_bytes = 65536;
    CHECK(
        asks("convert i s -o x.xml --target rccl --protocol LL128 --mode out-of-place --collective ar "
             "--min-bytes 0 --max-bytes 64K",
             plan));
    CHECK(asks(
        "convert a b c d -d dir --json",
        ConvertOptions{.files = {"a", "b", "c", "d"}, .folder = "dir", .format = ConvertFormat::MscclXml},
        {.json = true}));
    CHECK(contains(complaint("convert i s -o x.json --mode in-place"), "--mode is for --to msccl-xml"));
    CHECK(contains(complaint("convert i s -o x.xml --max-bytes -1"), "expected a number of bytes"));
    CHECK(contains(complaint("convert i s"), "expected --output FILE"));
    CHECK(contains(complaint("convert i s -d dir -o x.xml"), "one of --output and --directory"));
    CHECK(contains(complaint("convert i -o x.xml"), "an instance and a schedule"));
}

TEST_CASE("verify takes the readings of plans") {
    CHECK(asks("verify a.xml", JudgeOptions{.files = {"a.xml"}}));
    const PlanOptions all{.operand_is_destination = true,
                          .copies_first = true,
                          .goal = CollectiveKind::ReduceScatter,
                          .root = Rank(3),
                          .strict_dependencies = true,
                          .strict_descriptors = true,
                          .target = plan::Target::MscclExecutor};
    CHECK(
        asks("verify a.xml --operand dst --copy first --as reducescatter --root 3 --strict-dependencies "
             "--strict-descriptors --target msccl-executor --threads 4",
             JudgeOptions{.files = {"a.xml"}, .plan = all, .threads = 4}));
    CHECK(asks("verify a.xml --operand src --copy ignore", asked<JudgeOptions>("verify a.xml")));
    CHECK(asks("verify a --condition c", JudgeOptions{.files = {"a"}, .plan = {.conditions = {"c"}}}));
    CHECK(asks("verify a b --condition c --condition d",
               JudgeOptions{.files = {"a", "b"}, .plan = {.conditions = {"c", "d"}}}));
    CHECK(contains(complaint("convert a b -o c --to mscclpp"), "did you mean 'mscclpp-json'?"));
    CHECK(contains(complaint("verify a --as alreduce"), "did you mean 'allreduce'?"));
    CHECK(contains(complaint("verify a --target nccl"), "msccl or msccl-executor or rccl or mscclpp"));
    CHECK(contains(complaint("verify a --root -1"), "whole number"));
    CHECK(contains(complaint("verify a --as allreduce --condition c"), "expected one of them"));
    CHECK(contains(complaint("verify - --condition -"), "only one file can be standard input"));
}

TEST_CASE("verify takes groups of NPUs, once or once for each plan") {
    const auto groups = [](const std::string& line) { return asked<JudgeOptions>(line).plan.groups; };
    CHECK(groups("verify a --group 0,8,16,24") == std::vector<std::vector<std::int32_t>>{{0, 8, 16, 24}});
    CHECK(groups("verify a b --group 1 --group 2,0") == std::vector<std::vector<std::int32_t>>{{1}, {2, 0}});
    for (const char* bad : {"0,0", "0,", ",0", "0,,1", "-1", "a", "1;2", "99999999999"}) {
        CHECK(contains(complaint(std::string("verify a --group=") + bad), "different NPUs by rank"));
    }
}

TEST_CASE("verify takes a topology and the size of the call") {
    const auto bytes = [](const std::string& size) {
        return asked<JudgeOptions>(("verify a --topology t --bytes " + size)).plan.bytes;
    };
    CHECK(bytes("1000") == 1000);
    CHECK(bytes("8M") == 8 << 20);
    CHECK(bytes("1G") == 1 << 30);
    CHECK(bytes("3K") == 3072);
    CHECK(bytes("64KB") == 65536);
    CHECK(bytes("1.5GiB") == 3 << 29);
    for (const char* bad : {"0", "-1", "1MX", "M", "0.3M", "1125899906842625", "2P", "9999999999999G"}) {
        CHECK(contains(complaint(std::string("verify a --topology t --bytes=") + bad), "number of bytes"));
    }
    CHECK(asked<JudgeOptions>("verify a --bytes 1").variation.bytes == Bytes{1});  // of an instance
    CHECK(asked<JudgeOptions>(("verify a --topology t")).plan.bytes == std::nullopt);
}

TEST_CASE("topology takes any option as a field of the generator") {
    CHECK(asks("topology", TopologyPage{}));
    CHECK(asks(
        "topology star --npus 8 --copy --alpha=-1 --links",
        TopologyPage{{.what = "star", .fields = {{"npus", "8"}, {"copy", "true"}, {"alpha", "-1"}}}, true}));
    CHECK(asks("topology ring --one-way --npus 3 --json",
               TopologyPage{{.what = "ring", .fields = {{"one_way", "true"}, {"npus", "3"}}}},
               {.json = true}));
    CHECK(contains(complaint("topology --npus 3"), "needs a generator's kind"));
    CHECK(contains(complaint("topology ring -n 3"), "unknown option '-n'"));
}

TEST_CASE("batch takes paths, a set, a run file or a folder to go on with") {
    BatchOptions expected;
    expected.asked.paths = {"a", "b"};
    expected.asked.jobs = 2;
    expected.asked.time_limit = 60.0;
    expected.results = "r";
    expected.update_solu = true;
    CHECK(asks("batch a b --results r --jobs 2 --time-limit 60 --update-solu", expected));
    CHECK(asks("batch a b -o r --jobs 2 --time-limit 60 --update-solu", expected));
    CHECK(contains(complaint("batch a -o r --results r"), "the old name"));
    expected = {};
    expected.asked.set = "s.test";
    CHECK(asks("batch --set s.test", expected));
    CHECK(asked<BatchOptions>(("batch --run r.json")).run == "r.json");
    CHECK(asked<BatchOptions>(("batch --resume -o r")).resume);
    CHECK(asked<BatchOptions>(("batch --retry-failed -o r")).resume);
    CHECK(contains(complaint("batch a --resume"), "expected --output DIR"));
    CHECK(contains(complaint("batch --json"), "expected folders or files"));
    CHECK(contains(complaint("batch a --jobs 0"), "from 1 to"));
}

TEST_CASE("batch takes lists with commas, sizes with letters and a part of a run") {
    BatchOptions::Asked expected;
    expected.paths = {"a"};
    expected.methods = {"greedy", "cpsat"};
    expected.chunks = {1, 2, 4};
    expected.bytes = {1024, 1 << 20, 77};
    expected.seeds = {1, 2, 3};
    expected.memory_limit = std::uint64_t{4} << 30;
    expected.shard = {2, 8};
    CHECK(asked<BatchOptions>(("batch a --method greedy,cpsat --chunks 1,2,4 --bytes 1K,1M,77 "
                               "--seeds 1,2,3 --memory-limit 4G --shard 2/8"))
              .asked == expected);
    CHECK(asked<BatchOptions>(("batch a --seed 5")).asked.seeds == std::vector<std::uint64_t>{5});
    CHECK(contains(complaint("batch a --seed 5 --seeds 6"), "expected one of them"));
    CHECK(contains(complaint("batch a --method greedy,nope"), "found 'nope'"));
    CHECK(contains(complaint("batch a --chunks 1,,2"), "found ''"));
    CHECK(contains(complaint("batch a --chunks 0"), "from 1 to"));
    CHECK(contains(complaint("batch a --bytes 1X"), "found '1X'"));
    CHECK(contains(complaint("batch a --shard 9/8"), "found '9/8'"));
    CHECK(contains(complaint("batch a --shard 0/0"), "found '0/0'"));
    CHECK(contains(complaint("batch a --memory-limit x"), "--memory-limit"));
}

TEST_CASE("a memory limit is a size like any other, in synth and in batch") {
    constexpr std::uint64_t kMi = 1 << 20;
    CHECK(asked<SynthesisOptions>("synth a --memory-limit 50M").memory_limit == 50 * kMi);
    CHECK(asked<SynthesisOptions>("synth a --memory-limit 52428800").memory_limit == 50 * kMi);
    CHECK(asked<BatchOptions>("batch a --memory-limit 50MB").asked.memory_limit == 50 * kMi);
    CHECK(asked<BatchOptions>("batch a --memory-limit 1048576").asked.memory_limit == kMi);
    for (const char* command : {"synth", "batch"}) {
        // Once megabytes were meant.
        CHECK(contains(complaint(std::string(command) + " a --memory-limit 50"),
                       "expected at least 1M, found '50'; a number without a unit is bytes"));
        CHECK(contains(complaint(std::string(command) + " a --memory-limit 0.3M"), "number of bytes"));
    }
}

TEST_CASE("pareto takes an instance, limits or a point") {
    ParetoOptions expected;
    expected.instance = "a.json";
    CHECK(asks("pareto a.json", expected));
    expected.max_steps = 4;
    expected.max_chunks = 6;
    expected.max_rounds = 9;
    expected.k = 0;
    expected.backend = "z3";
    expected.output = "found";
    CHECK(asks("pareto a.json --max-steps 4 --max-chunks 6 --max-rounds 9 --k 0 --backend z3 -o found",
               expected));
    ParetoOptions one;
    one.instance = "a.json";
    one.point = {{2, 7, 6}};
    CHECK(asks("pareto a.json --point 2,7,6", one));
    for (const char* bad : {"2", "2,7", "2,7,", "2,7,6,1", "0,7,6", "-2,7,6", "2,7,6x", "99999,1,1"}) {
        INFO(bad);
        CHECK(contains(complaint(std::string("pareto a.json --point=") + bad), "--point"));
    }
    CHECK(contains(complaint("pareto a.json --point 2,7,6 --max-steps 3"), "one point"));
    CHECK(contains(complaint("pareto a.json b.json"), "one argument"));
}

TEST_CASE("doctor takes no arguments") {
    CHECK(parsed("doctor --require-all --json -q").talk == Talk{.json = true, .quiet = true});
    CHECK(contains(complaint("doctor a"), "no arguments"));
}

TEST_CASE("all usual forms of help work, and take precedence over other errors") {
    for (const char* line : {"--help", "-h", "help"}) CHECK(asks(line, HelpOptions{}));
    for (const char* line : {"help synth", "synth --help", "synth -h", "synth --seed x --help"}) {
        CHECK(asks(line, HelpOptions{"synth"}));
    }
    CHECK(asks("--version", VersionOptions{}));
}

TEST_CASE("a name that is close to a known one gets a suggestion") {
    CHECK(contains(complaint("synht a"), "did you mean 'synth'?"));
    CHECK(contains(complaint("help batsh"), "did you mean 'batch'?"));
    CHECK(contains(complaint("--hepl"), "did you mean '--help'?"));
    CHECK(contains(complaint("synth a --sede 1"), "did you mean '--seed'?"));
    CHECK(contains(complaint("synth a --method gredy"), "did you mean 'greedy'?"));
    CHECK_FALSE(contains(complaint("frobnicate"), "did you mean"));
}

TEST_CASE("options cannot be abbreviated, so that new ones break no script") {
    CHECK(contains(complaint("synth a --see 1"), "unknown option '--see'"));
}

TEST_CASE("every command and every option has help text") {
    for (const Command& command : commands()) {
        const std::string page = help_text(std::string(command.name));
        CHECK(contains(help_text(""), std::string(command.name) + " "));
        CHECK(contains(page, "Examples:\n  tutti " + std::string(command.name)));
        for (const std::string& option : command.option_names()) CHECK(contains(page, option));
        std::istringstream lines(page);
        for (std::string line; std::getline(lines, line);) {
            INFO(line);
            CHECK(line.size() <= 90);
        }
    }
}
