// The overhead is everything that is not the instances' own: starting the program, finding the files, making
// and reaping a process each, the pipe, the journal and its fsync, the table. `seconds` of a line is what the
// child took from its first instruction to its line: reading, synthesis, verification and the schedule's
// file.

#include "tests/bench/batches.hpp"

#include "io/result_jsonl.hpp"
#include "tests/bench/process.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace tutti::bench {
namespace {

namespace fs = std::filesystem;

struct Scratch {
    fs::path folder = fs::current_path() / fmt::format("tutti-bench-{}", ::getpid());
    Scratch() { fs::create_directories(folder); }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() {
        std::error_code ignored;
        fs::remove_all(folder, ignored);
    }
};

void make_instances(const fs::path& folder, std::size_t count) {
    constexpr const char* kKinds[] = {"all_gather", "all_to_all", "broadcast", "reduce_scatter"};
    fs::create_directories(folder);
    for (std::size_t i = 0; i < count; ++i) {
        std::ofstream(folder / fmt::format("ring{:05}.json", i)) << fmt::format(
            R"({{"tutti": 1, "topology": {{"generate": {{"kind": "ring", "npus": {}}}}}, "collectives": [{{"kind": "{}"}}]}})",
            4 + i % 5, kKinds[i % 4]);
    }
}

}  // namespace

bool batches(const BatchesOptions& options) {
    const Scratch scratch;
    make_instances(scratch.folder / "instances", options.instances);
    fmt::print(
        "\n{} small instances (rings of 4 to 8) by `tutti batch --method greedy --jobs 1`, results in the "
        "working "
        "directory. Overhead: all but the `seconds` of the lines.\n\n"
        "| run | seconds | of the instances | overhead, ms per instance | CPU seconds |\n| --- | --- | --- | "
        "--- | --- |\n",
        options.instances);
    bool fine = true;
    for (const bool resumed : {false, true}) {
        const fs::path out = scratch.folder / "out";
        std::vector<std::string> words{TUTTI_COMMAND, "batch",  (scratch.folder / "instances").string(),
                                       "-o",          out,      "--method",
                                       "greedy",      "--jobs", "1",
                                       "--quiet"};
        if (resumed) words.emplace_back("--resume");
        const ProcessEnd end = run_process(words, {600, std::size_t{16} << 30});
        if (end.code != 0) throw std::runtime_error("the batch failed: " + end.last_words);
        double own = 0;
        const auto lines = io::read_results((out / "results.jsonl").string());
        for (const io::ResultLine& line : lines) own += resumed ? 0 : line.seconds;
        fine = fine && lines.size() == options.instances &&
               std::ranges::all_of(lines, [](const io::ResultLine& line) { return line.verified; });
        fmt::print("| {} | {:.2f} | {:.2f} | {:.2f} | {:.2f} |\n",
                   resumed ? "resumed, nothing to do" : "fresh", end.wall_seconds, own,
                   (end.wall_seconds - own) * 1000 / static_cast<double>(options.instances), end.cpu_seconds);
    }
    return fine;
}

}  // namespace tutti::bench
