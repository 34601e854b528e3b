#pragma once

#include "app/judge_options.hpp"
#include "cli/command.hpp"

#include <cstdint>
#include <vector>

namespace tutti::cli {

/// How plans of other tools are read and judged: --as, --root, --condition, --operand, --copy,
/// --strict-dependencies, --strict-descriptors, --target.
[[nodiscard]] OptionGroup plan_readings();
[[nodiscard]] app::PlanOptions plan_reading_options(const Values& values);

/// --group: the NPUs of the ranks, of all plans or of one after the other.
[[nodiscard]] std::vector<std::vector<std::int32_t>> group_options(const Values& values);

}  // namespace tutti::cli
