#include "app/plan_json.hpp"

#include "io/plan_verdict_json.hpp"

namespace tutti::app {

io::Json json_of(const JudgedPlan& judged, std::span<const std::int32_t> group, const Topology* topology) {
    if (!judged.skipped.empty())
        return {{"file", judged.file}, {"verdict", nullptr}, {"skipped", judged.skipped}};
    io::Json json = io::plan_verdict_json(judged.file, judged.verdict, group);
    if (judged.condition.condition) json["condition"] = judged.condition.file;
    if (judged.right_as) json["right_as"] = plan_name_of(*judged.right_as);
    if (judged.cost) json.update(json_of(*judged.cost, *topology));
    for (const SizedCost& at : judged.sizes) {
        io::Json sized = at.cost ? json_of(*at.cost, *topology)
                                 : io::Json{{"bytes", at.bytes.count}, {"not_timed", at.not_timed}};
        json["sizes"].push_back(std::move(sized));
    }
    if (topology != nullptr && !judged.cost) {
        json.update(io::Json{{"makespan", nullptr}, {"lower_bound", nullptr}, {"gap", nullptr}});
        if (!judged.not_timed.empty()) json["not_timed"] = judged.not_timed;
    }
    if (judged.verdict.verdict == plan::PlanClass::Malformed) {
        json["error"] = judged.verdict.violations.empty() ? "" : judged.verdict.violations.front().message;
        if (!judged.place.empty()) json["place"] = judged.place;
    }
    return json;
}

}  // namespace tutti::app
