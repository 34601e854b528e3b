#pragma once

#include "app/compile.hpp"
#include "app/convert_options.hpp"
#include "core/collective.hpp"
#include "plan/target.hpp"

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace tutti::python {

/// The plan formats of tutti.compile, by name. A new one is a line here; Plan.save finds it by its name, and
/// by its suffix if tutti/plans.py gives it one.
inline constexpr std::array kCompileFormats{
    std::pair<std::string_view, app::CompileFormat>{"msccl-xml", app::CompileFormat::MscclXml},
    std::pair<std::string_view, app::CompileFormat>{"mscclpp-json", app::CompileFormat::MscclppJson},
    std::pair<std::string_view, app::CompileFormat>{"nccl-p2p", app::CompileFormat::NcclP2p},
    std::pair<std::string_view, app::CompileFormat>{"mpi-p2p", app::CompileFormat::MpiP2p},
    std::pair<std::string_view, app::CompileFormat>{"trace", app::CompileFormat::Trace},
};

/// Names to values. Each throws InputError with the names that there are.
[[nodiscard]] app::CompileFormat compile_format(const std::string& name);
[[nodiscard]] app::ConvertFormat convert_format(const std::string& name);
[[nodiscard]] app::CallMode call_mode(const std::string& name);
[[nodiscard]] plan::Target plan_target(const std::string& name);
[[nodiscard]] plan::Protocol plan_protocol(const std::string& name);
[[nodiscard]] CollectiveKind plan_goal(const std::string& name);
[[nodiscard]] CollectiveKind collective_kind(const std::string& name);

}  // namespace tutti::python
