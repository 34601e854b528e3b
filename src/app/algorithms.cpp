#include "app/algorithms.hpp"

#include "lang/library.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tutti::app {
namespace {

std::vector<const lang::Algorithm*> chosen(const std::string& name) {
    if (!name.empty()) return {&lang::algorithm_named(name)};
    return lang::all_algorithms();
}

std::vector<std::string_view> kinds_of(const lang::Algorithm& algorithm) {
    std::vector<std::string_view> kinds;
    for (const CollectiveKind kind : algorithm.kinds) kinds.push_back(name_of(kind));
    return kinds;
}

}  // namespace

io::Json library_json(const std::string& name) {
    io::Json all = io::Json::array();
    for (const lang::Algorithm* algorithm : chosen(name)) {
        io::Json parameters = io::Json::array();
        for (const lang::Parameter& parameter : algorithm->parameters) {
            parameters.push_back({{"name", parameter.name},
                                  {"about", parameter.about},
                                  {"default", parameter.normal},
                                  {"least", parameter.least},
                                  {"most", parameter.most}});
        }
        all.push_back({{"name", algorithm->name},
                       {"about", algorithm->about},
                       {"source", algorithm->source},
                       {"collectives", kinds_of(*algorithm)},
                       {"parameters", std::move(parameters)}});
    }
    return all;
}

std::string library_text(const std::string& name) {
    std::string text;
    for (const lang::Algorithm* algorithm : chosen(name)) {
        text += fmt::format("{}\n  {}\n  collectives  {}\n", algorithm->name, algorithm->about,
                            fmt::join(kinds_of(*algorithm), ", "));
        for (const lang::Parameter& parameter : algorithm->parameters) {
            text += fmt::format("  --set {}={}  {} ({} to {})\n", parameter.name, parameter.normal,
                                parameter.about, parameter.least, parameter.most);
        }
        text += fmt::format("  source       {}\n", algorithm->source);
    }
    return text;
}

}  // namespace tutti::app
