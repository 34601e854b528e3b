#include "io/collective_result_json.hpp"

#include <limits>

namespace tutti::io {
namespace {

template <class T>
Json value_or_null(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}

std::optional<JsonView> non_null(const JsonView& view, std::string_view field) {
    auto found = view.find(field);
    return found && !found->json().is_null() ? found : std::nullopt;
}

std::int64_t whole(const JsonView& view) { return view.integer(0, std::numeric_limits<std::int64_t>::max()); }

CollectiveResult read_collective_result(const JsonView& view) {
    CollectiveResult result;
    result.id = view.at("id").string();
    result.kind = *kind_named(collective_kind_names()[view.at("kind").choice(collective_kind_names())]);
    result.group = view.at("group").string();
    result.ranks = static_cast<std::uint64_t>(whole(view.at("ranks")));
    if (const auto release = non_null(view, "release")) result.release = Ticks(whole(*release));
    result.finish = Ticks(whole(view.at("finish")));
    if (const auto bytes = non_null(view, "bytes")) result.bytes = static_cast<std::uint64_t>(whole(*bytes));
    if (const auto algbw = non_null(view, "algbw_GBps")) result.algbw_GBps = algbw->number(0, 1e18);
    if (const auto busbw = non_null(view, "busbw_GBps")) result.busbw_GBps = busbw->number(0, 1e18);
    return result;
}

}  // namespace

Json collective_results_json(const std::vector<CollectiveResult>& results) {
    Json list = Json::array();
    for (const CollectiveResult& result : results) {
        list.push_back({{"id", result.id},
                        {"kind", name_of(result.kind)},
                        {"group", result.group},
                        {"ranks", result.ranks},
                        {"release", result.release.count()},
                        {"finish", result.finish.count()},
                        {"bytes", value_or_null(result.bytes)},
                        {"algbw_GBps", value_or_null(result.algbw_GBps)},
                        {"busbw_GBps", value_or_null(result.busbw_GBps)}});
    }
    return list;
}

std::vector<CollectiveResult> read_collective_results(const JsonView& view) {
    std::vector<CollectiveResult> results;
    for (const JsonView& element : view.elements()) results.push_back(read_collective_result(element));
    return results;
}

}  // namespace tutti::io
