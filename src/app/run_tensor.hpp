#pragma once

#include "app/tensor_network.hpp"
#include "app/tensor_sizes.hpp"
#include "app/watch.hpp"
#include "io/json_view.hpp"
#include "run/program_run.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti::app {

struct RunTensorOptions {
    std::string program{};
    std::string schedule{};  ///< none: as it is written
    std::string inputs{};    ///< a file of numbers (io/tensor_numbers_json.hpp); none: drawn with the seed
    run::Precision precision = run::Precision::Declared;
    TensorSizes sizes{};  ///< instead of the program's own
    std::uint64_t seed = 1;
    run::KernelMode kernels = run::KernelMode::Auto;
    std::size_t calls = 1;
    LinkOptions links{};
    std::string device{};                    ///< a file, to predict times on the links; empty: none
    bool check = false;                      ///< run in the field too, at several sizes
    bool reference = true;                   ///< compare with what the program means
    std::uint32_t processes = 0;             ///< new processes that share memory; 0: threads of this one
    bool mpi = false;                        ///< ranks are spread over the processes that mpirun started
    const run::RunFaults* faults = nullptr;  ///< for tests: of the runs of `check`
    friend bool operator==(const RunTensorOptions&, const RunTensorOptions&) = default;
};

/// An output or an updated state, compared on every rank.
struct TensorOutput {
    std::string name{}, type{};
    std::optional<std::string> difference{};  ///< none: as the program means
};
struct TensorKernel {
    std::string name{};
    std::size_t values = 0;
    double begin = 0, seconds = 0;  ///< of a call
    std::optional<double> predicted{};
};
/// Runs in the field: the same program, threads, waits and buffers, exactly.
struct TensorCheck {
    std::size_t runs = 0;
    std::string difference{};  ///< none: empty
};
struct TensorRun {
    std::string program{};
    std::int64_t ranks = 0;
    std::string
        refused{};       ///< where the schedule's result is not equivalent to the program; then nothing ran
    double seconds = 0;  ///< of a call, the median
    std::array<double, 2> quartiles{};
    std::size_t calls = 1;
    std::size_t memory = 0;  ///< bytes of a rank
    std::optional<double> predicted{};
    std::optional<TensorCheck> check{};
    std::vector<TensorKernel> kernels{};
    std::vector<TensorOutput> outputs{};
    std::size_t compiled = 0;    ///< kernels that were compiled for this run
    double compile_seconds = 0;  ///< which is not in `seconds`, if there is a call before the last
    std::string not_compiled{};  ///< why kernels were interpreted though they should be compiled
    bool compared = false;       ///< false: too large for the reference, or not asked for
    std::uint32_t processes = 1;
    bool is_first = true;  ///< of the processes of MPI: the one that knows all, and speaks
    std::string lost{};    ///< why there is nothing else: a process that took part was lost
    [[nodiscard]] bool wrong() const;
};

/// Runs a tensor program, after its schedule, on threads of this process or in others, and compares every
/// element of every output on every rank with what the program as written means, in f64 (and with the file's
/// outputs). Throws InputError (tensor::Refusal), LimitError.
[[nodiscard]] TensorRun run_tensor(const RunTensorOptions& options, const Watch& watch = {});

/// `program`, `ranks`, `processes`, `verdict`, `seconds` with quartiles, `calls`, `predicted_seconds`,
/// `memory_bytes`, `compiled`, `kernels`, `outputs`, `check`.
[[nodiscard]] io::Json json_of(const TensorRun& run);

}  // namespace tutti::app
