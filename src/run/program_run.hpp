#pragma once

#include "core/stop.hpp"
#include "run/kernel_coder.hpp"
#include "run/local_tensor.hpp"
#include "run/mpi_library.hpp"
#include "run/program_tasks.hpp"
#include "tensor/program.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace tutti::run {

/// Values by name, of one rank.
using RankTensors = std::map<std::string, LocalTensor>;

struct KernelTime {
    std::string name{};
    std::vector<tensor::ValueId> values{};
    double begin = 0;    ///< since the call's begin, of the rank that turned to it first
    double seconds = 0;  ///< until it was done, of the rank that took longest
};

struct ProgramRun {
    std::vector<RankTensors> outputs{};  ///< by rank: outputs and updates; not where another rank is the root
    std::vector<KernelTime> kernels{};   ///< those that do work, in order: of the call that took the median
    std::vector<double> times{};         ///< seconds of each timed call, of the rank that took longest
    double seconds = 0;                  ///< their median
    std::size_t memory = 0;              ///< bytes of a rank, planned
    std::size_t compiled = 0;            ///< kernels that were compiled, not found
    double compile_seconds = 0;
    std::string not_compiled{};  ///< why, if a kernel should have been
    std::string other_bits{};    ///< in the field: who had other bits when the call was made again
};

struct ProgramRunOptions {
    Arithmetic arithmetic{};
    KernelMode kernels = KernelMode::Auto;
    /// Calls that are timed. One is the call whose outputs are returned; with more, that one comes before
    /// them, states go on from call to call, and in the end it is made again, on the same inputs, which must
    /// give the same bits.
    std::size_t calls = 1;
    const ProgramNetwork* network = nullptr;  ///< none: messages take no time
    /// New processes of this machine, each with one or more of the ranks; they share the ranks' memories. 0:
    /// a thread of this process for each rank. Not with a network.
    std::uint32_t processes = 0;
    /// The ranks are spread over the processes that mpirun started, and pass messages on. All get all
    /// outputs, the first one the times of all. Not with a network or new processes.
    MpiLibrary* mpi = nullptr;
    /// Called now and then while this process waits for others; throws to end the call.
    std::function<void()> check = [] {};
    const RunFaults* faults = nullptr;  ///< for tests
};

/// Runs a program with a thread for each rank, here or in other processes. All memory is planned and touched
/// before the first call; a call allocates nothing. Pointwise values of a kernel are one loop, and what only
/// it reads is never in memory; collectives read the other ranks' memory, add up in the order of ranks, and
/// are done as the loops of their kernel go; the kernels of an overlap work on pieces. So results have the
/// same bits whatever the schedule.
///
/// `inputs`: by rank, its part of every input. Throws InputError where one is missing or has another shape,
/// LimitError when stopped, InternalError where the call that is made again has other bits, LostPeerError
/// where a process ends too early.
[[nodiscard]] ProgramRun run_program(const tensor::Program& program, const std::vector<RankTensors>& inputs,
                                     const ProgramRunOptions& options = {}, const Stop& stop = {});

}  // namespace tutti::run
