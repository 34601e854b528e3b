#include "app/tensor_processes.hpp"

#include "app/mpi_module.hpp"
#include "core/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::app {

TensorProcesses::TensorProcesses(std::uint32_t processes, bool mpi, const Watch& watch)
    : processes_(processes), watch_(watch), mpi_(mpi ? open_mpi() : nullptr) {}

std::uint32_t TensorProcesses::count() const {
    return mpi_ != nullptr ? mpi_->processes() : std::max<std::uint32_t>(processes_, 1);
}

void TensorProcesses::check(const tensor::Program& program, bool has_links) const {
    if (processes_ == 0 && mpi_ == nullptr) return;
    if (has_links)
        throw InputError(
            "emulated links have one clock: they go with threads, not with --processes or --mpi");
    if (static_cast<std::int64_t>(count()) > program.mesh().ranks()) {
        throw InputError(
            fmt::format("its {} ranks cannot be spread over {} processes", program.mesh().ranks(), count()));
    }
}

run::ProgramRun TensorProcesses::run(const tensor::Program& program,
                                     const std::vector<run::RankTensors>& inputs,
                                     run::ProgramRunOptions options) const {
    options.processes = processes_;
    options.mpi = mpi_.get();
    options.check = [this] {
        if (watch_.was_interrupted()) throw LimitError("interrupted");
    };
    try {
        return run::run_program(program, inputs, options, watch_.stop());
    } catch (const InternalError& error) {
        if (mpi_ == nullptr) throw;
        if (watch_.say) watch_.say(fmt::format("process {}: {}", mpi_->process(), error.what()));
        mpi_->abort();
        throw;
    }
}

}  // namespace tutti::app
