#pragma once

/// tutti as a library, in one header: everything that the command does.
///
/// tutti::app has one function for each command, from files to files. Each takes its options as a struct and
/// an optional app::Watch (progress callback and stop); json_of() converts its result:
///
///     tutti::app::SynthesisOptions options{.instance = "mesh4x4.json", .output = "mesh4x4.schedule.json"};
///     const tutti::app::Synthesized found = tutti::app::synthesize(options);
///     std::cout << tutti::app::json_of(found).dump(2) << '\n';
///
///     for (const tutti::app::Judged& judged : tutti::app::judge({.files = {"allreduce.xml"}})) …
///
/// The other headers are for programs that hold instances and schedules in memory:
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
/// Tensor programs (docs/tensor-programs.md) are built, transformed and proven equal:
///
///     namespace tensor = tutti::tensor;
///     tensor::Builder b("step", {{"data", 8}}, {{"N", 1'000'000}});
///     const auto g = b.input("g", {"N"}, tensor::DType::F32, {{"data", tensor::Layout::local()}});
///     const auto w = b.state("w", {"N"});
///     b.update(w, w - 0.01 * g.all_reduce("data").named("sum"));
///     const tensor::Program program = b.program();
///     const tensor::Schedule schedule =
///         tutti::io::parse_tensor_schedule_text("split sum rs_ag\nreorder sum.ag past all\nas_slice w\n");
///     const tensor::Program sliced = tutti::rewrite::replay(program, schedule.steps);
///     std::cout << tutti::verify::equivalence(program, sliced).equivalent << '\n';
///     tutti::io::save_tensor_program("sliced.json", sliced);
///
/// tests/api/example_test.cpp has these examples. A verifier alone links tutti_verify.

#include "app/batch.hpp"                    // directories of instances in child processes
#include "app/bound.hpp"                    // lower bounds, with their certificates
#include "app/convert.hpp"                  // schedules to other formats and to plans
#include "app/cost.hpp"                     // what a plan takes on a network, with bound and gap
#include "app/doctor.hpp"                   // which solvers are available
#include "app/judge.hpp"                    // any schedule or plan file to its verdict
#include "app/model.hpp"                    // the model for solvers, as text
#include "app/pareto.hpp"                   // synchronous algorithms: steps, rounds, chunks
#include "app/plan_json.hpp"                // a judged plan as JSON
#include "app/results.hpp"                  // results of batches
#include "app/synthesize.hpp"               // from an instance's file to a verified schedule's
#include "app/topology.hpp"                 // generated, or read from any format
#include "app/view.hpp"                     // HTML pages
#include "bounds/bounds.hpp"                // lower bounds and their certificates
#include "core/instance.hpp"                // topology, groups, collectives, demands
#include "core/schedule.hpp"                // sends
#include "core/verdict.hpp"                 // violations
#include "io/instance_json.hpp"             // instances from and to JSON
#include "io/schedule_json.hpp"             // schedules from and to JSON
#include "io/schedule_stream.hpp"           // large schedules as compact streams
#include "io/symmetric_json.hpp"            // generator forms from and to JSON
#include "io/tensor_json.hpp"               // tensor programs from and to JSON
#include "io/tensor_schedule_json.hpp"      // their schedules
#include "io/tensor_schedule_text.hpp"      // the same as text
#include "rewrite/schedule.hpp"             // schedules applied to tensor programs
#include "symmetry/symmetric_schedule.hpp"  // schedules in generator form
#include "synth/synthesize.hpp"             // the synthesizer
#include "tensor/builder.hpp"               // tensor programs in C++
#include "verify/schedule_verifier.hpp"     // the verifier
#include "verify/symmetric_verifier.hpp"    // the verifier of generator forms
#include "verify/tensor/equivalence.hpp"    // the verifier of transformed tensor programs
