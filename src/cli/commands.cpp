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

std::string heuristic_help() {
    std::string help = "ask this heuristic alone, and no solver (default: all that suit):";
    for (const synth::Method& heuristic : synth::heuristics())
        help += fmt::format("\n{}: {}", heuristic.name, heuristic.help);
    return help;
}

constexpr const char* kOptionHelp =
    "turn a search option, as often as needed; 'tutti doctor --options' lists them with their defaults";

OptionGroup search(const char* time_limit_help) {
    OptionGroup group{"Search"};
    group.options.add_options()                                //
        ("method", text("NAME"), method_help().c_str())        //
        ("heuristic", text("NAME"), heuristic_help().c_str())  //
        ("option", text("NAME=VALUE"), kOptionHelp)            //
        ("seed", text("N"),
         "of the random choices (default 1); the same seed and threads give the same schedule, unless a "
         "limit stops the search")                                       //
        ("threads", text("N"), "threads for one synthesis (default 1)")  //
        ("time-limit", text("SECONDS"), time_limit_help)                 //
        ("memory-limit", text("MB"), "end the search with the best schedule so far beyond this much memory");
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
        "verifier. \"optimal\" means that the makespan meets the bound: either a bound that\n"
        "anybody can check, or a solver's proof that no schedule is shorter. How it gets there\n"
        "is told on standard error. Without a time limit, auto looks for a proof for a minute\n"
        "and the exact methods until there is one.\n";
    command.examples =
        "tutti synth mesh3x3.json\n"
        "tutti synth mesh3x3.json -o best.schedule.json --seed 7\n"
        "tutti synth mesh3x3.json --method exact --threads 4 --time-limit 600\n"
        "tutti synth big.json -o big.tsch --json\n"
        "tutti synth - -o - < mesh3x3.json | tutti verify mesh3x3.json -\n";
    OptionGroup output{"Output"};
    output.options.add_options()  //
        ("output,o", text("FILE"),
         "where the schedule goes (default <name>.schedule.json in this folder, or <name>.tsch beyond a "
         "million sends; the instance's name with _ for odd characters); - is standard output, "
         "and the summary then goes to standard error")  //
        ("format", text("json|stream"),
         "text to be read, or the compact stream for large schedules (default: stream "
         "if FILE ends in .tsch, else json)")  //
        ("expand", flag(),
         "write out schedules that are too large to hold and repeat under a symmetry of the network; without "
         "it they are written as symmetries and the sends of one chunk, as JSON whatever FILE is called "
         "(docs/symmetric-schedules.md)");
    OptionGroup comparison{"Comparison"};
    comparison.options.add_options()  //
        ("baselines", flag(),
         "say also what the same collectives would take with only members of a group relaying its chunks, "
         "and "
         "one after the other");
    command.groups = std::vector<OptionGroup>{output,
                                              search("search for about this time where a gap is left, and "
                                                     "end with the best schedule so far; exit code 3 "
                                                     "if there is none"),
                                              comparison, common()};
    command.positional = "instance";
    return command;
}

OptionGroup plan_readings() {
    OptionGroup group{"Plans: how they are read"};
    group.options.add_options()  //
        ("as", text("COLLECTIVE"),
         "judge as this collective, whatever the file says: allreduce, allgather, reduce_scatter, alltoall, "
         "broadcast, reduce, gather, scatter, alltonext or custom")                                    //
        ("root", text("RANK"), "of broadcast, reduce, gather, scatter (default: any root that fits)")  //
        ("condition", text("FILE"),
         "what a custom collective starts from and must end with (docs/plan-conditions.md)")  //
        ("operand", text("src|dst"),
         "the local operand of a receive that reduces (default src, as the runtimes have it)")  //
        ("copy", text("ignore|first"),
         "whether <copy> under a gpu is executed before everything else (default ignore, as runtimes do)")  //
        ("strict-dependencies", flag(), "a dependency must name a step with hasdep=1")                      //
        ("strict-descriptors", flag(), "the address halves that no runtime reads must agree too")           //
        ("target", text("NAME"),
         "warn of what this runtime refuses or ignores: msccl, msccl-executor, rccl or mscclpp");
    return group;
}

OptionGroup plan_timing() {
    OptionGroup group{"Plans: on a network"};
    group.options.add_options()  //
        ("group", text("NPU,NPU,..."),
         "rank r of the file is the r-th of these NPUs of a larger job; once for all plans, or once for each "
         "in their order: with a topology those run at once")  //
        ("topology", text("FILE"),
         "say also what the plan takes on this network (anything that 'tutti topology' reads), the lower "
         "bound of its collective there, and the gap")  //
        ("bytes", text("N"),
         "the size of the call, as nccl-tests counts it, for topologies in physical units; 8M is 8388608");
    return group;
}

Command verify_command() {
    Command command;
    command.name = "verify";
    command.summary = "judge schedules and plans, whoever made them";
    command.usage = "FILE-OR-DIR... [options]";
    command.about =
        "Judges execution plans of other tools, and schedules of our own together with their\n"
        "instance. The content of a file tells what it is; files may come in any order, and one\n"
        "of them may be - for standard input.\n\n"
        "A plan (MSCCL XML and others, docs/) says by itself what its GPUs do. The\n"
        "verdict holds for every interleaving that the runtime may take:\n"
        "  VALID              no deadlock, no race, and the result is right\n"
        "  VALID-IF-BUFFERED  right, but it can hang on connections as short as the protocol's\n"
        "  STRUCTURE-ONLY     nothing is wrong, but the file does not say what its result should\n"
        "                     be (custom collectives; --as or --condition says it)\n"
        "  INVALID            with the reason: the two steps that race, the circle of waits, ...\n"
        "  MALFORMED          it cannot be read, with the place\n"
        "A folder is searched for *.xml, *.json and *.csv, and gives one table; what is no plan is\n"
        "skipped, and the exit code is 1 if anything is wrong.\n\n"
        "A schedule is VALID, or INVALID with every broken rule in words: its number (V1 to V18,\n"
        "see src/verify/README.md), the tick and the sends. Streams (.tsch) of any length are\n"
        "judged without being held.\n\n"
        "With --json there is one object per file, a line each. The exit code is 2 if any file is\n"
        "malformed, else 1 if any is invalid, else 0; plans that need buffers, and those whose\n"
        "result nobody states, are not invalid.\n";
    command.examples =
        "tutti verify algo.xml\n"
        "tutti verify algo.xml --as alltoall --target msccl-executor\n"
        "tutti verify algo.xml --topology dgx1.json --bytes 64M\n"
        "tutti verify schedules/ --json\n"
        "tutti verify mesh3x3.json mesh3x3.schedule.json\n"
        "tutti verify --instance mesh3x3.json mine.json theirs.tsch --json\n";
    OptionGroup verify{"Verification"};
    verify.options.add_options()                                                                       //
        ("instance", text("FILE"), "the instance, if all other files are schedules")                   //
        ("max-violations", text("N"), "spell out at most N violations (default 20); all are counted")  //
        ("threads", text("N"), "plans judged at a time (default: one for each core)")                  //
        ("expand", flag(), "judge schedules in generator form send by send, not by their symmetry");
    command.groups = std::vector<OptionGroup>{verify, plan_readings(), plan_timing(), common()};
    command.positional = "files";
    return command;
}

Command convert_command() {
    Command command;
    command.name = "convert";
    command.summary = "write a schedule in another format, or as a plan for a runtime";
    command.usage = "INSTANCE SCHEDULE -o FILE [options]";
    command.about =
        "Reads a schedule (JSON, stream or generator form), verifies it against its instance, and\n"
        "writes it anew. An invalid schedule is not written: the exit code is then 1, and tutti\n"
        "verify says what is wrong with it. Formats:\n"
        "  json, stream  all sends, as tutti reads them\n"
        "  msccl-xml     thread blocks, channels, steps and dependencies for MSCCL's runtimes\n"
        "  mscclpp-json  an execution plan for MSCCL++ 0.9\n"
        "  sccl-json     steps of sends, as SCCL and TACCL write them; of all collectives\n"
        "  chakra        traces for ASTRA-sim, FILE.0.et, FILE.1.et, ...; of all collectives\n"
        "  perfetto      a trace to look at: links as tracks, for ui.perfetto.dev and\n"
        "                chrome://tracing (docs/results.md)\n"
        "Plans are verified once more, as plans, before the file appears. In the other formats\n"
        "each collective is a plan of its own; those that plan files have no name for come with\n"
        "a condition beside them (FILE.condition.json), with which tutti verify can judge them.\n"
        "What a plan cannot say is refused with the reason; docs/writing-plans.md tells the rest.\n"
        "\n"
        "With --directory several schedules become a folder of plans that a runtime can be\n"
        "pointed at. Plans of one collective for different sizes share the sizes.\n";
    command.examples =
        "tutti convert mesh3x3.json mesh3x3.schedule.json -o mesh3x3.tsch\n"
        "tutti convert mesh3x3.json mesh3x3.tsch --to json -o - | less\n"
        "tutti convert dgx1.json dgx1.schedule.json -o allreduce.xml --target rccl\n"
        "tutti convert small.json small.schedule.json large.json large.schedule.json -d algos\n"
        "tutti convert mesh3x3.json mesh3x3.schedule.json --to perfetto -o trace.json\n"
        "tutti convert results/run1 -d algos --target msccl-executor\n";
    OptionGroup output{"Output"};
    output.options.add_options()                                                                          //
        ("output,o", text("FILE"), "where it goes; - is standard output")                                 //
        ("directory,d", text("DIR"), "write plans of several schedules, or of a batch's results, there")  //
        ("to", text("FORMAT"),
         "json, stream, msccl-xml, mscclpp-json, sccl-json, chakra or perfetto (default: stream if FILE ends "
         "in "
         ".tsch, msccl-xml if it ends in .xml, else json)");
    OptionGroup plans{"Plans"};
    plans.options.add_options()  //
        ("collective", text("ID"),
         "only this one (default: all; several get the id in their file's name)")                          //
        ("target", text("NAME"), "msccl, msccl-executor (default) or rccl: whose names and limits count")  //
        ("protocol", text("NAME"), "Simple (default), LL or LL128")                                        //
        ("mode", text("MODE"),
         "both (default), in-place or out-of-place: the calls that it shall serve; of both, in-place is "
         "given "
         "up where it cannot be right")                                                         //
        ("min-bytes", text("N"), "the least message that it is for (default 0); 64K, 1M, ...")  //
        ("max-bytes", text("N"), "the largest (default: any)");
    command.groups = std::vector<OptionGroup>{output, plans, common()};
    command.positional = "files";
    return command;
}

Command bound_command() {
    Command command;
    command.name = "bound";
    command.summary = "say how good any schedule can be, and why";
    command.usage = "INSTANCE [options]";
    command.about =
        "Prints lower bounds of the makespan: no schedule of the instance (- is standard\n"
        "input) takes less time. The largest comes first, marked with >. Each has a reason that\n"
        "can be checked without trust, which --json prints in full and docs/bounds.md explains:\n"
        "  latency          the slowest of all fastest ways from a holder to a receiver\n"
        "  ingress, egress  what must pass through the links of one NPU\n"
        "  cut              what must pass from some nodes to the others\n"
        "  volume           all transfers, over all links\n"
        "  flow             all ways, over links of certain lengths\n"
        "  time-expanded    ways through time, over links that are dear at certain ticks\n"
        "A schedule whose makespan meets a bound is optimal.\n";
    command.examples =
        "tutti bound mesh3x3.json\n"
        "tutti bound mesh3x3.json --json\n"
        "tutti bound huge.json --time-limit 10\n";
    OptionGroup search{"Search"};
    search.options.add_options()  //
        ("time-limit", text("SECONDS"), "stop after about this time with the bounds found so far");
    command.groups = std::vector<OptionGroup>{search, common()};
    command.positional = "instance";
    return command;
}

Command topology_command() {
    Command command;
    command.name = "topology";
    command.summary = "show what a topology looks like, and how its links are numbered";
    command.usage = "[KIND | FILE | JSON] [--FIELD VALUE...] [options]";
    command.about =
        "Shows a topology that a generator makes or that a file holds (- is standard\n"
        "input): an instance, a topology, an ASTRA-sim network.yml, or the XML that NCCL\n"
        "writes to NCCL_TOPO_DUMP_FILE. Without arguments it lists the generators.\n"
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

OptionGroup batch_search() {
    OptionGroup group{"Search (lists make a run of every combination)"};
    group.options.add_options()                                                                     //
        ("method", text("LIST"), (method_help() + "\nseveral, with commas: greedy,cpsat").c_str())  //
        ("heuristic", text("LIST"), (heuristic_help() + "\nseveral, with commas").c_str())          //
        ("option", text("NAME=VALUE"), kOptionHelp)                                                 //
        ("chunks", text("LIST"), "in place of the collectives' own, like 1,2,4")                    //
        ("bytes", text("LIST"),
         "the size of a call as nccl-tests counts it, in place of chunk_bytes, like 1K,1M,1G; for networks "
         "with bandwidths")                                                                    //
        ("seeds", text("LIST"), "of the random choices (default 1), like 1,2,3; also --seed")  //
        ("seed", text("N"), "the same with one of them")                                       //
        ("threads", text("N"), "threads for one synthesis (default 1)")                        //
        ("time-limit", text("SECONDS"),
         "for each instance; one that goes on for longer (by a quarter, at least 2 s) is killed")  //
        ("memory-limit", text("MB"),
         "for each instance, also like 4G; the search ends with the best schedule so far when it comes near "
         "the limit, and is killed beyond it");
    return group;
}

Command batch_command() {
    Command command;
    command.name = "batch";
    command.summary = "synthesize and verify many instances, print one table";
    command.usage = "PATH... [-o DIR] [options]";
    command.about =
        "Solves every instance, each in a process of its own, prints one table and writes below\n"
        "the results folder: results.jsonl (a line per instance, on the disk as soon as it is\n"
        "done), schedules/, table.txt and run.json. A PATH is an instance, a folder (searched for\n"
        "*.json, but not *.schedule.json nor folders called schema), a pattern in quotes, a .test\n"
        "file that lists instances, or a .solu file that names them.\n"
        "An instance that fails, crashes or exceeds its limits is a row with its error, and the\n"
        "exit code is then 1. So is a result that contradicts a value in FOLDER/FOLDER.solu or\n"
        "FOLDER.solu. Ctrl-C ends the run after what is done so far is written (exit code 130);\n"
        "--resume goes on with it, also after a crash. docs/batch.md has more.\n"
        "Times are in ticks, which are 1 ps for instances in physical units. Without a time\n"
        "limit, auto looks for a proof for a minute where greedy does not meet the bound.\n";
    command.examples =
        "tutti batch instances --time-limit 2\n"
        "tutti batch instances/mesh 'more/*/ring*.json' -o results/mine --time-limit 60\n"
        "tutti batch --resume -o results/mine\n"
        "tutti batch dgx.json --bytes 1K,1M,1G --method greedy,cpsat -o results/sweep\n"
        "tutti batch instances --shard $SLURM_ARRAY_TASK_ID/8 -o results/all-$SLURM_ARRAY_TASK_ID\n";
    OptionGroup what{"Selection and results"};
    what.options.add_options()  //
        ("set", text("FILE.test"),
         "only the instances that this file lists, a path per line, relative to its folder or the one "
         "above")                                                                                     //
        ("run", text("FILE.json"), "a run as a file (docs/batch.md); the command line overrules it")  //
        ("output,o", text("DIR"),
         "where results go (default results/<time>); nothing there is deleted, but an earlier "
         "results.jsonl becomes results.jsonl.old")           //
        ("results", text("DIR"), "the old name of --output")  //
        ("resume", flag(),
         "go on with the run in DIR: what has a line there is not done again, unless its file has changed; "
         "without PATHs all is as in that run")                         //
        ("retry-failed", flag(), "--resume, but do again what failed")  //
        ("shard", text("I/N"),
         "only every Nth task, beginning with the Ith: one part of a run of N parts")               //
        ("jobs", text("N"), "cores to use (default all); a task of several threads takes as many")  //
        ("update-solu", flag(), "write proven and best values into the .solu files")                //
        ("no-report", flag(), "do not make the page report.html");
    command.groups = std::vector<OptionGroup>{what, batch_search(), common()};
    command.positional = "paths";
    return command;
}

OptionGroup results_show() {
    OptionGroup group{"Show"};
    group.options.add_options()  //
        ("sort", text("COLUMN"),
         "label (default), gap, seconds, makespan, memory or busbw; -gap is the largest first")         //
        ("reverse", flag(), "the other way round")                                                      //
        ("filter", text("TEXT"), "only rows with this text in their key, label, method or collective")  //
        ("failed", flag(), "only failures")                                                             //
        ("csv", flag(), "write CSV, a column for each key of results.jsonl");
    return group;
}

Command results_command() {
    Command command;
    command.name = "results";
    command.summary = "show what batches found, compare two, merge several";
    command.usage = "show|compare|merge RUN... [options]";
    command.about =
        "A RUN is a results folder of tutti batch, or its results.jsonl.\n\n"
        "show prints a table: makespan, lower bound and gap; algorithm and bus bandwidth in GB/s\n"
        "as nccl-tests has them, where they are defined; seconds and peak memory; and the\n"
        "failures with their reasons. Every schedule in it was verified, unless it says FAILED.\n\n"
        "compare A B prints what is different in B: better and worse makespans, results that are\n"
        "lost, new, proven optimal, or no more. The exit code is 1 if something is lost, worse\n"
        "than the tolerance allows, or no more proven.\n\n"
        "merge A B ... -o NAME makes one results folder of several, such as the shards of a\n"
        "batch. It says what is missing. docs/results.md tells the rest.\n";
    command.examples =
        "tutti results show results/run1\n"
        "tutti results show results/run1 --sort -gap --filter torus\n"
        "tutti results show results/* --csv -o all.csv\n"
        "tutti results compare results/old results/new --tolerance 0.01\n"
        "tutti results merge results/shard-* -o results/all\n";
    OptionGroup compare{"Compare"};
    compare.options.add_options()                                                                         //
        ("by", text("key|label"), "what pairs: the task (default), or the instance whatever the method")  //
        ("tolerance", text("FRACTION"), "makespans that differ by no more are the same (default 0)")      //
        ("time-tolerance", text("FRACTION"),
         "count it as a regression, too, if the same result took longer than this allows (default: never)");
    OptionGroup merge{"Merge"};
    merge.options.add_options()  //
        ("prefer-last", flag(),
         "if two runs solved different files under one key, take the result of the last run")  //
        ("force", flag(),
         "merge into a folder that holds something; only what has the same name is replaced");
    OptionGroup output{"Output"};
    output.options.add_options()  //
        ("output,o", text("NAME"), "merge: the new folder; show --csv: the file (default: standard output)");
    command.groups = std::vector<OptionGroup>{results_show(), compare, merge, output, common()};
    command.positional = "runs";
    return command;
}

Command view_command() {
    Command command;
    command.name = "view";
    command.summary = "make a page that shows a schedule, or the results of a batch";
    command.usage = "SCHEDULE [INSTANCE] [-o page.html] | RESULTS_FOLDER [-o report.html]";
    command.about =
        "Makes one HTML file that any browser shows without a network: the topology with its\n"
        "links coloured by use, every send on a line of time, chunks as they move, and what proves\n"
        "the lower bound. The schedule (any form) is verified first; an invalid one is not shown,\n"
        "and the exit code is 1. Of a large schedule all sends of some chunks are shown, and the\n"
        "page says how many; sums and loads are always those of all sends. The instance of a\n"
        "schedule below a folder of results need not be named.\n\n"
        "Of a folder that tutti batch wrote it makes report.html anew: the table of results.jsonl,\n"
        "plots, and the schedules that are there.\n";
    command.examples =
        "tutti view ring4.schedule.json ring4.json -o ring4.html\n"
        "tutti view big.tsch big.json --sends 20000\n"
        "tutti view results/latest\n";
    OptionGroup page{"Page"};
    page.options.add_options()                                                               //
        ("instance", text("FILE"), "the schedule's instance, if it is not among the files")  //
        ("output,o", text("FILE"),
         "where the page goes (default: the schedule's name with .html, in this folder; report.html in the "
         "folder of results); - is standard output")  //
        ("sends", text("N"), "show at most N sends (default 100000; of results 4000 each and 300000 in all)");
    command.groups = std::vector<OptionGroup>{page, common()};
    command.positional = "files";
    return command;
}

Command pareto_command() {
    Command command;
    command.name = "pareto";
    command.summary = "find every best trade of latency against bandwidth (SCCL's question)";
    command.usage = "INSTANCE [--point S,R,C] [-o DIR] [options]";
    command.about =
        "SCCL's question: which synchronous algorithms of the instance's one collective are\n"
        "Pareto-optimal? An algorithm has S steps; step s lasts at least one round, R in sum;\n"
        "in a round a pair of NPUs passes as many chunks as it has links (of a faster link:\n"
        "as often as it is as fast as the slowest one, rounded down). C is the number of\n"
        "chunks, as the field 'chunks' counts them; the instance's own is ignored. S is what\n"
        "latency costs, R/C what bandwidth costs. Whatever is better than a row of the table is\n"
        "proven infeasible, by distances and cuts or by a solver; docs/pareto.md says how. An\n"
        "all-reduce is composed of a reduce-scatter and an all-gather. Every algorithm has\n"
        "passed the verifier. Networks with switches are refused. The exit code is 3 if the\n"
        "time limit left something open.\n";
    command.examples =
        "tutti pareto dgx1.json\n"
        "tutti pareto dgx1.json --max-chunks 6 --k 0 -o algorithms\n"
        "tutti pareto dgx1.json --point 2,7,6\n";
    OptionGroup walk{"Walk"};
    walk.options.add_options()  //
        ("point", text("S,R,C"),
         "ask about this one point only: steps, rounds and chunks; \"infeasible\" is an answer too")  //
        ("max-steps", text("N"), "no algorithms of more steps")                                       //
        ("max-rounds", text("N"), "no algorithms of more rounds")                                     //
        ("max-chunks", text("N"),
         "no algorithms of more chunks (default: as many as it takes to meet the bound on R/C, at least 4; 4 "
         "if "
         "that is more than 12)")  //
        ("k", text("K"), "only k-synchronous algorithms: R <= S + K (of an all-reduce: each half)");
    OptionGroup output{"Output"};
    output.options.add_options()  //
        ("output,o", text("DIR"),
         "write each algorithm there, by rounds (NAME-sS-rR-cC.json and .schedule.json, alpha 0) and in "
         "ticks on the "
         "network as it is (NAME-sS-rR-cC.ticks.json and .ticks.schedule.json)");
    OptionGroup search{"Search"};
    search.options.add_options()  //
        ("backend", text("NAME"),
         "the solver: auto, cpsat, highs or z3 (default auto: highs for all-to-all and the like, else "
         "cpsat)")                                           //
        ("seed", text("N"), "of the solver (default 1)")     //
        ("threads", text("N"), "of the solver (default 1)")  //
        ("time-limit", text("SECONDS"),
         "for everything; a question gets a quarter of what remains, and the walk goes on without its "
         "answer");
    command.groups = std::vector<OptionGroup>{walk, output, search, common()};
    command.positional = "instance";
    return command;
}

Command model_command() {
    Command command;
    command.name = "model";
    command.summary = "write the question that exact synthesis asks, for any solver to answer";
    command.usage = "INSTANCE [--horizon T] [-o FILE] [options]";
    command.about =
        "Writes \"is there a schedule of makespan <= T ticks?\" as text: solutions are\n"
        "schedules, and \"infeasible\" proves that every schedule takes longer (a line on\n"
        "standard error says whether it does, and if not why). Check our proofs with a solver of\n"
        "your own, look at a small model, or send its author a hard one. No solver is needed.\n"
        "Names are readable: chunk0.link3.t2 is 1 if chunk 0 starts on link 3 at unit 2,\n"
        "chunk0.at1.t4 if NPU 1 has it by unit 4; a unit is the common divisor of all times.\n"
        "models/README.md has the mathematics, constraint by constraint.\n";
    command.examples =
        "tutti model ring4.json | less\n"
        "tutti model ring4.json --horizon 8 -o ring4.mps\n"
        "tutti model ring4.json --horizon 8 -o ring4.smt2 && z3 ring4.smt2\n"
        "tutti model ring4.json --encoding intervals -o ring4.pbtxt\n";
    OptionGroup question{"Question"};
    question.options.add_options()  //
        ("horizon", text("T"),
         "the makespan allowed, in ticks (default: the best lower bound, see tutti bound)")  //
        ("encoding", text("NAME"),
         "how it is asked (default time-indexed):\n"
         "time-indexed: a Boolean for each chunk, link and time; says everything\n"
         "symmetric: the same, for schedules that repeat under a symmetry of the network; much smaller, but "
         "\"infeasible\" proves nothing\n"
         "intervals: integers for arrival times; small even where times are large, not for every instance");
    OptionGroup output{"Output"};
    output.options.add_options()                                                       //
        ("output,o", text("FILE"), "where the model goes (default: standard output)")  //
        ("format", text("mps|smt2|cpsat"),
         "free MPS, SMT-LIB 2.6, or CP-SAT's CpModelProto as text (default: by FILE's ending, .mps, .smt2, "
         ".pbtxt or "
         ".txt; mps for standard output)");
    command.groups = std::vector<OptionGroup>{question, output, common()};
    command.positional = "instance";
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
    command.examples = "tutti doctor\ntutti doctor --require-all --json\ntutti doctor --options\n";
    OptionGroup check{"Check"};
    check.options.add_options()                                          //
        ("require-all", flag(), "exit code 1 if any solver is missing")  //
        ("options", flag(),
         "list the search options that --option of synth and batch turns, and nothing else");
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
    return {synth_command(), verify_command(),   convert_command(), bound_command(),
            batch_command(), results_command(),  view_command(),    pareto_command(),
            model_command(), topology_command(), doctor_command()};
}

}  // namespace tutti::cli
