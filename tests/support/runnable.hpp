#pragma once

#include "lang/trace.hpp"
#include "plan/msccl_plan.hpp"
#include "run/local_call.hpp"
#include "verify/plan/judged_program.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace tutti::test {

/// What a plan is judged as, one program for each mode. The plan may be wrong.
struct Runnable {
    std::vector<verify::JudgedProgram> programs{};
    std::shared_ptr<const plan::Condition> condition{};  ///< the programs refer to it
};
[[nodiscard]] Runnable runnable(const plan::MscclPlan& plan);
/// The same of a program of the chunk language, compiled.
[[nodiscard]] Runnable runnable(const lang::Trace& trace);

/// How a call is run.
struct CallCase {
    std::int64_t count = 1000;
    run::ElementType type = run::ElementType::F32;
    run::Operator op = run::Operator::Sum;
    run::Engine engine = run::Engine::Pieces;
    std::size_t workers = 1, piece_bytes = 0;
};
/// Runs a call on test data and compares every element.
[[nodiscard]] run::TestData::Check run_once(const run::Executable& executable, const CallCase& call,
                                            std::uint64_t salt = 1);
/// Runs a call on numbers of which every order of additions would give other bits, and returns all outputs.
[[nodiscard]] std::vector<std::byte> outputs_of(const run::Executable& executable, const CallCase& call);

}  // namespace tutti::test
