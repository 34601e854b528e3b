// tutti_bench: figures for people, never part of the tests. `scripts/bench` builds and runs it.

#include "app/version.hpp"
#include "core/error.hpp"
#include "tests/bench/batches.hpp"
#include "tests/bench/child.hpp"
#include "tests/bench/kernels.hpp"
#include "tests/bench/plans.hpp"
#include "tests/bench/reach.hpp"
#include "tests/bench/scale.hpp"

#include <fmt/format.h>
#include <boost/program_options.hpp>

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <span>
#include <string>

namespace {

namespace po = boost::program_options;

std::string processor() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        const auto colon = line.find(": ");
        if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
    }
    return "unknown processor";
}

std::string today() {
    const std::time_t now = std::time(nullptr);
    std::array<char, 32> text{};
    const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%d", std::gmtime(&now));
    return {text.data(), size};
}

void print_machine(const std::string& title, int core, const std::string& command) {
    std::array<double, 3> load{};
    const bool has_load = ::getloadavg(load.data(), 3) == 3;
    fmt::print("# {}\n\n`{}`, {}: tutti {}; {}.\n{}, {} cores; {}{}.\n", title, command, today(),
               tutti::app::version(), tutti::bench::solvers(), processor(), ::sysconf(_SC_NPROCESSORS_ONLN),
               core >= 0 ? "on one core" : "not pinned to a core",
               has_load ? fmt::format(", load {:.1f} before it began", load[0]) : "");
    std::fflush(stdout);
}

/// As it can be typed elsewhere: where the peer's program lies is this machine's business.
std::string command_line(std::span<char*> words) {
    std::string command = "scripts/bench";
    bool is_path = false;
    for (const std::string word : words.subspan(1)) {
        command += is_path ? " PATH" : word.find(' ') == std::string::npos ? " " + word : " '" + word + "'";
        is_path = word == "--tacos";
    }
    return command;
}

int run(int argc, char** argv) {
    tutti::bench::ReachOptions reach;
    tutti::bench::ScaleOptions scale;
    tutti::bench::PlansOptions plans;
    tutti::bench::BatchesOptions batches;
    tutti::bench::KernelsOptions kernels;
    std::string what;
    po::options_description for_reach("scripts/bench reach [options]: what is proven, and how fast");
    for_reach.add_options()("seconds", po::value<double>(), "CPU seconds for `auto` (default 60)")(
        "seconds-alone", po::value<double>(),
        "CPU seconds for each encoding alone; as many as for `auto` unless given")(
        "only", po::value(&reach.only),
        "only rows whose table (all_gather, all_to_all, further, all_reduce) and name contain this")(
        "story", po::bool_switch(&reach.limits.story), "tell on stderr how each walk goes");
    // --seconds is there too.
    po::options_description for_scale(
        "scripts/bench scale [--seconds S] [options]: large instances, beside the peers");
    for_scale.add_options()("rows", po::value(&scale.only),
                            "only rows whose table (peer, papers, groups, growth, switches, further) and "
                            "name contain this, the slow ones too")(
        "tacos", po::value(&scale.tacos), "a program that runs TACOS, see tests/bench/README.md")(
        "method", po::value(&scale.method)->default_value(scale.method), "of `tutti synth`");
    po::options_description for_plans("scripts/bench plans [options]: how fast plans are judged");
    for_plans.add_options()("plan", po::value(&plans.only), "only plans whose name contains this");
    po::options_description for_batch("scripts/bench batch [options]: what a batch costs per instance");
    for_batch.add_options()("instances", po::value(&batches.instances), "how many (default 1000)");
    po::options_description for_kernels(
        "scripts/bench kernels [options]: kernels of tensor programs, compiled and interpreted");
    for_kernels.add_options()("rounds", po::value(&kernels.rounds), "how many (default 21)");
    po::options_description all;
    all.add(for_reach)
        .add(for_scale)
        .add(for_plans)
        .add(for_batch)
        .add(for_kernels)
        .add_options()("help", "this text")("what", po::value(&what));
    po::positional_options_description places;
    places.add("what", 1);
    po::variables_map given;
    po::store(po::command_line_parser(argc, argv).options(all).positional(places).run(), given);
    po::notify(given);
    const bool known =
        what == "reach" || what == "scale" || what == "plans" || what == "batch" || what == "kernels";
    if (given.contains("help") || !known) {
        std::cerr << for_reach << '\n'
                  << for_scale << '\n'
                  << for_plans << '\n'
                  << for_batch << '\n'
                  << for_kernels;
        return given.contains("help") ? 0 : 1;
    }
    if (given.contains("seconds")) reach.limits.seconds = scale.seconds = given["seconds"].as<double>();
    reach.seconds_alone =
        given.contains("seconds-alone") ? given["seconds-alone"].as<double>() : reach.limits.seconds;
    const std::string command = command_line(std::span(argv, static_cast<std::size_t>(argc)));
    const int core = tutti::bench::pin_to_one_core();
    if (what == "scale") {
        print_machine("Scale: large instances, beside the peers", core, command);
        return tutti::bench::scale(scale) ? 0 : 70;
    }
    if (what == "plans") {
        print_machine("Plans: how fast they are judged", core, command);
        return tutti::bench::plans(plans) ? 0 : 70;
    }
    if (what == "batch") {
        print_machine("Batch: what it costs per instance", core, command);
        return tutti::bench::batches(batches) ? 0 : 70;
    }
    if (what == "kernels") {
        print_machine("Kernels: compiled, interpreted, and at the speed of memory", core, command);
        return tutti::bench::kernels(kernels) ? 0 : 70;
    }
    print_machine("Reach: what is proven, and how fast", core, command);
    return tutti::bench::reach(reach) ? 0 : 70;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        fmt::print(stderr, "error: {}\n", error.what());
        return 1;
    }
}
