// The table of backends, written out: self-registering objects in a static library are dropped by the linker
// without a word. TUTTI_WITHOUT_<NAME> comes from models/cmake/TuttiBackend.cmake and holds the reason as
// text.

#include "models/backends/registry.hpp"

#include "models/backends/openers.hpp"

#include <algorithm>
#include <array>

namespace tutti::models {

#ifdef TUTTI_WITHOUT_CPSAT
OpenedBackend open_cpsat() { return {nullptr, TUTTI_WITHOUT_CPSAT}; }
constexpr bool kHasCpsat = false;
#else
constexpr bool kHasCpsat = true;
#endif

#ifdef TUTTI_WITHOUT_HIGHS
OpenedBackend open_highs() { return {nullptr, TUTTI_WITHOUT_HIGHS}; }
constexpr bool kHasHighs = false;
#else
constexpr bool kHasHighs = true;
#endif

#ifdef TUTTI_WITHOUT_Z3
OpenedBackend open_z3() { return {nullptr, TUTTI_WITHOUT_Z3}; }
constexpr bool kHasZ3 = false;
#else
constexpr bool kHasZ3 = true;
#endif

std::span<const BackendEntry> backends() {
    static constexpr std::array kTable{
        BackendEntry{"cpsat", "OR-Tools CP-SAT", kHasCpsat, open_cpsat},
        BackendEntry{"highs", "HiGHS", kHasHighs, open_highs},
        BackendEntry{"z3", "Z3", kHasZ3, open_z3},
    };
    return kTable;
}

const BackendEntry* find_backend(std::string_view name) {
    const auto table = backends();
    const auto entry = std::ranges::find(table, name, &BackendEntry::name);
    return entry == table.end() ? nullptr : &*entry;
}

}  // namespace tutti::models
