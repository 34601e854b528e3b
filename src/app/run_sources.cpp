// Whatever is made here is made and judged as `tutti compile` and `tutti convert` do it, and then read back
// as any plan is: what runs is what these commands would have written.

#include "app/run_sources.hpp"

#include "app/condition_file.hpp"
#include "app/convert_plan.hpp"
#include "app/convert_schedule.hpp"
#include "app/file_kind.hpp"
#include "app/judge_plans.hpp"
#include "compile/messages.hpp"
#include "core/call.hpp"
#include "core/error.hpp"
#include "io/atomic_file.hpp"
#include "io/instance_json.hpp"
#include "io/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace tutti::app {
namespace {

namespace fs = std::filesystem;

bool is_folder(const std::string& path) {
    std::error_code ignored;
    return fs::is_directory(path, ignored);
}

bool is_program(const std::string& file) { return file.ends_with(".py") || file.ends_with(".chunks"); }

bool exists(const std::string& path) {
    std::error_code ignored;
    return path == "-" || fs::exists(path, ignored);
}

bool is_algorithm(const std::string& name) {
    return std::ranges::any_of(lang::all_algorithms(),
                               [&](const lang::Algorithm* algorithm) { return algorithm->name == name; });
}

bool is_ours(const std::string& file) {
    if (file == "-") return false;
    io::Source source(file);
    try {
        const FileKind kind = kind_of_bytes(source.peek(io::Source::kBlock));
        return kind == FileKind::Instance || kind == FileKind::Schedule;
    } catch (const InputError&) {
        return false;  // whoever reads it says what is wrong
    }
}

}  // namespace

RunSources::RunSources(const RunNames& names, const Watch& watch) {
    std::vector<std::string> ours;
    bool any_algorithm = false;
    for (std::size_t at = 0; at < names.files.size(); ++at) {
        const std::string& file = names.files[at];
        const bool named = names.algorithm.ranks > 0 && !exists(file);
        if (!exists(file) && names.algorithm.ranks == 0 && is_algorithm(file))
            throw InputError("this is an algorithm of the library; expected --ranks N too", {}, file);
        any_algorithm = any_algorithm || named;
        if (named || is_program(file)) {
            const bool python = !named && file.ends_with(".py");
            const std::vector<std::string> arguments(
                names.files.begin() + static_cast<std::ptrdiff_t>(at) + 1, names.files.end());
            add_program(names, file, named, python ? arguments : std::vector<std::string>(), watch);
            if (python) break;
        } else if (is_folder(file)) {
            add_folder(file);
        } else if (is_ours(file)) {
            ours.push_back(file);
        } else {
            plans_.push_back({.path = file, .name = file});
        }
    }
    if (names.algorithm.ranks > 0 && !any_algorithm)
        throw InputError("--ranks is for algorithms of the library, and this is a file", {},
                         names.files.front());
    if (!ours.empty()) add_schedules(names, ours, watch);
}

void RunSources::add_folder(const std::string& folder) {
    for (const std::string& file : candidates_below(folder))
        plans_.push_back({.path = file, .name = file, .named = false});
}

std::string RunSources::new_path(const char* suffix) {
    if (!scratch_) scratch_.emplace("tutti-run");
    return (fs::path(scratch_->path()) / fmt::format("plan{}{}", made_++, suffix)).string();
}

void RunSources::add_program(const RunNames& names, const std::string& program, bool of_library,
                             const std::vector<std::string>& arguments, const Watch& watch) {
    CompileOptions options;
    options.program = program;
    if (of_library) options.algorithm = names.algorithm;
    options.instances = names.instances;
    const bool writes_plans = of_library && lang::algorithm_named(program).plan != nullptr;
    const bool execution = names.format == ConvertFormat::MscclppJson || writes_plans;
    options.format = execution ? CompileFormat::MscclppJson : CompileFormat::MscclXml;
    options.arguments = arguments;
    options.output = new_path(execution ? ".json" : ".xml");
    const Compilation compilation = compile_program(options, watch);
    if (!compilation.findings.empty()) {
        const CompileFinding& finding = compilation.findings.front();
        throw InputError(finding.message, finding.place, program);
    }
    for (std::size_t at = 0; at < compilation.plans.size(); ++at) {
        const CompiledPlan& plan = compilation.plans[at];
        const bool several = compilation.plans.size() > 1;
        plans_.push_back(
            {.path = plan.path, .name = several ? fmt::format("{} ({})", program, at + 1) : program});
    }
}

void RunSources::add_schedules(const RunNames& names, const std::vector<std::string>& files,
                               const Watch& watch) {
    const auto is_instance = [](const std::string& file) { return kind_of_path(file) == FileKind::Instance; };
    if (std::ranges::none_of(files, is_instance))
        throw InputError("this is a schedule of tutti's own; expected its instance too", {}, files.front());
    const ScheduleFiles ours = instance_and_schedules(files);
    if (ours.schedules.empty())
        throw InputError("this is an instance; expected a schedule of it too", {}, ours.instance);
    const Instance instance = io::read_instance(ours.instance, {}, watch.stop());
    of_instance_ = true;
    for (const std::string& file : ours.schedules) {
        io::OpenSchedule schedule = io::open_schedule(file, watch.stop());
        const HeldSchedule held = held_schedule(schedule, instance, watch.stop());
        if (!held.verdict.valid()) {
            const auto& found = held.verdict.violations;
            plans_.push_back(
                {.name = file, .invalid = found.empty() ? "the schedule is invalid" : found.front().message});
            continue;
        }
        ConvertOptions options;
        options.format = names.format;
        for (const CollectiveId id : compile::collectives_named(instance, names.collective)) {
            const Collective& collective = instance.collective(id);
            const MadePlan made = make_plan(instance, held.schedule, id, options);
            RunSource source{.path = new_path(names.format == ConvertFormat::MscclXml ? ".xml" : ".json"),
                             .name = fmt::format("{} ({})", file, collective.id)};
            if (!made.condition.empty()) io::write_file(condition_beside(source.path), made.condition);
            io::write_file(source.path, made.text);
            for (const NodeId npu : made.npus) source.npus.push_back(static_cast<std::int32_t>(npu.value()));
            const std::size_t ranks = instance.groups()[collective.group.index()].members.size();
            if (const auto bytes = call_bytes(collective, ranks)) source.bytes = bytes->count;
            plans_.push_back(std::move(source));
        }
    }
}

}  // namespace tutti::app
