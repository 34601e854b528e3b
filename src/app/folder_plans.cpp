// Which plans a runtime's folder has.
//
// Runtimes choose among the loaded files by collective, number of ranks, call mode and message size, and take
// the first that fits. So plans of one collective with the same number of ranks divide the sizes among them:
// each was made for its instance's size, and ranges meet half way (compile/size_ranges). The oldest runtime
// compares `inplace` with the call, so a file serves only one mode there, and each mode gets its own file.
//
// Equal groups (all tensor-parallel groups of a job, say) have plans for the same calls. A plan speaks of
// ranks, so where their schedules are the same but for the names of NPUs the plans are the same file, and one
// serves all. Where they differ, each process must see the plan of its own group only.
//
// Custom collectives are called by the place of their file in a list, not chosen; each is a kind of its own.

#include "app/folder_plans.hpp"

#include "app/convert_plan.hpp"
#include "compile/messages.hpp"
#include "compile/part.hpp"
#include "compile/places.hpp"
#include "compile/size_ranges.hpp"
#include "text/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

namespace tutti::app {
namespace {

struct Candidate {
    ServedCollective of{};
    std::int64_t bytes = 0;  ///< of the message that it was made for; 0: its instance does not say
    [[nodiscard]] const FolderJob& job() const { return *of.job; }
};

/// What runtimes distinguish plans by, besides the size.
struct Kind {
    std::string coll{};
    std::uint32_t ranks = 0;
    bool is_custom = false;
    auto operator<=>(const Kind&) const = default;
};

Kind kind_of(const compile::Places& places, const Collective& collective) {
    const bool named = places.goal() != CollectiveKind::Custom && places.goal() != CollectiveKind::AllToNext;
    return {named ? std::string(plan_name_of(places.goal()))
                  : fmt::format("custom-{}", text::file_name_of(collective.id)),
            places.ranks(), !named};
}

std::int64_t message_bytes(const compile::Places& places) {
    std::int64_t bytes = 0;
    if (places.chunks() == 0) return bytes;
    if (__builtin_mul_overflow(places.demand(0).bytes.count, places.chunks_per_loop(), &bytes)) {
        throw InputError("messages of more than 2^63 bytes");
    }
    return bytes;
}

using Candidates = std::map<Kind, std::vector<Candidate>>;

void add_candidates(const FolderJob& job, const std::optional<std::string>& id, Candidates& kinds) {
    for (const CollectiveId collective : compile::collectives_named(job.instance, id)) {
        try {
            compile::Part part = compile::part_of(job.instance, job.schedule, collective);
            const compile::Places places(job.instance, part);
            kinds[kind_of(places, job.instance.collective(collective))].push_back(
                {{&job, collective, std::move(part.npus)}, message_bytes(places)});
        } catch (const InputError& error) {
            throw error.in_file(job.schedule_file);
        }
    }
}

void check_sizes_known(const Kind& kind, const std::vector<Candidate>& by_size) {
    if (by_size.front().bytes > 0 || by_size.back().bytes == 0) return;
    throw InputError(
        fmt::format("is one of {} plans for {} among {} ranks, but its instance does not say how "
                    "large its chunks are (chunk_bytes), so nobody can tell when to use which",
                    by_size.size(), kind.coll, kind.ranks),
        {}, by_size.front().job().instance_file);
}

/// The sizes that each of different ones serves; throws where nothing is left for one.
std::map<std::int64_t, compile::SizeRange> shared_sizes(const Kind& kind,
                                                        const std::vector<Candidate>& by_size,
                                                        const ConvertOptions& options) {
    std::vector<std::int64_t> sizes;
    for (const Candidate& candidate : by_size) {
        if (sizes.empty() || sizes.back() != candidate.bytes) sizes.push_back(candidate.bytes);
    }
    const compile::MscclLimits& limits = compile::limits_of(folder_target(options));
    const auto ranges =
        compile::size_ranges(sizes, options.min_bytes.value_or(0),
                             options.max_bytes.value_or(limits.no_max_bytes), limits.max_bytes_inclusive);
    std::map<std::int64_t, compile::SizeRange> range_of;
    for (std::size_t i = 0; i < sizes.size(); ++i) range_of[sizes[i]] = ranges[i];
    for (const Candidate& candidate : by_size) {
        const auto [least, most] = range_of[candidate.bytes];
        if (most == 0 || least < most) continue;
        throw InputError(fmt::format("is for {} of {} bytes, but only {} to {} bytes are left for it; see "
                                     "--min-bytes and --max-bytes",
                                     kind.coll, candidate.bytes, least, most),
                         {}, candidate.job().instance_file);
    }
    return range_of;
}

std::string file_name(const Kind& kind, const compile::SizeRange& range, std::string_view mode) {
    const auto [least, most] = range;
    return fmt::format("{}-{}n-{}-{}{}.xml", kind.coll, kind.ranks, least,
                       most == 0 ? std::string("up") : fmt::format("{}", most), mode);
}

std::string plan_name(const Candidate& candidate) {
    const Instance& instance = candidate.job().instance;
    return fmt::format("{} {}", instance.name(), instance.collective(candidate.of.collective).id);
}

MadePlan made_plan(const Candidate& candidate, ConvertOptions options, const std::string& name) {
    const FolderJob& job = candidate.job();
    options.plan_name = name;
    try {
        return make_plan(job.instance, job.schedule, candidate.of.collective, options);
    } catch (const InputError& error) {
        throw error.in_file(job.schedule_file);
    }
}

/// A process sees the plans of its NPU, and of those with one file name it must be one.
void check_told_apart(const Kind& kind, std::int64_t bytes, std::span<const FolderPlan> plans) {
    std::unordered_map<NodeId, std::size_t> plan_of;
    const auto id = [](const ServedCollective& of) { return of.job->instance.collective(of.collective).id; };
    const auto check = [&](std::size_t i, const ServedCollective& served, NodeId npu) {
        const auto [before, fresh] = plan_of.try_emplace(npu, i);
        if (fresh || before->second == i) return;
        const ServedCollective& other = plans[before->second].serves.front();
        throw InputError(
            fmt::format("collective '{}' is for {} of {} bytes among {} ranks, and so is '{}' of {}, with "
                        "another plan; NPU {} takes part in both, and a runtime uses one",
                        id(served), kind.coll, bytes, kind.ranks, id(other), other.job->instance_file,
                        npu.value()),
            {}, served.job->instance_file);
    };
    for (std::size_t i = 0; i < plans.size(); ++i) {
        for (const ServedCollective& served : plans[i].serves) {
            for (const NodeId npu : served.npus) check(i, served, npu);
        }
    }
}

/// Those that are the same under one name become one; whoever has another one keeps its own name.
std::vector<FolderPlan> distinct_plans(const Kind& kind, std::span<const Candidate> candidates,
                                       const ConvertOptions& options, std::string_view suffix,
                                       bool where_possible = false) {
    const std::string file = file_name(kind, {*options.min_bytes, *options.max_bytes}, suffix);
    std::vector<FolderPlan> plans;
    std::map<std::pair<std::string, std::string>, std::size_t> known;
    for (const Candidate& candidate : candidates) {
        MadePlan made;
        try {
            made = made_plan(candidate, options, plan_name(candidates.front()));
        } catch (const InputError&) {
            if (!where_possible) throw;
            continue;
        }
        const auto [same, fresh] = known.try_emplace({made.text, made.condition}, plans.size());
        if (fresh) {
            if (!plans.empty()) made = made_plan(candidate, options, plan_name(candidate));
            plans.push_back({file, std::move(made), {}});
        }
        plans[same->second].serves.push_back(candidate.of);
    }
    check_told_apart(kind, candidates.front().bytes, plans);
    return plans;
}

/// The plans of equal calls: one for each call mode, and for each group that needs its own.
std::vector<FolderPlan> plans_of(const Kind& kind, std::span<const Candidate> candidates,
                                 const compile::SizeRange& range, ConvertOptions options) {
    options.target = folder_target(options);
    options.min_bytes = range.min_bytes;
    options.max_bytes = range.max_bytes;
    const bool chosen_by_mode = options.target == plan::Target::Msccl && !kind.is_custom;
    if (!chosen_by_mode || options.mode != CallMode::Both) {
        return distinct_plans(kind, candidates, options, "");
    }
    options.mode = CallMode::OutOfPlace;
    std::vector<FolderPlan> plans = distinct_plans(kind, candidates, options, "-outofplace");
    options.mode = CallMode::InPlace;
    // For some only an out-of-place plan exists; the files say so.
    for (FolderPlan& plan : distinct_plans(kind, candidates, options, "-inplace", true)) {
        plans.push_back(std::move(plan));
    }
    return plans;
}

}  // namespace

plan::Target folder_target(const ConvertOptions& options) {
    return options.target.value_or(plan::Target::MscclExecutor);
}

std::vector<FolderPlan> folder_plans(const std::vector<FolderJob>& jobs, const ConvertOptions& options) {
    Candidates kinds;
    for (const FolderJob& job : jobs) add_candidates(job, options.collective, kinds);
    std::vector<FolderPlan> all;
    for (auto& [kind, candidates] : kinds) {
        std::ranges::stable_sort(candidates, {}, &Candidate::bytes);
        check_sizes_known(kind, candidates);
        const auto range_of = shared_sizes(kind, candidates, options);
        for (auto first = candidates.begin(); first != candidates.end();) {
            const auto last = std::find_if(first, candidates.end(),
                                           [&](const Candidate& c) { return c.bytes != first->bytes; });
            for (FolderPlan& plan : plans_of(kind, {first, last}, range_of.at(first->bytes), options)) {
                all.push_back(std::move(plan));
            }
            first = last;
        }
    }
    return all;
}

}  // namespace tutti::app
