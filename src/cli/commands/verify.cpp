#include "app/judge.hpp"

#include "cli/option_groups.hpp"
#include "cli/plan_readings.hpp"
#include "cli/tensor_sizes.hpp"
#include "cli/verify.hpp"

#include <boost/program_options.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

namespace tutti::cli {
namespace {

app::PlanOptions plan_options(const Values& values) {
    app::PlanOptions options = plan_reading_options(values);
    options.groups = group_options(values);
    options.topology = values.text("topology");
    return options;
}

/// On a network sizes are those of the plans' calls, and without one that of the instance's.
void set_sizes(app::JudgeOptions& options, const Values& values) {
    auto sizes = byte_sizes(values, "bytes");
    const auto chunks = chunk_counts(values);
    if (chunks.size() > 1) values.refuse("option --chunks: expected one number");
    if (!chunks.empty()) options.variation.chunks = chunks.front();
    std::ranges::sort(sizes);
    const auto repeated = std::ranges::unique(sizes);
    sizes.erase(repeated.begin(), repeated.end());
    if (sizes.size() > 1 && !options.plan.topology)
        values.refuse("plans are compared at several sizes on a network; expected --topology FILE too");
    if (sizes.size() > 1) {
        options.plan.sizes = std::move(sizes);
    } else if (!sizes.empty() && options.plan.topology) {
        options.plan.bytes = sizes.front();
    } else if (!sizes.empty()) {
        options.variation.bytes = Bytes{sizes.front()};
    }
}

app::JudgeOptions verify_options(const Values& values) {
    app::JudgeOptions options;
    options.files = values.list("files");
    options.instance = values.text("instance");
    options.max_violations = values.number<std::size_t>("max-violations", 20, 1);
    options.expand = values.flag("expand");
    options.plan = plan_options(values);
    set_sizes(options, values);
    options.threads = values.number<unsigned>("threads", 0, 1, kMostThreads);
    if (options.files.empty())
        values.refuse("expected a plan, a folder, or an instance and at least one schedule");
    const auto inputs = std::ranges::count(options.files, "-") + (options.instance == "-" ? 1 : 0) +
                        std::ranges::count(options.plan.conditions, "-") +
                        (options.plan.topology == "-" ? 1 : 0);
    if (inputs > 1) values.refuse("only one file can be standard input (-)");
    return options;
}

ExitCode run_verify(const app::JudgeOptions& options, const Talk& talk, const Process& process) {
    const app::FilesToJudge files = app::sorted_files(options);
    const bool has_plans = !files.folders.empty() || !files.plans.empty();
    const auto network = has_plans ? app::network_of(options.plan) : std::nullopt;
    ExitCode worst = ExitCode::Done;
    if (files.ours) worst = verify_schedules(*files.ours, options, talk, process);
    if (!files.folders.empty()) {
        worst = std::max(worst, verify_folders(files, options, network, talk, process));
    } else if (!files.plans.empty()) {
        worst = std::max(worst, verify_plans(files.plans, options, network, talk, process));
    }
    return worst;
}

/// "N=7,1000" and the like, once for each name.
std::map<std::string, std::vector<std::int64_t>> sizes_to_run(const Values& values) {
    std::map<std::string, std::vector<std::int64_t>> sizes;
    const auto whole = whole_number<std::int64_t>(1, std::int64_t{1} << 40);
    for (const std::string& text : values.list("sizes")) {
        const std::size_t equals = text.find('=');
        auto& numbers = sizes[text.substr(0, equals)];
        for (std::size_t at = equals; at != text.npos;) {
            const std::size_t end = text.find(',', at + 1);
            const auto number = whole(std::string_view(text).substr(at + 1, end - at - 1));
            if (!number) numbers.clear();
            if (!number) break;
            numbers.push_back(*number);
            at = end;
        }
        if (equals == 0 || numbers.empty())
            values.refuse(
                fmt::format("option --sizes: expected a name and sizes, as N=7,1000; found '{}'", text));
    }
    return sizes;
}

app::CallOptions call_options(const Values& values) {
    app::CallOptions options;
    options.files = values.list("calls");
    const auto more = values.list("files");
    options.files.insert(options.files.end(), more.begin(), more.end());
    options.max_violations = values.number<std::size_t>("max-violations", 20, 1);
    for (const std::string& file : options.files) {
        if (file.empty()) values.refuse("option --calls has an empty value");
    }
    return options;
}

Call parsed(const Values& values) {
    if (values.flag("calls")) return parsed_by(call_options, verify_calls)(values);
    app::TensorJudgeOptions how;
    how.field = values.flag("field");
    how.sizes = sizes_to_run(values);
    how.mesh = tensor_mesh(values);
    Call call = parsed_by(verify_options, run_verify)(values);
    const auto files = values.list("files");
    call.run = [files, how, talk = call.talk, plain = call.run](const Process& process) {
        auto tensor = app::tensor_files(files);
        if (!tensor) return plain(process);
        tensor->field = how.field;
        tensor->sizes = how.sizes;
        tensor->mesh = how.mesh;
        return verify_tensor(*tensor, talk, process);
    };
    return call;
}

OptionGroup tensor_runs() {
    OptionGroup group{"Tensor programs: runs beside the proof"};
    group.options.add_options()  //
        ("field", flag(),
         "run both on simulated ranks, too: exactly, in a prime field, with 1 to 5 ranks on every axis and "
         "sizes "
         "that do not divide, and in f64")  //
        ("sizes", text_value("NAME=LIST"),
         "run at these sizes of a named size, as N=7,1000; once for each name")  //
        ("mesh", text_value("LIST"), "run with so many ranks on these axes, as data=3,tensor=2");
    return group;
}

OptionGroup plan_timing() {
    OptionGroup group{"Plans: on a network"};
    group.options.add_options()  //
        ("group", text_value("NPU,NPU,..."),
         "rank r of the file is the r-th of these NPUs of a larger job; once for all plans, or once for each "
         "in their order: with a topology those run at once")  //
        ("topology", text_value("FILE"),
         "say also what the plan takes on this network (anything that 'tutti topology' reads), the lower "
         "bound of its collective there, and the gap")  //
        ("bytes", text_value("LIST"),
         "the size of the call, as nccl-tests counts it, for topologies in physical units; 8M, 8MB and 8MiB "
         "are 8388608. "
         "Several with commas, or 1K:1G for every double from 1K to 1G, give one table of all plans at all "
         "sizes, with the size from which on another plan is the fastest. "
         "Without a topology: the size of an instance's collectives, in place of what it says")  //
        ("chunks", text_value("N"), "of an instance's collectives, in place of what it says");
    return group;
}

}  // namespace

Command verify_command() {
    Command command;
    command.name = "verify";
    command.summary = "judge schedules and plans, also of other tools";
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
        "A tensor program (docs/tensor-programs.md) with a schedule of it, or with another program,\n"
        "is EQUIVALENT, proven for all sizes and numbers of ranks, or NOT EQUIVALENT, with the\n"
        "output, the value at which the two part, and a run that shows it. REFUSED is a program\n"
        "that does not type and a step that is not allowed (exit code 2), with code and words.\n\n"
        "With --calls it judges the order in which the ranks of a job issue collectives on groups\n"
        "that overlap (docs/call-order.md): deadlocks, with the circle of waits, calls that are\n"
        "missing, and counts, types, roots and members in which ranks differ.\n\n"
        "With --json there is one object per file, a line each. The exit code is 2 if any file is\n"
        "malformed, else 1 if any is invalid, else 0; plans that need buffers, and those whose\n"
        "result nobody states, are not invalid.\n";
    command.examples =
        "tutti verify algo.xml\n"
        "tutti verify algo.xml --as alltoall --target msccl-executor\n"
        "tutti verify algo.xml --topology dgx1.json --bytes 64M\n"
        "tutti verify ring.xml tree.xml --topology dgx1.json --bytes 64K,1G\n"
        "tutti verify schedules/ --json\n"
        "tutti verify mesh3x3.json mesh3x3.schedule.json\n"
        "tutti verify --instance mesh3x3.json mine.json theirs.tsch --json\n"
        "tutti verify dgx1.json big.schedule.json --bytes 64M --chunks 4\n"
        "tutti verify adam.json best.schedule.json --field\n"
        "tutti verify adam.json mine.json --sizes N=7,1000 --mesh data=3\n"
        "tutti verify --calls calls.json\n"
        "tutti verify --calls traces/ --json\n";
    OptionGroup verify{"Verification"};
    verify.options.add_options()                                                            //
        ("instance", text_value("FILE"), "the instance, if all other files are schedules")  //
        ("max-violations", text_value("N"),
         "spell out at most N violations (default 20); all are counted")  //
        ("calls", text_value("FILE-OR-DIR"),
         "judge what the ranks issue, in this file or in these execution traces (Chakra, PyTorch; one for "
         "each rank, or a folder of them)")                                                  //
        ("threads", text_value("N"), "plans judged at a time (default: one for each core)")  //
        ("expand", flag(), "judge schedules in generator form send by send, not by their symmetry");
    command.groups =
        std::vector<OptionGroup>{verify, plan_readings(), plan_timing(), tensor_runs(), common_options()};
    command.positional = "files";
    command.parse = parsed;
    return command;
}

}  // namespace tutti::cli
