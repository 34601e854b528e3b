// Schedules and programs made into plans.

#include "app/compile.hpp"
#include "app/convert.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "names.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tutti::python {
namespace {

std::vector<std::string> compile_formats() {
    std::vector<std::string> names;
    for (const auto& [name, format] : kCompileFormats) names.emplace_back(name);
    return names;
}

std::string compile(const std::string& program, const std::vector<std::string>& arguments,
                    const std::string& output, const std::string& format,
                    const std::optional<std::string>& target, std::optional<std::int64_t> min_bytes,
                    std::optional<std::int64_t> max_bytes, std::optional<std::uint32_t> instances,
                    bool as_custom, std::uint32_t ranks, const std::string& collective,
                    std::optional<bool> in_place, std::uint32_t root,
                    const std::map<std::string, std::int64_t>& parameters, const nb::object& progress) {
    app::CompileOptions options;
    options.program = program;
    options.arguments = arguments;
    options.output = output;
    options.algorithm.kind = collective_kind(collective);
    options.algorithm.ranks = ranks;
    options.algorithm.in_place = in_place;
    options.algorithm.root = root;
    options.algorithm.parameters = parameters;
    options.format = compile_format(format);
    if (target) options.target = plan_target(*target);
    options.min_bytes = min_bytes;
    options.max_bytes = max_bytes;
    options.instances = instances;
    options.as_custom = as_custom;
    return stoppable(progress, [&](const app::Watch& watch) {
        return io::json_line(app::json_of(app::compile_program(options, watch), options));
    });
}

std::string convert(const std::vector<std::string>& files, const std::string& output,
                    const std::string& folder, const std::string& format,
                    const std::optional<std::string>& collective, const std::optional<std::string>& target,
                    const std::string& protocol, const std::string& mode,
                    std::optional<std::int64_t> min_bytes, std::optional<std::int64_t> max_bytes,
                    const std::string& name, const nb::object& progress) {
    app::ConvertOptions options{.files = files, .output = output, .folder = folder};
    options.format = convert_format(format);
    options.collective = collective;
    if (target) options.target = plan_target(*target);
    options.protocol = plan_protocol(protocol);
    options.mode = call_mode(mode);
    options.min_bytes = min_bytes;
    options.max_bytes = max_bytes;
    options.plan_name = name;
    return stoppable(progress, [&](const app::Watch& watch) {
        const app::Conversion conversion = app::convert(options, watch);
        io::Json json = app::json_of(conversion, options);
        // Why a schedule is not converted; the command prints it.
        for (const Violation& violation : conversion.verdict.violations)
            json["violations"].push_back(violation.message);
        return io::json_line(json);
    });
}

}  // namespace

void bind_plans(nb::module_& module) {
    using namespace nb::literals;
    module.def("compile_formats", compile_formats);
    module.def("compile", compile, "program"_a, "arguments"_a, "output"_a, "format"_a, "target"_a.none(),
               "min_bytes"_a.none(), "max_bytes"_a.none(), "instances"_a.none(), "as_custom"_a, "ranks"_a,
               "collective"_a, "in_place"_a.none(), "root"_a, "parameters"_a, "progress"_a.none(),
               "A program or trace file in, plan files and JSON out: app::compile_program.");
    module.def("convert", convert, "files"_a, "output"_a, "folder"_a, "format"_a, "collective"_a.none(),
               "target"_a.none(), "protocol"_a, "mode"_a, "min_bytes"_a.none(), "max_bytes"_a.none(),
               "name"_a, "progress"_a.none(),
               "An instance and its schedule in, plan files and JSON out: app::convert.");
}

}  // namespace tutti::python
