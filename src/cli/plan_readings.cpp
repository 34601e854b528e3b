#include "cli/plan_readings.hpp"

#include "cli/option_groups.hpp"

#include <boost/program_options.hpp>

#include <algorithm>
#include <charconv>

namespace tutti::cli {
namespace {

/// "0,8,16,24": different NPUs, by rank.
std::vector<std::int32_t> group_in(const std::string& text, const Values& values) {
    std::vector<std::int32_t> group;
    const char* const last = text.data() + text.size();
    for (const char* at = text.data();; ++at) {
        std::int32_t npu = -1;
        const auto [stop, error] = std::from_chars(at, last, npu);
        const bool fine = error == std::errc() && npu >= 0 && (stop == last || *stop == ',');
        if (!fine || std::ranges::find(group, npu) != group.end()) {
            values.refuse(fmt::format(
                "option --group: expected different NPUs by rank, like 0,8,16,24; found '{}'", text));
        }
        group.push_back(npu);
        if (stop == last) return group;
        at = stop;
    }
}

}  // namespace

OptionGroup plan_readings() {
    OptionGroup group{"Plans: how they are read"};
    group.options.add_options()  //
        ("as", text_value("COLLECTIVE"),
         "judge as this collective, whatever the file says: allreduce, allgather, reduce_scatter, alltoall, "
         "broadcast, reduce, gather, scatter, alltonext or custom")  //
        ("root", text_value("RANK"),
         "of broadcast, reduce, gather, scatter (default: any root that fits)")  //
        ("condition", text_value("FILE"),
         "what a custom collective starts from and must end with (docs/plan-conditions.md); once for all "
         "plans, or once for each in their order (default: NAME.condition.json beside NAME.xml or "
         "NAME.json)")  //
        ("operand", text_value("src|dst"),
         "the local operand of a receive that reduces (default src, as the runtimes have it)")  //
        ("copy", text_value("ignore|first"),
         "whether <copy> under a gpu is executed before everything else (default ignore, as runtimes do)")  //
        ("strict-dependencies", flag(), "a dependency must name a step with hasdep=1")                      //
        ("strict-descriptors", flag(), "the address halves that no runtime reads must agree too")           //
        ("target", text_value("NAME"),
         "warn of what this runtime refuses or ignores: msccl, msccl-executor, rccl (releases before 2026) "
         "or "
         "mscclpp");
    return group;
}

app::PlanOptions plan_reading_options(const Values& values) {
    app::PlanOptions options;
    options.operand_is_destination = values.choice("operand", {"src", "dst"}) == 1;
    options.copies_first = values.choice("copy", {"ignore", "first"}) == 1;
    if (const auto name = values.text("as")) {
        options.goal = kind_in_plan(*name);
        if (!options.goal) (void)values.choice("as", plan_kind_names());
    }
    if (values.flag("root"))
        options.root = Rank(static_cast<std::size_t>(values.number<std::int32_t>("root", 0, 0)));
    options.strict_dependencies = values.flag("strict-dependencies");
    options.strict_descriptors = values.flag("strict-descriptors");
    options.conditions = values.list("condition");
    if (values.flag("target"))
        options.target = static_cast<plan::Target>(values.choice("target", plan::target_names()));
    if (!options.conditions.empty() && options.goal)
        values.refuse("--as and --condition both say what a plan is for; expected one of them");
    return options;
}

std::vector<std::vector<std::int32_t>> group_options(const Values& values) {
    std::vector<std::vector<std::int32_t>> groups;
    for (const std::string& group : values.list("group")) groups.push_back(group_in(group, values));
    return groups;
}

}  // namespace tutti::cli
