#include "io/verdict_json.hpp"

#include "core/outcome.hpp"

#include <fmt/format.h>

namespace tutti::io {

Json violation_json(const Violation& violation) {
    Json json{{"code", code_of(violation.rule)},
              {"rule", fmt::format("V{}", number_of(violation.rule))},
              {"message", violation.message}};
    if (!violation.sends.empty()) json["sends"] = violation.sends;
    if (violation.tick) json["tick"] = violation.tick->count();
    if (violation.link) json["link"] = violation.link->value();
    if (violation.chunk) json["chunk"] = violation.chunk->value();
    if (violation.node) json["node"] = violation.node->value();
    if (!violation.collective.empty()) json["collective"] = violation.collective;
    if (!violation.group.empty()) json["group"] = violation.group;
    return json;
}

Json verdict_json(const std::string& file, const Verdict& verdict, std::optional<Ticks> lower_bound) {
    Json violations = Json::array();
    for (const Violation& violation : verdict.violations) violations.push_back(violation_json(violation));
    Json json{{"file", file},
              {"verdict", verdict.valid() ? "valid" : "invalid"},
              {"violations", std::move(violations)},
              {"violation_count", verdict.violation_count},
              {"makespan", verdict.makespan.count()},
              {"sends", verdict.sends}};
    if (lower_bound) {
        json["lower_bound"] = lower_bound->count();
        // The gap of an invalid schedule is meaningless.
        const auto ratio = verdict.valid() ? gap(verdict.makespan, *lower_bound) : std::nullopt;
        json["gap"] = ratio ? Json(*ratio) : Json(nullptr);
    }
    return json;
}

Json malformed_json(const std::string& file, const InputError& error) {
    Json reason{{"message", error.message()}};
    if (!error.place().empty()) reason["place"] = error.place();
    if (!error.file().empty()) reason["file"] = error.file();
    return Json{{"file", file},
                {"verdict", "malformed"},
                {"violations", Json::array()},
                {"error", std::move(reason)}};
}

}  // namespace tutti::io
