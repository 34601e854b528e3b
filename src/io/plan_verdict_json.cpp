#include "io/plan_verdict_json.hpp"

namespace tutti::io {
namespace {

void add_place(Json& json, const plan::Place& place, std::span<const std::int32_t> group) {
    if (place.gpu) {
        json["gpu"] = (*place.gpu).value();
        if ((*place.gpu).index() < group.size()) json["npu"] = group[(*place.gpu).index()];
    }
    if (place.block) json["tb"] = (*place.block).value();
    if (place.step) json["step"] = (*place.step).value();
    if (place.inner) json["inner"] = (*place.inner).value();
    if (place.buffer) json["buffer"] = std::string(1, letter_of(*place.buffer));
    if (place.offset) json["offset"] = (*place.offset).value();
}

Json findings_json(const std::vector<plan::PlanFinding>& findings, std::span<const std::int32_t> group) {
    Json list = Json::array();
    for (const plan::PlanFinding& finding : findings) {
        Json json{{"code", finding.code}, {"message", finding.message}};
        add_place(json, finding.place, group);
        if (!finding.others.empty()) {
            Json others = Json::array();
            for (const plan::Place& other : finding.others) {
                Json place = Json::object();
                add_place(place, other, group);
                others.push_back(std::move(place));
            }
            json["others"] = std::move(others);
        }
        list.push_back(std::move(json));
    }
    return list;
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

}  // namespace

Json plan_verdict_json(const std::string& file, const plan::PlanVerdict& verdict,
                       std::span<const std::int32_t> group) {
    const bool read = verdict.verdict != plan::PlanClass::Malformed || verdict.ranks > 0;
    Json json{{"file", file},
              {"verdict", name_of(verdict.verdict)},
              {"violations", findings_json(verdict.violations, group)},
              {"violation_count", verdict.violation_count},
              {"warnings", findings_json(verdict.warnings, group)},
              {"warning_count", verdict.warning_count},
              {"format", text_or_null(verdict.format)},
              {"name", read ? Json(verdict.name) : Json(nullptr)},
              {"collective", text_or_null(verdict.collective)},
              {"mode", text_or_null(verdict.mode)},
              {"root", verdict.root ? Json((*verdict.root).value()) : Json(nullptr)},
              {"ranks", read ? Json(verdict.ranks) : Json(nullptr)},
              {"steps", read ? Json(verdict.steps) : Json(nullptr)},
              {"fifo", nullptr},
              {"own_cost", text_or_null(verdict.own_cost)}};
    if (verdict.fifo) {
        json["fifo"] = Json{{"chunks", verdict.fifo->chunks},
                            {"steps", verdict.fifo->steps},
                            {"capacity", verdict.fifo->capacity}};
    }
    return json;
}

}  // namespace tutti::io
