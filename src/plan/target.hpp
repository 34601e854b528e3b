#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace tutti::plan {

/// The runtimes that execute plans; they differ in names, limits and the fields they use. All but the last
/// read MSCCL XML.
enum class Target : std::uint8_t {
    Msccl,          ///< microsoft/msccl, the first one (MSCCL_XML_FILES)
    MscclExecutor,  ///< Azure/msccl-executor-nccl (MSCCL_ALGO_DIR)
    Rccl,           ///< RCCL before 2026 (share/rccl/msccl-algorithms); it has removed MSCCL since
    Mscclpp         ///< MSCCL++, which reads JSON
};
inline constexpr int kMscclTargets = 3;

/// "msccl", "msccl-executor", "rccl", "mscclpp".
[[nodiscard]] std::string_view name_of(Target target);
/// All names, in the order of the enumeration.
[[nodiscard]] std::vector<std::string_view> target_names();
/// The names of those that read MSCCL XML.
[[nodiscard]] std::vector<std::string_view> msccl_target_names();

}  // namespace tutti::plan
