#pragma once

#include "text/safe_text.hpp"

#include <cstddef>

/// What terminals obey. No other file writes such codes.
namespace tutti::text {

enum class Tone { Plain, Good, Bad, Quiet, Strong };

/// The text in the colour of its tone, where colours are on.
[[nodiscard]] SafeText toned(Tone tone, const SafeText& text, bool colours);

/// To the first column, `lines` lines up.
[[nodiscard]] SafeText line_start(std::size_t lines = 0);
/// Clears the rest of the line.
[[nodiscard]] SafeText clear_line();
/// Clears the rest of the line and all below.
[[nodiscard]] SafeText clear_below();

}  // namespace tutti::text
