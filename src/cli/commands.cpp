#include "cli/commands.hpp"

#include "synth/synthesize.hpp"

#include <fmt/format.h>
#include <boost/program_options.hpp>

namespace tutti::cli {
namespace {

namespace po = boost::program_options;

/// Values stay text here: options.cpp converts them, and words its own complaints. Of an option that is given
/// twice the last one counts, so that a script's options can be overruled; hence the vectors.
po::value_semantic* text(const char* name) { return po::value<std::vector<std::string>>()->value_name(name); }
po::value_semantic* flag() { return po::value<std::vector<std::string>>()->zero_tokens(); }

OptionGroup common() {
    OptionGroup group{"Common"};
    group.options.add_options()                                              //
        ("json", flag(), "print one JSON object on standard output")         //
        ("quiet,q", flag(), "no talk on standard error, except for errors")  //
        ("help,h", flag(), "print this page");
    return group;
}

std::string method_help() {
    std::string help = "how to find the schedule (default auto):";
    for (const synth::Method& method : synth::methods())
        help += fmt::format("\n{}: {}", method.name, method.help);
    return help;
}

OptionGroup search(const char* time_limit_help) {
    OptionGroup group{"Search"};
    group.options.add_options()                          //
        ("method", text("NAME"), method_help().c_str())  //
        ("seed", text("N"),
         "of the random choices (default 1); the same seed and threads give the same schedule, unless a "
         "limit stops the search")                                       //
        ("threads", text("N"), "threads for one synthesis (default 1)")  //
        ("time-limit", text("SECONDS"), time_limit_help);
    return group;
}

Command synth_command() {
    Command command;
    command.name = "synth";
    command.summary = "find a schedule for an instance, verify it, write it";
    command.usage = "INSTANCE [-o FILE] [options]";
    command.about =
        "Reads an instance (- is standard input), finds a schedule and a lower bound,\n"
        "verifies the schedule and writes it. What it writes has always passed the\n"
        "verifier. \"optimal\" means that the makespan meets the bound.\n";
    command.examples =
        "tutti synth mesh3x3.json\n"
        "tutti synth mesh3x3.json -o best.schedule.json --seed 7\n"
        "tutti synth big.json -o big.tsch --json\n"
        "tutti synth - -o - < mesh3x3.json | tutti verify mesh3x3.json -\n";
    OptionGroup output{"Output"};
    output.options.add_options()  //
        ("output,o", text("FILE"),
         "where the schedule goes (default <name>.schedule.json in this folder, the instance's name with _ "
         "for odd characters); - is standard output, "
         "and the summary then goes to standard error")  //
        ("format", text("json|stream"),
         "text to be read, or the compact stream for large schedules (default: stream "
         "if FILE ends in .tsch, else json)");
    command.groups = std::vector<OptionGroup>{
        output,
        search("stop after about this time with the best schedule so far; exit code 3 if there is none"),
        common()};
    command.positional = "instance";
    return command;
}

Command verify_command() {
    Command command;
    command.name = "verify";
    command.summary = "judge schedules, whoever made them";
    command.usage = "INSTANCE SCHEDULE... [options]";
    command.about =
        "Says VALID, or INVALID with every broken rule in words: its number (V1 to V17,\n"
        "see src/verify/README.md), the tick and the sends. Instance and schedules are told\n"
        "apart by their content and may come in any order; one of them may be - for\n"
        "standard input. Streams (.tsch) of any length are judged without being held.\n"
        "With --json there is one object per schedule, a line each. The exit code is 2 if any\n"
        "file is malformed, else 1 if any schedule is invalid.\n";
    command.examples =
        "tutti verify mesh3x3.json mesh3x3.schedule.json\n"
        "tutti verify --instance mesh3x3.json mine.json theirs.tsch --json\n";
    OptionGroup verify{"Verification"};
    verify.options.add_options()                                                      //
        ("instance", text("FILE"), "the instance, if all other files are schedules")  //
        ("max-violations", text("N"), "spell out at most N violations (default 20); all are counted");
    command.groups = std::vector<OptionGroup>{verify, common()};
    command.positional = "files";
    return command;
}

Command topology_command() {
    Command command;
    command.name = "topology";
    command.summary = "show what a topology looks like, and how its links are numbered";
    command.usage = "[KIND | FILE | JSON] [--FIELD VALUE...] [options]";
    command.about =
        "Shows a topology that a generator makes or that a file holds (an instance, a\n"
        "topology; - is standard input). Without arguments it lists the generators.\n"
        "Every field of a generator is an option: a number, a comma-separated list or JSON.\n"
        "So are busy, remove and slow, which change what was generated.\n"
        "With --json it prints the topology link by link, in order of their numbers; the\n"
        "output can stand as the \"topology\" of an instance.\n";
    command.examples =
        "tutti topology\n"
        "tutti topology torus --dims 4,4 --alpha 1 --beta 2\n"
        "tutti topology ring --npus 4 --remove '[[0, 1]]' --links\n"
        "tutti topology '{\"kind\": \"star\", \"npus\": 8, \"copy\": true}' --json\n"
        "tutti topology mesh3x3.json --links\n";
    OptionGroup show{"Topology"};
    show.options.add_options()  //
        ("links", flag(), "print the table of links with their numbers");
    command.groups = std::vector<OptionGroup>{show, common()};
    command.positional = "what";
    command.free_options = true;
    return command;
}

Command batch_command() {
    Command command;
    command.name = "batch";
    command.summary = "synthesize and verify many instances, print one table";
    command.usage = "DIR-OR-FILES... [options]";
    command.about =
        "Searches folders for instances (*.json, but not *.schedule.json nor folders called\n"
        "schema), solves each, prints one table and writes below the results folder:\n"
        "results.jsonl (a line per instance, as soon as it is done), schedules/ and table.txt.\n"
        "An instance that fails is a row with its error, and the exit code is then 1. So is a\n"
        "result that contradicts a value in FOLDER/FOLDER.solu or FOLDER.solu. Ctrl-C ends the run\n"
        "after what is done so far is written (exit code 130); a second one kills it.\n"
        "Times are in ticks, which are 1 ps for instances in physical units.\n";
    command.examples =
        "tutti batch instances\n"
        "tutti batch instances/mesh a.json --results results/mine --time-limit 60 --jobs 2\n"
        "tutti batch --set instances/sets/short.test --json\n";
    OptionGroup what{"Selection and results"};
    what.options.add_options()  //
        ("set", text("FILE.test"),
         "only the instances that this file lists, a path per line, relative to its folder or the one "
         "above")  //
        ("results", text("DIR"),
         "where results go (default results/<time>); nothing there is deleted, but "
         "results.jsonl is replaced")                           //
        ("jobs", text("N"), "instances at a time (default 1)")  //
        ("update-solu", flag(), "write proven and best values into the folders' .solu files");
    command.groups = std::vector<OptionGroup>{what, search("for each instance"), common()};
    command.positional = "paths";
    return command;
}

Command doctor_command() {
    Command command;
    command.name = "doctor";
    command.summary = "check that this program and its solvers work";
    command.usage = "[options]";
    command.about =
        "Prints version, compiler and machine, and for each solver whether it is there, its\n"
        "version and file, and its answer to a toy problem. Solvers that are not there are\n"
        "only listed; one that is there and answers wrongly means exit code 1.\n";
    command.examples = "tutti doctor\ntutti doctor --require-all --json\n";
    OptionGroup check{"Check"};
    check.options.add_options()("require-all", flag(), "exit code 1 if any solver is missing");
    command.groups = std::vector<OptionGroup>{check, common()};
    return command;
}

}  // namespace

std::vector<std::string> Command::option_names() const {
    std::vector<std::string> names;
    for (const OptionGroup& group : groups) {
        for (const auto& option : group.options.options()) names.push_back("--" + option->long_name());
    }
    return names;
}

std::vector<Command> commands() {
    return {synth_command(), verify_command(), batch_command(), topology_command(), doctor_command()};
}

}  // namespace tutti::cli
