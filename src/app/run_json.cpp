#include "app/run_plan.hpp"

namespace tutti::app {
namespace {

io::Json or_null(const std::optional<double>& value) { return value ? io::Json(*value) : io::Json(); }

void add_outcome(io::Json& json, const RunOutcome& outcome) {
    if (!outcome.skipped.empty()) {
        json["skipped"] = outcome.skipped;
        return;
    }
    json.update({{"rounds", outcome.rounds},
                 {"median_us", outcome.median_us},
                 {"p10_us", outcome.low_us},
                 {"p90_us", outcome.high_us},
                 {"algbw_GBps", or_null(outcome.algbw_GBps)},
                 {"busbw_GBps", or_null(outcome.busbw_GBps)},
                 {"compared", outcome.compared},
                 {"wrong", outcome.wrong}});
    if (!outcome.difference) return;
    json["first_wrong"] = {{"rank", outcome.difference->rank.value()},
                           {"element", outcome.difference->element},
                           {"expected", outcome.difference->expected},
                           {"found", outcome.difference->found}};
}

io::Json json_of(const TogetherRow& row) {
    io::Json json{{"plans", row.plans},
                  {"bytes", row.bytes},
                  {"type", run::name_of(row.type)},
                  {"operator", name_of(row.op)}};
    add_outcome(json, row.outcome);
    return json;
}

io::Json json_of(const RunComparison& comparison) {
    io::Json sizes = io::Json::array();
    for (std::size_t at = 0; at < comparison.sizes.size(); ++at) {
        sizes.push_back({{"bytes", comparison.sizes[at]},
                         {"best_us", comparison.best_us[at]},
                         {"fastest", comparison.files[comparison.fastest[at]]}});
    }
    return {{"collective", comparison.collective},
            {"ranks", comparison.ranks},
            {"type", run::name_of(comparison.type)},
            {"operator", name_of(comparison.op)},
            {"files", comparison.files},
            {"sizes", std::move(sizes)}};
}

}  // namespace

io::Json json_of(const RunRow& row) {
    io::Json json{{"file", row.file},
                  {"collective", row.collective},
                  {"ranks", row.ranks},
                  {"bytes", row.bytes},
                  {"count", row.count},
                  {"type", run::name_of(row.type)},
                  {"operator", name_of(row.op)},
                  {"root", row.root ? io::Json(row.root->value()) : io::Json()},
                  {"mode", row.in_place ? "in-place" : "out-of-place"}};
    add_outcome(json, row.outcome);
    return json;
}

io::Json json_of(const RunResult& result) {
    io::Json json{{"rows", io::Json::array()},
                  {"together", io::Json::array()},
                  {"comparisons", io::Json::array()},
                  {"refused", io::Json::array()},
                  {"complete", result.complete}};
    for (const RunRow& row : result.rows) json["rows"].push_back(json_of(row));
    for (const TogetherRow& row : result.together) json["together"].push_back(json_of(row));
    for (const RunComparison& comparison : result.comparisons)
        json["comparisons"].push_back(json_of(comparison));
    for (const RefusedPlan& refused : result.refused)
        json["refused"].push_back(
            {{"file", refused.file}, {"verdict", refused.verdict}, {"reason", refused.reason}});
    return json;
}

}  // namespace tutti::app
