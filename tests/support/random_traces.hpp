#pragma once

#include "core/rng.hpp"
#include "lang/trace.hpp"

#include <functional>

namespace tutti::test {

enum class TraceOrigin {
    Algorithm,  ///< does what its collective wants, along random trees and detours
    Broken,     ///< such a one, with a verb dropped, doubled, exchanged or redirected
    Senseless   ///< any verbs
};

/// A chunk program of two to six ranks as a file has it: places go by any of their names, nothing is checked.
/// Any collective, in place or not; scratch buffers that are used again, ranges, several instances,
/// protocols, channels, thread blocks of the program's own.
[[nodiscard]] lang::Trace random_trace(Rng& rng, TraceOrigin origin);

/// Less of the program, as long as `fails` holds: as a custom collective, without verbs, with shorter ranges,
/// fewer instances, no wishes.
[[nodiscard]] lang::Trace shrunk(lang::Trace trace, const std::function<bool(const lang::Trace&)>& fails);

/// The program as a custom collective that wants what it ends with; as it is where its buffers lie otherwise
/// than those of a custom one.
[[nodiscard]] lang::Trace as_custom(lang::Trace trace);

}  // namespace tutti::test
