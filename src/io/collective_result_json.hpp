#pragma once

#include "core/collective_result.hpp"
#include "io/json_view.hpp"

#include <vector>

namespace tutti::io {

/// A list of objects with `id`, `kind`, `group`, `ranks`, `release`, `finish`, `bytes`, `algbw_GBps` and
/// `busbw_GBps`; null where there is no value.
[[nodiscard]] Json collective_results_json(const std::vector<CollectiveResult>& results);
/// The way back. Throws InputError.
[[nodiscard]] std::vector<CollectiveResult> read_collective_results(const JsonView& view);

}  // namespace tutti::io
