#include "app/loaded_plan.hpp"

#include "core/error.hpp"
#include "io/source.hpp"
#include "verify/plan/judged_program.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <variant>

namespace tutti::app {
namespace {

void read_sizes(LoadedPlan& plan) {
    if (const auto* const msccl = std::get_if<plan::MscclPlan>(&*plan.judged.plan)) {
        plan.least_bytes = msccl->min_bytes.value_or(0);
        // As in MSCCL, 0 is no limit.
        if (msccl->max_bytes.value_or(0) > 0) plan.most_bytes = *msccl->max_bytes;
    } else if (const auto* const execution = std::get_if<plan::ExecutionPlan>(&*plan.judged.plan)) {
        constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
        plan.least_bytes = static_cast<std::int64_t>(std::min(execution->min_bytes, kMost));
        plan.most_bytes = static_cast<std::int64_t>(std::min(execution->max_bytes, kMost));
    }
}

}  // namespace

std::uint64_t fingerprint_of(std::string_view text, std::uint64_t seed) {
    // FNV-1a.
    std::uint64_t hash = 0xcbf29ce484222325U ^ seed;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    return hash;
}

const run::Executable* LoadedPlan::in_mode(bool in_place) const {
    const auto found = std::ranges::find(executables, in_place, &run::Executable::in_place);
    return found == executables.end() ? nullptr : &*found;
}

std::unique_ptr<const LoadedPlan> load_plan(const std::string& file) {
    auto plan = std::make_unique<LoadedPlan>();
    JudgeOptions options;
    options.files = {file};
    const PlanJudge judge(options, PlanJudge::OtherFiles::Malformed, true);
    plan->judged = judge.judge(file, 0);
    const plan::PlanVerdict& verdict = plan->judged.verdict;
    if (!verdict.acceptable() || verdict.verdict == plan::PlanClass::StructureOnly) {
        throw InputError(verdict.violations.empty() ? "it is not known what the plan must end with"
                                                    : verdict.violations.front().message,
                         plan->judged.place, file);
    }
    for (const verify::JudgedProgram& program : judge.programs_of(plan->judged))
        plan->executables.push_back(run::executable_of(program));
    if (plan->executables.empty())
        throw InputError("plans of sends have no thread blocks that could run; convert it first", {}, file);
    std::ifstream in(file, std::ios::binary);
    plan->fingerprint = fingerprint_of(std::string(std::istreambuf_iterator<char>(in), {}));
    read_sizes(*plan);
    return plan;
}

}  // namespace tutti::app
