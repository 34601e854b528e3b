#pragma once

/// tutti as a library, in one header.
///
///     const tutti::Instance instance = tutti::io::read_instance("mesh4x4-ag-corners.json");
///     const tutti::synth::Result result = tutti::synth::synthesize(instance, {});
///     std::cout << result.schedule.makespan.count() << " ticks; bound: " << result.bound.value.count() <<
///     '\n';
///
///     tutti::Schedule mine = result.schedule;
///     mine.sends.pop_back();
///     const tutti::Verdict verdict = tutti::verify::verify(instance, mine);
///     for (const tutti::Violation& violation : verdict.violations) std::cout << violation.message << '\n';
///
///     tutti::io::write_schedule_json("corners.schedule.json", result.schedule);
///
/// tests/api/example_test.cpp is this example. Link tutti_synth and tutti_io; a verifier alone links
/// tutti_verify.

#include "bounds/bounds.hpp"                // lower bounds and their certificates
#include "core/instance.hpp"                // topology, groups, collectives, demands
#include "core/schedule.hpp"                // sends
#include "core/verdict.hpp"                 // violations
#include "io/instance_json.hpp"             // instances from and to JSON
#include "io/schedule_json.hpp"             // schedules from and to JSON
#include "io/schedule_stream.hpp"           // large schedules as compact streams
#include "io/symmetric_json.hpp"            // generator forms from and to JSON
#include "symmetry/symmetric_schedule.hpp"  // schedules in generator form
#include "synth/synthesize.hpp"             // the synthesizer
#include "verify/schedule_verifier.hpp"     // the verifier
#include "verify/symmetric_verifier.hpp"    // of generator forms
