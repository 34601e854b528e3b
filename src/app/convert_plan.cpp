#include "app/convert_plan.hpp"

#include "app/bug.hpp"
#include "app/condition_file.hpp"
#include "compile/chakra_lowering.hpp"
#include "compile/messages.hpp"
#include "compile/step_lowering.hpp"
#include "io/atomic_file.hpp"
#include "io/chakra_et.hpp"
#include "io/sccl_json.hpp"
#include "text/format.hpp"
#include "verify/plan/plan_verifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace tutti::app {
namespace {

namespace fs = std::filesystem;

/// "dir/algo.xml" and "ar": "dir/algo.ar.xml".
std::string with_part(const std::string& path, const std::string& part) {
    const fs::path file(path);
    const std::string name = file.stem().string() + "." + part + file.extension().string();
    return (file.parent_path() / name).string();
}

}  // namespace

MadePlan make_plan(const Instance& instance, const Schedule& schedule, CollectiveId collective,
                   const ConvertOptions& options) {
    const auto format = std::ranges::find(plan_formats(), options.format, &PlanFormat::format);
    if (format == plan_formats().end()) throw InternalError("a format of plans has no row in the table");
    try {
        return format->make(instance, schedule, collective, options);
    } catch (const InputError& error) {
        const std::string& id = instance.collective(collective).id;
        throw InputError(
            fmt::format("collective '{}' cannot be written as {}: {}", id, format->name, error.message()),
            error.place(), error.file());
    } catch (...) {
        rethrow_with_instance(instance);
    }
}

WrittenPlan convert_to_chakra(const Instance& instance, const Schedule& schedule, const std::string& prefix) {
    const plan::ChakraTraces traces = compile::lower_to_chakra(instance, schedule);
    io::write_chakra(traces, prefix);
    const std::size_t npus = traces.npus.size();
    WrittenPlan written{.path = prefix};
    written.plan.words =
        fmt::format("traces of {} NPUs, {}.0.et to {}.{}.et", npus, prefix, prefix, npus - 1);
    written.plan.facts = {{"npus", npus}};
    return written;
}

WrittenPlan convert_to_steps(const Instance& instance, const Schedule& schedule, const std::string& path) {
    const plan::ScclPlan plan = compile::lower_to_steps(instance, schedule);
    const plan::PlanVerdict verdict = verify::verify(plan);
    if (verdict.verdict != plan::PlanClass::Valid) {
        try {
            throw InternalError(
                fmt::format("the steps are {}: {}", name_of(verdict.verdict),
                            verdict.violations.empty() ? "" : verdict.violations.front().message));
        } catch (...) {
            rethrow_with_instance(instance);
        }
    }
    io::write_file(path, io::sccl_json_text(plan));
    WrittenPlan written{.path = path};
    const bool stepped = plan.clock == plan::SendClock::Steps;
    written.plan.words =
        fmt::format("{} sends among {} NPUs {}, verified", plan.sends.size(), plan.nodes,
                    stepped ? fmt::format("in {} steps", plan.rounds.size())
                            : std::string("with times in TACCL's manner, which give their order only"));
    if (!verdict.warnings.empty()) {
        written.plan.words += fmt::format("; a warning: {}", verdict.warnings.front().message);
    }
    written.plan.facts = {{"npus", plan.nodes},
                          {"sends", plan.sends.size()},
                          {"clock", plan::name_of(plan.clock)},
                          {"verdict", "valid"}};
    return written;
}

std::vector<WrittenPlan> convert_to_plans(const Instance& instance, const Schedule& schedule,
                                          const ConvertOptions& options) {
    const auto collectives = compile::collectives_named(instance, options.collective);
    if (collectives.size() > 1 && options.output == "-") {
        throw InputError(
            fmt::format("the instance has {} collectives, each a file of its own; name one with "
                        "--collective ID, or give --output a file's name",
                        collectives.size()));
    }
    std::vector<WrittenPlan> plans;
    std::set<std::string> paths;
    for (const CollectiveId collective : collectives) {
        const std::string part = text::file_name_of(instance.collective(collective).id);
        WrittenPlan plan{.path = collectives.size() > 1 ? with_part(options.output, part) : options.output};
        if (!paths.insert(plan.path).second) {
            throw InputError(
                fmt::format("two collectives would have the file name {}; choose one with "
                            "--collective ID",
                            plan.path));
        }
        plan.plan = make_plan(instance, schedule, collective, options);
        const bool has_file = plan.path != "-" && !plan.plan.condition.empty();
        if (has_file) plan.condition_path = condition_beside(plan.path);
        plans.push_back(std::move(plan));
    }
    for (const WrittenPlan& plan : plans) {
        if (!plan.condition_path.empty()) io::write_file(plan.condition_path, plan.plan.condition);
        io::write_file(plan.path, plan.plan.text);
    }
    return plans;
}

}  // namespace tutti::app
