#include "names.hpp"

#include "core/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tutti::python {
namespace {

using Names = std::vector<std::string_view>;

/// The position of the name.
std::size_t position(const std::string& name, const Names& names, std::string_view what) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end())
        throw InputError(fmt::format("expected a {} of {}; found '{}'", what, fmt::join(names, ", "), name));
    return static_cast<std::size_t>(found - names.begin());
}

}  // namespace

app::CompileFormat compile_format(const std::string& name) {
    Names names;
    for (const auto& [known, format] : kCompileFormats) names.push_back(known);
    return kCompileFormats[position(name, names, "format")].second;
}

app::ConvertFormat convert_format(const std::string& name) {
    const Names names{"json",   "stream",   "msccl-xml", "mscclpp-json", "sccl-json",
                      "chakra", "perfetto", "nccl-p2p",  "mpi-p2p",      "goal"};
    return static_cast<app::ConvertFormat>(position(name, names, "format"));
}

app::CallMode call_mode(const std::string& name) {
    return static_cast<app::CallMode>(position(name, {"both", "in-place", "out-of-place"}, "mode"));
}

plan::Target plan_target(const std::string& name) {
    return static_cast<plan::Target>(position(name, plan::target_names(), "target"));
}

plan::Protocol plan_protocol(const std::string& name) {
    return static_cast<plan::Protocol>(position(name, {"Simple", "LL", "LL128"}, "protocol"));
}

CollectiveKind plan_goal(const std::string& name) {
    if (const auto kind = kind_in_plan(name)) return *kind;
    (void)position(name, plan_kind_names(), "collective");
    return CollectiveKind::Custom;
}

CollectiveKind collective_kind(const std::string& name) {
    return static_cast<CollectiveKind>(position(name, collective_kind_names(), "collective"));
}

}  // namespace tutti::python
