// The table of backends, written out. TUTTI_WITHOUT_<NAME> comes from models/cmake/TuttiBackend.cmake: the
// reason why a module was left out of the build, or an empty text.

#include "models/backends/registry.hpp"

#include "models/backends/module.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

namespace tutti::models {

std::span<const BackendEntry> backends() {
    static constexpr std::array kTable{
        BackendEntry{"cpsat", "OR-Tools CP-SAT", TUTTI_WITHOUT_CPSAT},
        BackendEntry{"highs", "HiGHS", TUTTI_WITHOUT_HIGHS},
        BackendEntry{"z3", "Z3", TUTTI_WITHOUT_Z3},
    };
    return kTable;
}

const BackendEntry* find_backend(std::string_view name) {
    const auto table = backends();
    const auto entry = std::ranges::find(table, name, &BackendEntry::name);
    return entry == table.end() ? nullptr : &*entry;
}

OpenedBackend BackendEntry::open() const {
    const std::string file = fmt::format("tutti_{}.so", name);
    std::string searched;
    for (const std::filesystem::path& folder : module_folders()) {
        std::error_code error;
        if (std::filesystem::exists(folder / file, error)) return open_module(folder / file);
        searched += fmt::format("{}{}", searched.empty() ? "" : ", ", folder.string());
    }
    if (!built()) return {nullptr, std::string(left_out)};
    return {nullptr,
            fmt::format("there is no {} in {} (TUTTI_MODULE_PATH may name another folder)", file, searched)};
}

}  // namespace tutti::models
