#pragma once

#include "core/stop.hpp"
#include "tensor/program.hpp"
#include "tensor/schedule.hpp"

#include <string>

namespace tutti::app {

/// A tensor program after its schedule.
struct ScheduledProgram {
    tensor::Schedule schedule;
    tensor::Program program;
};

/// Reads the schedule and applies it. Throws tensor::Refusal with the file; of a step that is refused it also
/// says where the schedule names another program. (That alone is no fault: programs are renamed.)
[[nodiscard]] ScheduledProgram scheduled_program(const tensor::Program& program,
                                                 const std::string& program_file, const std::string& file,
                                                 const Stop& stop);

}  // namespace tutti::app
