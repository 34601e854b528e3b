// Each row is one generated file. It is made, read and judged in processes of their own, so that memory is
// that of the row; seconds are processor time, the least of three runs where a run is short. The last columns
// are of the whole command `tutti verify`, which the kernel measures.

#include "tests/bench/plans.hpp"

#include "io/msccl_xml.hpp"
#include "tests/bench/child.hpp"
#include "tests/bench/plan_shapes.hpp"
#include "tests/bench/process.hpp"
#include "verify/plan/plan_verifier.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace tutti::bench {
namespace {

namespace fs = std::filesystem;

constexpr double kShort = 1;  ///< seconds, below which a run is made thrice
constexpr std::size_t kMostBytes = std::size_t{16} << 30;

struct PlanRow {
    const char* shape;
    plan::MscclPlan (*make)(std::int32_t size, std::int32_t pieces);
    std::int32_t size, pieces;  ///< gpus, or nodes of eight
};

constexpr PlanRow kRows[]{
    {"ring all-reduce", ring_all_reduce, 16, 2},
    {"ring all-reduce", ring_all_reduce, 64, 1},
    {"ring all-reduce", ring_all_reduce, 64, 12},
    {"ring all-reduce", ring_all_reduce, 64, 123},
    {"all-pairs all-reduce", all_pairs_all_reduce, 16, 1},
    {"all-pairs all-reduce", all_pairs_all_reduce, 64, 1},
    {"all-pairs all-reduce", all_pairs_all_reduce, 64, 5},
    {"all-pairs all-reduce", all_pairs_all_reduce, 64, 50},
    {"two-step all-to-all", two_step_all_to_all, 2, 1},
    {"two-step all-to-all", two_step_all_to_all, 8, 1},
    {"two-step all-to-all", two_step_all_to_all, 8, 7},
    {"two-step all-to-all", two_step_all_to_all, 8, 65},
    {"acknowledged broadcast", acknowledged_broadcast, 64, 3},
    {"acknowledged broadcast", acknowledged_broadcast, 64, 31},
    {"acknowledged broadcast", acknowledged_broadcast, 64, 313},
    {"acknowledged broadcast", acknowledged_broadcast, 64, 3130},
};

double cpu_now() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct PlanFigures {
    std::uint64_t steps = 0;
    std::int32_t gpus = 0;
    double read_seconds = 0, judge_seconds = 0;
    std::string verdict{};
    std::string fifo{};
};

/// "steps gpus read judge verdict chunks,steps": what a child says.
std::string measured_once(const std::string& path) {
    const double start = cpu_now();
    io::Source source(path);
    const plan::MscclPlan plan = io::read_msccl_xml(source);
    const double read = cpu_now();
    const plan::PlanVerdict verdict = verify::verify(plan);
    const double judged = cpu_now();
    return fmt::format("{} {} {} {} {} {},{}", verdict.steps, plan.ranks, read - start, judged - read,
                       name_of(verdict.verdict), verdict.fifo ? verdict.fifo->chunks : -1,
                       verdict.fifo ? verdict.fifo->steps : -1);
}

PlanFigures measured(const std::string& path) {
    PlanFigures best;
    for (int run = 0; run < 3; ++run) {
        const ChildEnd end = in_child([&] { return measured_once(path); }, Stop::Seconds(600), kMostBytes);
        if (!end.death.empty()) throw std::runtime_error("a plan could not be judged: " + end.death);
        PlanFigures now;
        std::istringstream words(end.said);
        words >> now.steps >> now.gpus >> now.read_seconds >> now.judge_seconds >> now.verdict >> now.fifo;
        if (run == 0) best = now;
        best.read_seconds = std::min(best.read_seconds, now.read_seconds);
        best.judge_seconds = std::min(best.judge_seconds, now.judge_seconds);
        if (now.read_seconds + now.judge_seconds > kShort) break;
    }
    return best;
}

std::string seconds_text(double seconds) {
    return seconds < 0.1 ? fmt::format("{:.4f}", seconds) : fmt::format("{:.2f}", seconds);
}

double mebibytes(std::size_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

void print_row(const PlanRow& row, const fs::path& file, bool& right) {
    const ChildEnd written = in_child(
        [&] {
            io::write_msccl_xml(file.string(), row.make(row.size, row.pieces));
            return std::string();
        },
        Stop::Seconds(600), kMostBytes);
    if (!written.death.empty()) throw std::runtime_error("a plan could not be written: " + written.death);
    const PlanFigures figures = measured(file.string());
    const ProcessEnd command = run_process({TUTTI_COMMAND, "verify", file.string()}, {600, kMostBytes});
    const double seconds = figures.read_seconds + figures.judge_seconds;
    right =
        right && (figures.verdict == "valid" || figures.verdict == "valid-if-buffered") && command.code == 0;
    fmt::print("| {} | {} | {} | {:.1f} | {} | {} | {:.0f} | {:.0f} | {} | {} | {} | {:.0f} |\n", row.shape,
               figures.gpus, figures.steps, mebibytes(fs::file_size(file)),
               seconds_text(figures.read_seconds), seconds_text(figures.judge_seconds),
               static_cast<double>(figures.steps) / figures.judge_seconds / 1000,
               static_cast<double>(figures.steps) / seconds / 1000, figures.verdict, figures.fifo,
               seconds_text(command.cpu_seconds), mebibytes(command.peak_bytes));
    std::fflush(stdout);
    fs::remove(file);
}

}  // namespace

bool plans(const PlansOptions& options) {
    fmt::print(
        "\nGenerated MSCCL XML files, all of them right. Read and judge: processor seconds of the two "
        "halves; command: "
        "`tutti verify FILE` as a process of its own. FIFO: least capacity, with a message per chunk and per "
        "step.\n\n"
        "| plan | gpus | steps | file MiB | read s | judge s | judged, 1000 steps/s | read and judged, 1000 "
        "steps/s | "
        "verdict | FIFO | command s | command MiB |\n");
    fmt::print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    const fs::path file = fs::temp_directory_path() / fmt::format("tutti-bench-{}.xml", ::getpid());
    bool right = true;
    for (const PlanRow& row : kRows) {
        if (std::string_view(row.shape).find(options.only) == std::string_view::npos) continue;
        fmt::print(stderr, "{}, {} x {}\n", row.shape, row.size, row.pieces);
        print_row(row, file, right);
    }
    return right;
}

}  // namespace tutti::bench
