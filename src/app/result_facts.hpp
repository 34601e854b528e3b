#pragma once

#include "core/variation.hpp"
#include "io/result_jsonl.hpp"
#include "synth/synthesize.hpp"

namespace tutti::app {

/// Enters the instance in numbers: collective, npus, …, bytes, which are those that were asked for or else
/// the instance's, where all its collectives are of one kind and size; and what was asked for.
void enter(io::ResultLine& line, const Instance& instance, const Variation& variation);

/// Enters what a synthesis found: makespan, bound, …, what became of each collective, bandwidths. Every
/// result of synth::synthesize() is verified. The instance's numbers must be there already.
void enter(io::ResultLine& line, const Instance& instance, const synth::Result& result);

}  // namespace tutti::app
