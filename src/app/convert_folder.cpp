// A folder of plans for a runtime.
//
// The newer runtimes read every file of the folder and fail at the first that is no plan, so the folder may
// hold nothing else. Where groups have different plans for the same calls, a runtime that loaded all of them
// would take the first. Then each NPU gets a folder of its own, npu0, npu1, …, with the plans of its groups.

#include "app/condition_file.hpp"
#include "app/convert_plan.hpp"
#include "app/convert_schedule.hpp"
#include "app/file_kind.hpp"
#include "app/folder_plans.hpp"
#include "app/made_for.hpp"
#include "batch/result_line.hpp"
#include "batch/variant_instance.hpp"
#include "io/file_set.hpp"
#include "io/found_results.hpp"
#include "io/instance_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

namespace tutti::app {
namespace {

namespace fs = std::filesystem;

struct FilePair {
    std::string instance{}, schedule{};
    std::optional<io::ResultLine>
        line{};  ///< of the run that made the schedule; it may have varied the instance
};

std::vector<FilePair> results_in(const std::string& folder) {
    std::vector<FilePair> pairs;
    for (const io::ResultLine& line : io::find_results(folder).lines) {
        if (!line.schedule.empty()) pairs.push_back({line.file, line.schedule, line});
    }
    if (pairs.empty()) throw InputError("no result has a schedule", {}, folder);
    return pairs;
}

Instance instance_of(const FilePair& files) {
    return files.line ? batch::instance_of(batch::task_of(*files.line)) : io::read_instance(files.instance);
}

std::vector<FilePair> pairs_of(const std::vector<std::string>& files) {
    std::vector<FilePair> pairs;
    for (std::size_t i = 0; i < files.size(); ++i) {
        if (fs::is_directory(files[i])) {
            const auto results = results_in(files[i]);
            pairs.insert(pairs.end(), results.begin(), results.end());
            continue;
        }
        if (i + 1 == files.size() || fs::is_directory(files[i + 1])) {
            throw InputError("expected an instance and its schedule, one after the other; this file is alone",
                             {}, files[i]);
        }
        const ScheduleFiles pair = instance_and_schedules({files[i], files[i + 1]});
        pairs.push_back({pair.instance, pair.schedules.front(), {}});
        ++i;
    }
    return pairs;
}

/// Where a plan's file goes: beside all others, or to the folders of its NPUs.
std::vector<std::string> folders_of(const FolderPlan& plan, bool by_npu) {
    if (!by_npu) return {""};
    std::set<NodeId> npus;
    for (const ServedCollective& served : plan.serves) npus.insert(served.npus.begin(), served.npus.end());
    std::vector<std::string> folders;
    for (const NodeId npu : npus) folders.push_back(fmt::format("npu{}", npu.value()));
    return folders;
}

/// Whether groups have different plans for the same calls.
bool needs_folders(std::span<const FolderPlan> plans) {
    std::set<std::string> files;
    return std::ranges::any_of(plans,
                               [&](const FolderPlan& plan) { return !files.insert(plan.file).second; });
}

/// The paths of all files within the folder, and what they say.
using FolderFiles = std::map<std::string, std::string_view>;

FolderFiles files_of(std::span<const FolderPlan> plans, bool by_npu) {
    FolderFiles files;
    for (const FolderPlan& plan : plans) {
        for (const std::string& folder : folders_of(plan, by_npu)) {
            const fs::path path = fs::path(folder) / plan.file;
            files[path.string()] = plan.plan.text;
            if (plan.plan.condition.empty()) continue;
            files[condition_beside(path.string())] = plan.plan.condition;
        }
    }
    return files;
}

/// What a process would find among its plans: all, or those of its NPU.
void check_number(const FolderFiles& files, plan::Target target) {
    const std::size_t most = compile::limits_of(target).algorithms;
    std::map<std::string, std::size_t> plans;
    for (const auto& [path, text] : files) {
        if (fs::path(path).extension() == ".xml") ++plans[fs::path(path).parent_path().string()];
    }
    for (const auto& [folder, count] : plans) {
        if (count <= most) continue;
        throw InputError(fmt::format("{} plans{}, but {} loads {} at most", count,
                                     folder.empty() ? "" : " in " + folder, name_of(target), most));
    }
}

/// The newer runtimes read every file in the folder, so it must hold no others.
void check_folder(const std::string& folder, const FolderFiles& files) {
    if (!fs::exists(folder)) return;
    if (!fs::is_directory(folder)) throw InputError("is a file; expected a folder", {}, folder);
    std::set<fs::path> known;
    for (const auto& [path, text] : files) {
        known.insert(path);
        known.insert(fs::path(path).parent_path());
    }
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (known.contains(entry.path().lexically_relative(folder))) continue;
        throw InputError(
            "lies in the folder already; runtimes read every file there, so choose an empty folder", {},
            entry.path().string());
    }
}

std::string environment_of(const std::string& folder, plan::Target target, bool by_npu,
                           std::span<const WrittenPlan> plans) {
    const std::string place = (fs::path(folder) / (by_npu ? "npu$NPU" : "")).string();
    if (target != plan::Target::Msccl) return fmt::format("MSCCL_ALGO_DIR={}", by_npu ? place : folder);
    if (by_npu) return fmt::format("MSCCL_XML_FILES=$(ls {}/*.xml | paste -sd:)", place);
    std::vector<std::string> paths;
    for (const WrittenPlan& plan : plans) paths.push_back(plan.path);
    return fmt::format("MSCCL_XML_FILES={}", fmt::join(paths, ":"));
}

io::Json groups_json(std::span<const ServedCollective> serves) {
    io::Json groups = io::Json::array();
    for (const ServedCollective& served : serves) {
        io::Json npus = io::Json::array();
        for (const NodeId npu : served.npus) npus.push_back(npu.value());
        groups.push_back({{"instance", served.job->instance_file},
                          {"collective", served.job->instance.collective(served.collective).id},
                          {"npus", std::move(npus)}});
    }
    return groups;
}

/// One for each plan; where it lies in several folders, in the first of them.
WrittenPlan written(const FolderPlan& plan, const std::string& folder, bool by_npu) {
    const auto folders = folders_of(plan, by_npu);
    WrittenPlan result{.path = (fs::path(folder) / folders.front() / plan.file).string(), .plan = plan.plan};
    if (!plan.plan.condition.empty()) result.condition_path = condition_beside(result.path);
    result.plan.facts["instance"] = plan.serves.front().job->instance_file;
    result.plan.facts["groups"] = groups_json(plan.serves);
    if (by_npu) result.plan.facts["folders"] = folders;
    std::vector<std::string> ids;
    for (const ServedCollective& served : plan.serves)
        ids.push_back(served.job->instance.collective(served.collective).id);
    if (ids.size() > 1 || by_npu) result.plan.words += fmt::format("; for {}", fmt::join(ids, ", "));
    if (by_npu) result.plan.words += fmt::format("; in {}", fmt::join(folders, ", "));
    return result;
}

void write_files(const std::string& folder, const FolderFiles& files) {
    fs::create_directory(folder);
    io::FileSet set(folder);
    for (const auto& [path, text] : files) set.write(path, text);
    set.commit();
}

}  // namespace

Conversion convert_to_folder(const ConvertOptions& options, const Watch& watch) {
    std::vector<FolderJob> jobs;
    for (const FilePair& files : pairs_of(options.files)) {
        jobs.push_back({files.instance, files.schedule, instance_of(files), {}});
        io::OpenSchedule schedule = io::open_schedule(files.schedule);
        HeldSchedule judged = held_schedule(schedule, jobs.back().instance, watch.stop());
        if (!judged.verdict.valid()) {
            Conversion refused{.file = files.schedule, .verdict = std::move(judged.verdict)};
            refused.notes = notes_on_invalid(files.schedule, schedule, jobs.back().instance, files.instance);
            return refused;
        }
        jobs.back().schedule = std::move(judged.schedule);
    }
    const std::vector<FolderPlan> plans = folder_plans(jobs, options);
    const bool by_npu = needs_folders(plans);
    const FolderFiles files = files_of(plans, by_npu);
    check_number(files, folder_target(options));
    check_folder(options.folder, files);
    write_files(options.folder, files);
    Conversion conversion;
    for (const FolderPlan& plan : plans) conversion.plans.push_back(written(plan, options.folder, by_npu));
    conversion.environment = environment_of(options.folder, folder_target(options), by_npu, conversion.plans);
    return conversion;
}

}  // namespace tutti::app
