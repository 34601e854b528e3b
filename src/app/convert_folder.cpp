// A folder of plans for a runtime.
//
// Runtimes choose among the loaded files by collective, number of ranks, call mode and message size, and take
// the first that fits. So plans of one collective with the same number of ranks divide the sizes among them:
// each was made for its instance's size, and ranges meet half way (compile/size_ranges). The newer runtimes
// read every file of the folder and fail at the first that is no plan, so the folder may hold nothing else.
// The oldest one compares `inplace` with the call, so a file serves only one mode there, and each mode gets
// its own file.

#include "app/convert_plan.hpp"
#include "app/convert_schedule.hpp"
#include "app/file_kind.hpp"
#include "batch/result_line.hpp"
#include "batch/variant_instance.hpp"
#include "compile/messages.hpp"
#include "compile/places.hpp"
#include "compile/size_ranges.hpp"
#include "io/file_set.hpp"
#include "io/found_results.hpp"
#include "io/instance_json.hpp"
#include "io/json_text.hpp"

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

struct Job {
    FilePair files{};
    Instance instance;
    Schedule schedule{};
};

/// One collective of a job.
struct Candidate {
    const Job* job = nullptr;
    CollectiveId collective{};
    std::int64_t bytes = 0;  ///< of the message that it was made for; 0: its instance does not say
    compile::SizeRange range{};
};

/// What runtimes distinguish plans by, besides the size.
struct Kind {
    std::string coll{};
    std::uint32_t ranks = 0;
    auto operator<=>(const Kind&) const = default;
};

std::string spelled(CollectiveKind goal) {
    const bool named = goal != CollectiveKind::Custom && goal != CollectiveKind::AllToNext;
    return named ? std::string(plan_name_of(goal)) : "custom";
}

std::map<Kind, std::vector<Candidate>> candidates_of(const std::vector<Job>& jobs,
                                                     const std::optional<std::string>& id) {
    std::map<Kind, std::vector<Candidate>> kinds;
    for (const Job& job : jobs) {
        for (const CollectiveId collective : compile::collectives_named(job.instance, id)) {
            const compile::Places places(job.instance, collective);
            Candidate candidate{.job = &job, .collective = collective};
            if (places.chunks() > 0) {
                const std::int64_t chunk = places.demand(0).bytes.count;
                if (__builtin_mul_overflow(chunk, places.chunks_per_loop(), &candidate.bytes)) {
                    throw InputError("messages of more than 2^63 bytes", {}, job.files.instance);
                }
            }
            kinds[{spelled(places.goal()), places.ranks()}].push_back(candidate);
        }
    }
    return kinds;
}

/// Gives each plan its range of sizes. Throws InputError where that is impossible.
void share_sizes(const Kind& kind, std::vector<Candidate>& candidates, const ConvertOptions& options) {
    const compile::MscclLimits& limits = compile::limits_of(options.target);
    std::ranges::sort(candidates, {}, &Candidate::bytes);
    for (std::size_t i = 1; i < candidates.size(); ++i) {
        const Candidate &a = candidates[i - 1], &b = candidates[i];
        if (a.bytes == 0) {
            throw InputError(fmt::format("is one of {} plans for {} among {} ranks, but its instance does "
                                         "not say how large its chunks "
                                         "are (chunk_bytes), so nobody can tell when to use which",
                                         candidates.size(), kind.coll, kind.ranks),
                             {}, a.job->files.instance);
        }
        if (a.bytes == b.bytes) {
            throw InputError(
                fmt::format("is for {} of {} bytes among {} ranks, and so is {}; a runtime uses one",
                            kind.coll, a.bytes, kind.ranks, b.job->files.instance),
                {}, a.job->files.instance);
        }
    }
    std::vector<std::int64_t> sizes;
    for (const Candidate& candidate : candidates) sizes.push_back(candidate.bytes);
    const auto ranges =
        compile::size_ranges(sizes, options.min_bytes.value_or(0),
                             options.max_bytes.value_or(limits.no_max_bytes), limits.max_bytes_inclusive);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        candidates[i].range = ranges[i];
        const auto [least, most] = ranges[i];
        if (most != 0 && least >= most) {
            throw InputError(
                fmt::format("is for {} of {} bytes, but only {} to {} bytes are left for it; see "
                            "--min-bytes and --max-bytes",
                            kind.coll, candidates[i].bytes, least, most),
                {}, candidates[i].job->files.instance);
        }
    }
}

std::string file_name(const Kind& kind, const Candidate& candidate, std::string_view mode) {
    const auto [least, most] = candidate.range;
    return fmt::format("{}-{}n-{}-{}{}.xml", kind.coll, kind.ranks, least,
                       most == 0 ? std::string("up") : fmt::format("{}", most), mode);
}

std::vector<WrittenPlan> made_plans(const Kind& kind, const Candidate& candidate, ConvertOptions options) {
    options.min_bytes = candidate.range.min_bytes;
    options.max_bytes = candidate.range.max_bytes;
    std::vector<WrittenPlan> plans;
    const auto make = [&](std::string_view suffix) {
        WrittenPlan plan{.path = file_name(kind, candidate, suffix)};
        plan.plan =
            make_plan(candidate.job->instance, candidate.job->schedule, candidate.collective, options);
        plan.plan.facts["instance"] = candidate.job->files.instance;
        if (!plan.plan.condition.empty()) {
            plan.condition_path = fs::path(plan.path).replace_extension(".condition.json").string();
        }
        plans.push_back(std::move(plan));
    };
    try {
        if (options.target != plan::Target::Msccl || options.mode != CallMode::Both) {
            make("");
            return plans;
        }
        options.mode = CallMode::OutOfPlace;
        make("-outofplace");
    } catch (const InputError& error) {
        throw error.in_file(candidate.job->files.schedule);
    }
    try {
        options.mode = CallMode::InPlace;
        make("-inplace");
    } catch (const InputError&) {
        // Only an out-of-place plan exists; the file says so.
    }
    return plans;
}

/// The newer runtimes read every file in the folder, so it must hold no others.
void check_folder(const std::string& folder, const std::vector<WrittenPlan>& plans) {
    if (!fs::exists(folder)) return;
    if (!fs::is_directory(folder)) throw InputError("is a file; expected a folder", {}, folder);
    std::set<std::string> names;
    for (const WrittenPlan& plan : plans) {
        names.insert(plan.path);
        names.insert(plan.condition_path);
    }
    for (const auto& entry : fs::directory_iterator(folder)) {
        if (names.contains(entry.path().filename().string())) continue;
        throw InputError(
            "lies in the folder already; runtimes read every file there, so choose an empty folder", {},
            entry.path().string());
    }
}

std::string environment_of(const ConvertOptions& options, const std::vector<WrittenPlan>& plans) {
    if (options.target != plan::Target::Msccl) return fmt::format("MSCCL_ALGO_DIR={}", options.folder);
    std::vector<std::string> paths;
    for (const WrittenPlan& plan : plans) paths.push_back((fs::path(options.folder) / plan.path).string());
    return fmt::format("MSCCL_XML_FILES={}", fmt::join(paths, ":"));
}

}  // namespace

Conversion convert_to_folder(const ConvertOptions& options, const Watch& watch) {
    std::vector<Job> jobs;
    for (const FilePair& files : pairs_of(options.files)) {
        jobs.push_back({files, instance_of(files), {}});
        io::OpenSchedule schedule = io::open_schedule(files.schedule);
        HeldSchedule judged = held_schedule(schedule, jobs.back().instance, watch.stop());
        if (!judged.verdict.valid()) {
            return {.file = files.schedule, .verdict = std::move(judged.verdict)};
        }
        jobs.back().schedule = std::move(judged.schedule);
    }
    std::vector<WrittenPlan> plans;
    for (auto& [kind, candidates] : candidates_of(jobs, options.collective)) {
        share_sizes(kind, candidates, options);
        for (const Candidate& candidate : candidates) {
            for (WrittenPlan& plan : made_plans(kind, candidate, options)) plans.push_back(std::move(plan));
        }
    }
    const std::size_t most = compile::limits_of(options.target).algorithms;
    if (plans.size() > most) {
        throw InputError(
            fmt::format("{} plans, but {} loads {} at most", plans.size(), name_of(options.target), most));
    }
    check_folder(options.folder, plans);
    fs::create_directory(options.folder);
    io::FileSet files(options.folder);
    for (const WrittenPlan& plan : plans) {
        if (!plan.condition_path.empty()) files.write(plan.condition_path, plan.plan.condition);
        files.write(plan.path, plan.plan.text);
    }
    files.commit();
    const std::string environment = environment_of(options, plans);
    for (WrittenPlan& plan : plans) {
        plan.path = (fs::path(options.folder) / plan.path).string();
        if (!plan.condition_path.empty())
            plan.condition_path = (fs::path(options.folder) / plan.condition_path).string();
    }
    return {.plans = std::move(plans), .environment = environment};
}

}  // namespace tutti::app
