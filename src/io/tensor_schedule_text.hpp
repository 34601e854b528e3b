#pragma once

#include "tensor/schedule.hpp"

#include <string>

namespace tutti::io {

/// Schedules as text, one step on a line; "#" begins a comment:
///
///     program adam
///     split sum rs_ag dim 0
///     split sum reduce_broadcast root 0
///     split sum axes data tensor
///     reorder sum.ag past all
///     reorder sum.ag past div1 m_new
///     distribute w dim 0 axes data
///     as_slice m v
///     fuse step: sum.rs div1 m_new
///     coalesce call: a b
///     overlap mm step pieces 8
///
/// `dim` and `root` are 0 where they are left out, the name of a kernel may be.

/// Throws tensor::Refusal (`transformation`, `malformed`) with "line:1" as its place.
[[nodiscard]] tensor::Schedule parse_tensor_schedule_text(const std::string& text);

/// One line, without its end. Names with blanks cannot be read back.
[[nodiscard]] std::string tensor_step_text(const tensor::Step& step);
/// All lines.
[[nodiscard]] std::string tensor_schedule_text(const tensor::Schedule& schedule);

}  // namespace tutti::io
