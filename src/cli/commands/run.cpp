#include "app/file_kind.hpp"
#include "app/run_plan.hpp"

#include "cli/algorithm_options.hpp"
#include "cli/heartbeat.hpp"
#include "cli/option_groups.hpp"
#include "cli/plan_readings.hpp"
#include "cli/run_calibrate.hpp"
#include "cli/run_table.hpp"
#include "cli/run_tensor.hpp"
#include "cli/tensor_sizes.hpp"

#include <boost/program_options.hpp>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace tutti::cli {
namespace {

/// The command's own options besides what is common.
struct Request {
    app::RunOptions run{};
    bool csv = false;
    std::string inputs{};                              ///< of a tensor program
    bool f64 = false;                                  ///< likewise
    std::optional<run::KernelMode> kernels{};          ///< likewise
    app::LinkOptions links{};                          ///< likewise
    std::string device{};                              ///< likewise
    bool check = false;                                ///< likewise
    bool no_reference = false;                         ///< likewise
    app::TensorSizes sizes{};                          ///< likewise
    std::optional<app::CalibrateOptions> calibrate{};  ///< measure this machine, and nothing else
    std::vector<std::string> of_programs{};            ///< options given that mean nothing for plans
    std::vector<std::string> of_plans{};  ///< options given that mean nothing for a tensor program
};

OptionGroup call_options();
OptionGroup engine_options();
OptionGroup making_options();
OptionGroup tensor_options();

/// A positive decimal number.
double positive(const Values& values, const std::string& text) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || !(number > 0) || number > 1e9)
        values.refuse(
            fmt::format("option --link: expected LATENCY,GBPS, microseconds and 10^9 bytes per second, "
                        "found '{}'",
                        text));
    return number;
}

void set_links(Request& request, const Values& values) {
    request.links.topology = values.text("topology").value_or("");
    request.device = values.text("device").value_or("");
    request.check = values.flag("check");
    request.no_reference = values.flag("no-reference");
    request.sizes = tensor_sizes(values);
    if (request.sizes != app::TensorSizes{} && values.flag("inputs"))
        values.refuse("expected one of --inputs, which has sizes, and --sizes or --mesh");
    if (const auto link = values.text("link")) {
        const std::size_t comma = std::min(link->find(','), link->size());
        const std::string rest = comma < link->size() ? link->substr(comma + 1) : "";
        request.links.between_all = {positive(values, link->substr(0, comma)), positive(values, rest)};
        if (!request.links.topology.empty()) values.refuse("expected one of --topology and --link");
    }
    if (!request.device.empty() && !request.links.any())
        values.refuse("option --device: expected --topology or --link too: times are predicted on links");
}

std::vector<std::string> options_of_plans(const Values& values) {
    std::vector<std::string> given;
    for (const OptionGroup& group : {call_options(), engine_options(), making_options(), plan_readings()}) {
        for (const auto& option : group.options.options()) {
            const std::string& name = option->long_name();
            const bool also_of_programs =
                name == "iterations" || name == "seed" || name == "processes" || name == "mpi";
            if (!also_of_programs && values.flag(name.c_str())) given.push_back("--" + name);
        }
    }
    return given;
}

app::RunNames run_names(const Values& values) {
    app::RunNames names;
    names.files = values.list("files");
    if (names.files.empty()) values.refuse("expected at least one plan");
    if (values.flag("ranks")) {
        names.algorithm = algorithm_request(values);
    } else {
        names.collective = values.text("collective");
        if (values.flag("set"))
            values.refuse("--set is for algorithms of the library; expected --ranks N too");
    }
    if (values.flag("to")) {
        names.format = values.choice("to", {"msccl-xml", "mscclpp-json"}) == 0
                           ? app::ConvertFormat::MscclXml
                           : app::ConvertFormat::MscclppJson;
    }
    if (values.flag("instances")) names.instances = values.number<std::uint32_t>("instances", 1, 1, 1024);
    return names;
}

app::CalibrateOptions calibrate_options(const Values& values) {
    if (!values.list("files").empty())
        values.refuse("--calibrate measures this machine; expected no file with it");
    return {.output = values.text("output").value_or("-"),
            .threads = values.number<unsigned>("threads", 0, 1, kMostThreads)};
}

Request run_options(const Values& values) {
    Request request;
    if (values.flag("calibrate")) {
        request.calibrate = calibrate_options(values);
        return request;
    }
    if (values.flag("output")) values.refuse("option --output: expected --calibrate with it");
    app::RunOptions& options = request.run;
    options.names = run_names(values);
    options.plan = plan_reading_options(values);
    options.plan.groups = group_options(values);
    options.sizes = byte_sizes(values, "bytes");
    options.counts = comma_list<std::int64_t>(values, "count", "whole numbers from 1 on with commas",
                                              whole_number<std::int64_t>(1, kMostBytes / 8));
    if (values.flag("dtype")) {
        options.types = comma_list<run::ElementType>(
            values, "dtype", fmt::format("types ({})", fmt::join(run::element_type_names(), ", ")),
            run::element_type, run::element_type_names());
    }
    if (values.flag("op")) {
        options.operators = comma_list<run::Operator>(
            values, "op", fmt::format("operators ({})", fmt::join(run::operator_names(), ", ")),
            run::reduction, run::operator_names());
    }
    if (values.flag("mode")) options.in_place = values.choice("mode", {"in-place", "out-of-place"}) == 0;
    options.engine = static_cast<run::Engine>(values.choice("engine", {"pieces", "streams"}));
    options.emulate = values.text("emulate");
    options.together = values.flag("together");
    options.workers = values.number<unsigned>("threads", 0, 1, kMostThreads);
    options.piece_bytes = byte_size(values, "piece", 1).value_or(0);
    options.iterations = values.number<std::uint32_t>("iterations", 0, 1, 1'000'000);
    options.orders = values.number<std::uint32_t>("orders", 0, 1, 1'000'000);
    options.seed = values.number<std::uint64_t>("seed", 1, 0);
    options.anyway = values.flag("anyway");
    request.inputs = values.text("inputs").value_or("");
    request.f64 = values.flag("f64");
    if (values.flag("kernels"))
        request.kernels =
            static_cast<run::KernelMode>(values.choice("kernels", {"auto", "tiles", "compiled"}));
    set_links(request, values);
    request.of_plans = options_of_plans(values);
    const OptionGroup of_programs = tensor_options();
    for (const auto& option : of_programs.options.options()) {
        if (values.flag(option->long_name().c_str()))
            request.of_programs.push_back("--" + option->long_name());
    }
    request.csv = values.flag("csv");
    if (request.csv && values.flag("json")) values.refuse("expected one of --csv and --json");
    options.processes = values.number<std::uint32_t>("processes", 0, 1, 1024);
    options.private_arrays = values.flag("arrays") && values.choice("arrays", {"shared", "private"}) == 1;
    if (options.private_arrays && options.processes == 0)
        values.refuse("option --arrays: expected --processes with it, which have the arrays");
    if (options.private_arrays && options.engine != run::Engine::Pieces)
        values.refuse("option --arrays: expected --engine pieces with private arrays");
    if (options.processes > 0 && (options.workers > 0 || options.orders > 0 || options.together))
        values.refuse("option --processes: expected neither --threads nor --orders nor --together with it");
    options.mpi = values.flag("mpi");
    if (options.mpi) {
        for (const char* name :
             {"engine", "threads", "orders", "processes", "arrays", "together", "emulate"}) {
            if (values.flag(name))
                values.refuse(
                    fmt::format("--{} means nothing with --mpi: each process of MPI has its ranks, whose "
                                "thread blocks run by themselves",
                                name));
        }
    }
    if (options.orders > 0 && options.together) values.refuse("--orders runs one plan at a time");
    if (options.emulate) {
        for (const char* name : {"engine", "threads", "piece", "orders", "iterations", "processes"}) {
            if (values.flag(name))
                values.refuse(
                    fmt::format("--{} means nothing on emulated links, whose times are exact", name));
        }
    } else if (!options.plan.groups.empty()) {
        values.refuse("--group places ranks on a topology; expected --emulate FILE too");
    }
    return request;
}

/// The files of a tensor program and its schedule, the program first; empty: it is about plans.
std::vector<std::string> program_and_schedule(std::vector<std::string> files) {
    const app::FileKind first = app::kind_of_path(files.front());
    if (first == app::FileKind::TensorSchedule) {
        if (files.size() == 1 || app::kind_of_path(files[1]) != app::FileKind::TensorProgram)
            throw InputError("this is a schedule of a tensor program; expected its program too", {},
                             files.front());
        std::swap(files[0], files[1]);
    } else if (first != app::FileKind::TensorProgram) {
        return {};
    }
    if (files.size() > 2) throw InputError("expected a tensor program, and its schedule where there is one");
    return files;
}

ExitCode run_program(const std::vector<std::string>& files, const Request& request, const Talk& talk,
                     const Process& process) {
    if (!request.of_plans.empty()) {
        throw InputError(fmt::format("{} {} for plans", fmt::join(request.of_plans, " and "),
                                     request.of_plans.size() == 1 ? "is" : "are"),
                         {}, files.front());
    }
    app::RunTensorOptions options{
        .program = files.front(), .inputs = request.inputs, .seed = request.run.seed};
    if (files.size() == 2) options.schedule = files.back();
    if (request.f64) options.precision = run::Precision::F64;
    if (request.kernels) options.kernels = *request.kernels;
    if (request.run.iterations > 0) options.calls = request.run.iterations;
    options.links = request.links;
    options.device = request.device;
    options.check = request.check;
    options.reference = !request.no_reference;
    options.processes = request.run.processes;
    options.mpi = request.run.mpi;
    options.sizes = request.sizes;
    return run_tensor_program(options, talk, process);
}

ExitCode run_run(const Request& request, const Talk& talk, const Process& process) {
    if (request.calibrate) return run_calibrate(*request.calibrate, talk, process);
    if (const auto files = program_and_schedule(request.run.names.files); !files.empty())
        return run_program(files, request, talk, process);
    if (!request.of_programs.empty()) {
        throw InputError(fmt::format("{} {} for tensor programs", fmt::join(request.of_programs, " and "),
                                     request.of_programs.size() == 1 ? "is" : "are"),
                         {}, request.run.names.files.front());
    }
    const Streams& streams = process.streams;
    RunTable table(request.run, streams);
    const bool as_table = !talk.json && !request.csv;
    const app::RunResult result = [&] {
        Heartbeat heartbeat(streams, talk);
        app::RunListener listener;
        listener.begins = [&](const std::string& what) { heartbeat.doing("running " + what); };
        if (!talk.quiet) {
            listener.note = [&](const std::string& note) {
                heartbeat.say(text::safe_text("note: {}", note));
            };
        }
        const auto print = [&](const auto& what) { heartbeat.aside([&] { table.add(what); }); };
        listener.refused = [&](const app::RefusedPlan& plan) { print(plan); };
        if (as_table) {
            listener.call = [&](std::span<const app::RunRow> modes) { print(modes); };
            listener.together = [&](const app::TogetherRow& row) { print(row); };
        }
        return app::run_plans(request.run, heartbeat.watch(process), listener);
    }();
    if (!result.is_first) {
        // One process of MPI prints for all.
    } else if (talk.json) {
        streams.out.print("{}\n", io::json_line(app::json_of(result)));
    } else if (request.csv) {
        streams.out << run_csv(result);
    } else {
        table.end(result);
    }
    if (!result.lost.empty()) {
        streams.err.print("error: {}\n", result.lost);
        return ExitCode::Failed;
    }
    if (!result.complete) {
        streams.err.print("error: interrupted\n");
        return ExitCode::Interrupted;
    }
    const auto malformed = [](const app::RefusedPlan& plan) { return plan.verdict == "malformed"; };
    if (std::ranges::any_of(result.refused, malformed)) return ExitCode::BadInput;
    if (result.any_wrong() || !result.refused.empty()) return ExitCode::Failed;
    return result.any_skipped() ? ExitCode::LimitReached : ExitCode::Done;
}

OptionGroup call_options() {
    OptionGroup calls{"Calls"};
    calls.options.add_options()  //
        ("bytes", text_value("LIST"),
         "sizes of the call, as nccl-tests counts them: 1K,1M or 1K:1G (default: 1M, or the instance's)")  //
        ("count", text_value("LIST"),
         "the same in elements: of a rank's share, or of the buffer where there are no shares")  //
        ("dtype", text_value("LIST"),
         "types of the elements: f16, bf16, f32 (default), f64, i8, u8, i32, i64, u64")               //
        ("op", text_value("LIST"), "sum (default), prod, min, max, avg")                              //
        ("mode", text_value("MODE"), "in-place or out-of-place (default: all that the plan can do)")  //
        ("together", flag(),
         "run all plans also in one call, as process groups of one job do (an instance's "
         "collectives always)")                                                                            //
        ("iterations", text_value("N"), "calls that are timed (default: as many as fit in 0.3 s)")         //
        ("anyway", flag(), "run plans, too, that are wrong or of which nobody knows what they should do")  //
        ("orders", text_value("N"),
         "do not time: run in N random orders of those that the plan allows, which shows what a race does")  //
        ("seed", text_value("N"), "of the data and of the orders (default 1)")  //
        ("csv", flag(), "a line of CSV for each call and mode, with the times below which 10 % and 90 % lie");
    return calls;
}

OptionGroup engine_options() {
    OptionGroup engine{"How"};
    engine.options.add_options()  //
        ("engine", text_value("NAME"),
         "pieces (default): all ranks in one order, part of the elements after part, the fastest where "
         "memory is shared; streams: each thread block by itself, as on GPUs")          //
        ("threads", text_value("N"), "threads that work (default: one for each core)")  //
        ("piece", text_value("BYTES"),
         "how much of each chunk is worked on at a time (default: what suits the caches)")  //
        ("processes", text_value("N"),
         "run in N new processes, each with one or more of the ranks, that share memory; tensor programs, "
         "too")  //
        ("arrays", text_value("WHERE"),
         "of processes: shared (default): in the memory that they share; private: each rank's process has "
         "its own, and they are copied piece by piece")  //
        ("mpi", flag(),
         "by messages between the processes that mpirun started, on one machine or several, each with one "
         "or more of the ranks: mpirun -n 4 tutti run PLAN --mpi; tensor programs, too")  //
        ("emulate", text_value("TOPOLOGY"),
         "let messages take the time that they would take on the links of this network (anything that "
         "'tutti topology' reads, in physical units), whatever this machine is")  //
        ("group", text_value("NPU,NPU,..."),
         "rank r of the plan is the r-th of these NPUs of the network; once for all plans, or once for each");
    return engine;
}

OptionGroup making_options() {
    OptionGroup making{"Programs and schedules: what becomes of them"};
    making.options.add_options()  //
        ("ranks", text_value("N"),
         "a name that is no file is an algorithm of the library ('tutti algorithms'), for so many ranks")  //
        ("collective", text_value("NAME"),
         "of an algorithm: what it does (default all_reduce); of an instance: only the collective with this "
         "id")                                                                 //
        ("set", text_value("NAME=NUMBER"), "a parameter of the algorithm")     //
        ("instances", text_value("N"), "how often the program is replicated")  //
        ("to", text_value("FORMAT"), "msccl-xml (default) or mscclpp-json: as which plan it runs");
    return making;
}

OptionGroup tensor_options() {
    OptionGroup tensor{"Tensor programs"};
    tensor.options.add_options()  //
        ("inputs", text_value("FILE"),
         "numbers for the inputs, sizes, and what the outputs must be (default: drawn with --seed)")  //
        ("sizes", text_value("LIST"), "use these sizes instead of the program's, as N=1000,B=8")      //
        ("mesh", text_value("LIST"), "so many ranks on these axes, as data=3,tensor=2")               //
        ("f64", flag(), "compute every floating value in f64, and compare within 1e-9")               //
        ("kernels", text_value("HOW"),
         "tiles: interpret them; compiled: by the C++ compiler that is found (TUTTI_CXX), kept in the user's "
         "cache; auto (default): compile what is large. All give the same bits")  //
        ("topology", text_value("FILE"),
         "let messages take the time of this network's links (anything that 'tutti topology' reads, in "
         "physical "
         "units), by schedules that are synthesized for it; computing goes on meanwhile")  //
        ("link", text_value("LATENCY,GBPS"),
         "the same with alike links between all ranks: microseconds, and 10^9 bytes per second")  //
        ("device", text_value("FILE"),
         "predict what each kernel takes on such a device and these links, as 'tutti tune' does")  //
        ("check", flag(),
         "run it in a prime field too, at several sizes and numbers of ranks, where every element must be "
         "exactly what the program means")  //
        ("no-reference", flag(),
         "do not compare outputs with what the program means on whole arrays, which takes much longer than "
         "a call: for times of programs that were compared before");
    return tensor;
}

OptionGroup machine_options() {
    OptionGroup machine{"This machine"};
    machine.options.add_options()  //
        ("calibrate", flag(),
         "measure what a thread computes here while all cores do the same (--threads), and write it as a "
         "device "
         "for 'tutti tune --device'")  //
        ("output,o", text_value("FILE"), "where the device goes (default: standard output)");
    return machine;
}

}  // namespace

Command run_command() {
    Command command;
    command.name = "run";
    command.summary = "execute plans on real data, here, and check and time them";
    command.usage = "PLAN... | FOLDER | INSTANCE SCHEDULE | PROGRAM | ALGORITHM | --calibrate";
    command.about =
        "Executes plans (MSCCL XML, MSCCL++ JSON) for all their ranks on data in the memory of\n"
        "this machine, compares every element of every output with what the collective demands,\n"
        "and prints times as nccl-tests does. A plan is judged first, and not run if it is wrong.\n"
        "Schedules and programs are made into plans, as 'tutti convert' and 'tutti compile' do.\n"
        "\n"
        "algbw is the size of the call by its time, busbw that times the collective's factor\n"
        "(docs/plan-costs.md). Of several plans for the same call it is said which is the fastest\n"
        "from which size on. With --emulate the times are those of a network: the same on every\n"
        "machine, and the same as 'tutti verify --topology' computes. docs/run.md has more.\n"
        "\n"
        "A tensor program runs with a thread for each rank of its mesh, in one process or several;\n"
        "with a schedule, after the transformed program has been proven equivalent. Every element\n"
        "of every output is compared with what the program as written means. Times are of kernels,\n"
        "which overlap where the schedule says so. With --topology or --link messages take the time\n"
        "of such links, and no processor: docs/run-tensor.md.\n";
    command.examples =
        "tutti run ring.xml --bytes 1K:1G\n"
        "tutti run ring.xml tree.xml --bytes 4K:64M --dtype f32,bf16 --op sum,max\n"
        "tutti run ring all-pairs --ranks 8 --bytes 4K:64M:4\n"
        "tutti run job.json job.schedule.json\n"
        "tutti run ring.xml tree.xml --emulate dgx1.json --bytes 4K:256M:4\n"
        "tutti run adam.json adam.schedule.json --iterations 5\n"
        "tutti run matmul_block.json overlap.txt --link 5,1 --device here.json --iterations 5\n"
        "tutti run --calibrate -o here.json\n"
        "tutti run plan.json --engine streams --count 1,17,1000003\n"
        "tutti run racy.xml --anyway --orders 100\n";
    command.groups =
        std::vector<OptionGroup>{call_options(),  engine_options(),  making_options(), tensor_options(),
                                 plan_readings(), machine_options(), common_options()};
    command.positional = "files";
    command.parse = parsed_by(run_options, run_run);
    return command;
}

}  // namespace tutti::cli
