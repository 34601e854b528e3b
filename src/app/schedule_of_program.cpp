#include "app/schedule_of_program.hpp"

#include "core/error.hpp"
#include "io/tensor_schedule_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace tutti::app {
namespace {

std::string plain(std::string name) {
    std::ranges::replace(name, '-', '_');
    return name;
}

}  // namespace

tensor::Schedule read_schedule_of(const tensor::Program& program, const std::string& program_file,
                                  const std::string& file, const Stop& stop) {
    tensor::Schedule schedule = io::read_tensor_schedule(file, stop);
    const std::string said = plain(schedule.program);
    const std::string stem = std::filesystem::path(program_file).stem().string();
    if (said.empty() || said == plain(program.name()) || said == plain(stem)) return schedule;
    throw InputError(
        fmt::format("the schedule is for the program '{}', not for '{}'", schedule.program, program.name()),
        "/program", file);
}

}  // namespace tutti::app
