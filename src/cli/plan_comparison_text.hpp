#pragma once

#include "app/judge_plans.hpp"
#include "text/safe_text.hpp"

namespace tutti::cli {

/// Plans at several sizes for people: a table for each collective, with the fastest of each size marked,
/// where another plan becomes the fastest, and what there is to be said of single rows. Empty if no plan was
/// timed.
[[nodiscard]] text::SafeText comparison_page(const app::JudgedPlans& plans, const app::PlanNetwork& network);

/// The same for programs, on one line with its newline.
[[nodiscard]] text::SafeText comparison_line(const app::JudgedPlans& plans, const app::PlanNetwork& network);

}  // namespace tutti::cli
