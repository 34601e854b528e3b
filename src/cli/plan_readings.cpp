#include "cli/plan_readings.hpp"

#include "cli/option_groups.hpp"

#include <boost/program_options.hpp>

namespace tutti::cli {

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

}  // namespace tutti::cli
