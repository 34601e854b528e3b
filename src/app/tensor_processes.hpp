#pragma once

#include "app/watch.hpp"
#include "run/program_run.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace tutti::app {

/// Where the ranks of a tensor program run: on threads of this process, in new processes, or in those that
/// mpirun started.
class TensorProcesses {
  public:
    /// `processes`: new ones; 0: none. `watch` must outlive this. Throws InputError where there is no MPI.
    TensorProcesses(std::uint32_t processes, bool mpi, const Watch& watch);

    /// Throws InputError where the ranks cannot be spread over them, or messages should take time.
    void check(const tensor::Program& program, bool has_links) const;
    /// Whether other programs can have no fewer ranks.
    [[nodiscard]] bool are_fixed() const { return mpi_ != nullptr; }
    [[nodiscard]] std::uint32_t count() const;
    [[nodiscard]] bool is_first() const { return mpi_ == nullptr || mpi_->process() == 0; }

    /// run::run_program there. A process of MPI that fails by itself ends the others, which would wait for
    /// it for ever.
    [[nodiscard]] run::ProgramRun run(const tensor::Program& program,
                                      const std::vector<run::RankTensors>& inputs,
                                      run::ProgramRunOptions options) const;

  private:
    std::uint32_t processes_;
    const Watch& watch_;
    std::unique_ptr<run::MpiLibrary> mpi_;
};

}  // namespace tutti::app
