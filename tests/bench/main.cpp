// tutti_bench: figures for people, never part of the tests. `scripts/bench` builds and runs it.

#include "cli/version.hpp"
#include "core/error.hpp"
#include "tests/bench/child.hpp"
#include "tests/bench/reach.hpp"

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

void print_machine(int core, const std::string& command) {
    std::array<double, 3> load{};
    const bool has_load = ::getloadavg(load.data(), 3) == 3;
    fmt::print("# Reach: what is proven, and how fast\n\n`{}`, {}: tutti {}; {}.\n{}, {} cores; {}{}.\n",
               command, today(), tutti::cli::version(), tutti::bench::solvers(), processor(),
               ::sysconf(_SC_NPROCESSORS_ONLN), core >= 0 ? "on one core" : "not pinned to a core",
               has_load ? fmt::format(", load {:.1f} before it began", load[0]) : "");
    std::fflush(stdout);
}

int run(int argc, char** argv) {
    tutti::bench::ReachOptions options;
    std::string what;
    po::options_description visible("scripts/bench reach [options]");
    visible.add_options()("help", "this text")(
        "seconds", po::value(&options.limits.seconds)->default_value(60), "CPU seconds for `auto`")(
        "seconds-alone", po::value<double>(),
        "CPU seconds for each encoding alone; as many as for `auto` unless given")(
        "only", po::value(&options.only),
        "only rows whose table (all_gather, all_to_all, further, all_reduce) and name contain this")(
        "story", po::bool_switch(&options.limits.story), "tell on stderr how each walk goes");
    po::options_description all;
    all.add(visible).add_options()("what", po::value(&what));
    po::positional_options_description places;
    places.add("what", 1);
    po::variables_map given;
    po::store(po::command_line_parser(argc, argv).options(all).positional(places).run(), given);
    po::notify(given);
    if (given.contains("help") || what != "reach") {
        std::cerr << visible;
        return given.contains("help") ? 0 : 1;
    }
    options.seconds_alone =
        given.contains("seconds-alone") ? given["seconds-alone"].as<double>() : options.limits.seconds;
    std::string command = "scripts/bench";
    for (const std::string word : std::span(argv, static_cast<std::size_t>(argc)).subspan(1)) {
        command += word.find(' ') == std::string::npos ? " " + word : " '" + word + "'";
    }
    print_machine(tutti::bench::pin_to_one_core(), command);
    return tutti::bench::reach(options) ? 0 : 70;
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
