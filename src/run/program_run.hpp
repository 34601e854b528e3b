#pragma once

#include "core/stop.hpp"
#include "run/kernel_coder.hpp"
#include "run/local_tensor.hpp"
#include "tensor/program.hpp"

#include <map>
#include <string>
#include <vector>

namespace tutti::run {

/// Values by name, of one rank.
using RankTensors = std::map<std::string, LocalTensor>;

struct KernelTime {
    std::string name{};
    std::vector<tensor::ValueId> values{};
    double seconds = 0;  ///< of the rank that took longest
};

struct ProgramRun {
    std::vector<RankTensors> outputs{};  ///< by rank: outputs and updates; not where another rank is the root
    std::vector<KernelTime> kernels{};   ///< those that do work, in order
    double seconds = 0;
    std::size_t compiled = 0;  ///< kernels that were compiled, not found
    double compile_seconds = 0;
    std::string not_compiled{};  ///< why, if a kernel should have been
};

struct ProgramRunOptions {
    Precision precision = Precision::Declared;
    KernelMode kernels = KernelMode::Auto;
    std::size_t calls = 1;  ///< the same call again, on the same inputs; times are of the last
};

/// Runs a program, a thread for each rank, kernel after kernel; the pointwise values of a kernel are computed
/// tile by tile, and what only they read is never in memory. Collectives are direct exchanges between the
/// threads; an overlap's kernels run one after the other, which changes no value.
///
/// `inputs`: by rank, its part of every input. Throws InputError where one is missing or has another shape,
/// LimitError when stopped.
[[nodiscard]] ProgramRun run_program(const tensor::Program& program, const std::vector<RankTensors>& inputs,
                                     const ProgramRunOptions& options = {}, const Stop& stop = {});

}  // namespace tutti::run
