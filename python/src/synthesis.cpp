// The search and the lower bounds.

#include "app/bound.hpp"
#include "app/synthesize.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "core/search_options.hpp"

#include <fmt/format.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tutti::python {
namespace {

SearchOptions search_options(const std::map<std::string, double>& values) {
    SearchOptions options;
    for (const auto& [name, value] : values) {
        const SearchOption* const option = find_search_option(name);
        if (option == nullptr)
            throw InputError(
                fmt::format("there is no search option '{}' (docs/options.md lists them)", name));
        if (!option->allows(value)) {
            throw InputError(fmt::format("search option {}: expected {}, found {}", name, option->range(),
                                         option_text(value)));
        }
        option->set(options, value);
    }
    return options;
}

std::string synthesize(const std::string& instance, const std::string& output, const std::string& method,
                       const std::string& heuristic, const std::map<std::string, double>& options,
                       std::uint64_t seed, unsigned threads, std::optional<double> time_limit,
                       std::optional<std::size_t> memory_limit, const nb::object& progress) {
    const app::SynthesisOptions asked{.instance = instance,
                                      .output = output,
                                      .method = method,
                                      .heuristic = heuristic,
                                      .options = search_options(options),
                                      .seed = seed,
                                      .threads = threads,
                                      .time_limit = time_limit,
                                      .memory_limit = memory_limit};
    return stoppable(progress, [&](const app::Watch& watch) {
        return io::json_line(app::json_of(app::synthesize(asked, watch)));
    });
}

std::string bound(const std::string& instance, const std::map<std::string, double>& options,
                  std::optional<double> time_limit, const nb::object& progress) {
    const app::BoundOptions asked{
        .instance = instance, .time_limit = time_limit, .options = search_options(options)};
    return stoppable(progress, [&](const app::Watch& watch) {
        return io::json_line(app::json_of(app::bound(asked, watch)));
    });
}

std::vector<std::pair<std::string, std::string>> named(std::span<const synth::Method> methods) {
    std::vector<std::pair<std::string, std::string>> list;
    for (const synth::Method& method : methods) list.emplace_back(method.name, method.help);
    return list;
}

}  // namespace

void bind_synthesis(nb::module_& module) {
    using namespace nb::literals;
    module.def("synthesize", synthesize, "instance"_a, "output"_a, "method"_a, "heuristic"_a, "options"_a,
               "seed"_a, "threads"_a, "time_limit"_a.none(), "memory_limit"_a.none(), "progress"_a.none(),
               "Files in, JSON out: app::synthesize.");
    module.def("bound", bound, "instance"_a, "options"_a, "time_limit"_a.none(), "progress"_a.none(),
               "File in, JSON out: app::bound.");
    module.def("methods", [] { return named(synth::methods()); });
    module.def("heuristics", [] { return named(synth::heuristics()); });
}

}  // namespace tutti::python
