#pragma once

#include "core/stop.hpp"
#include "io/json_view.hpp"
#include "tensor/schedule.hpp"

#include <string>

namespace tutti::io {

/// Reads a schedule of a tensor program (instances/schema/tensor-schedule.schema.json, or text:
/// tensor_schedule_text.hpp) from a file or, for "-", from standard input. Throws tensor::Refusal with file,
/// place, code (`transformation`: there is no such step; `malformed`) and words.
[[nodiscard]] tensor::Schedule read_tensor_schedule(const std::string& path, const Stop& stop = {});

[[nodiscard]] tensor::Schedule parse_tensor_schedule(const Json& json);
/// One step, as schedules have them.
[[nodiscard]] tensor::Step parse_tensor_step(const Json& json);

[[nodiscard]] Json write_tensor_step(const tensor::Step& step);
[[nodiscard]] Json write_tensor_schedule(const tensor::Schedule& schedule);
/// To a file (replaced atomically) or, for "-", to standard output.
void save_tensor_schedule(const std::string& path, const tensor::Schedule& schedule);

}  // namespace tutti::io
