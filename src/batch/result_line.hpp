#pragma once

#include "io/result_jsonl.hpp"
#include "synth/synthesize.hpp"

namespace tutti::batch {

/// Enters into a line what a synthesis found. Every result of synthesize() is verified.
void enter(io::ResultLine& line, const synth::Result& result);

}  // namespace tutti::batch
