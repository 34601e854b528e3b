#pragma once

#include "core/stop.hpp"
#include "tensor/program.hpp"
#include "tensor/schedule.hpp"

#include <string>

namespace tutti::app {

/// Reads a schedule of that tensor program. Throws InputError where it names another one: a schedule says the
/// program's name or that of its file, with '-' or '_'; nothing in a text without a line `program`.
[[nodiscard]] tensor::Schedule read_schedule_of(const tensor::Program& program,
                                                const std::string& program_file, const std::string& file,
                                                const Stop& stop);

}  // namespace tutti::app
