#include "app/scheduled_program.hpp"

#include "io/tensor_schedule_json.hpp"
#include "rewrite/schedule.hpp"
#include "tensor/refusal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace tutti::app {
namespace {

std::string plain(std::string name) {
    std::ranges::replace(name, '-', '_');
    return name;
}

/// Whether the schedule names the program: by its name or that of its file, with '-' or '_', or not at all.
bool is_of(const tensor::Schedule& schedule, const tensor::Program& program, const std::string& file) {
    const std::string said = plain(schedule.program);
    return said.empty() || said == plain(program.name()) ||
           said == plain(std::filesystem::path(file).stem().string());
}

}  // namespace

ScheduledProgram scheduled_program(const tensor::Program& program, const std::string& program_file,
                                   const std::string& file, const Stop& stop) {
    tensor::Schedule schedule = io::read_tensor_schedule(file, stop);
    try {
        tensor::Program transformed = rewrite::replay(program, schedule.steps);
        return {std::move(schedule), std::move(transformed)};
    } catch (const tensor::Refusal& refusal) {
        if (is_of(schedule, program, program_file)) throw refusal.of_file(file);
        throw tensor::Refusal(refusal.code(),
                              fmt::format("{} (the schedule is for the program '{}', this one is '{}')",
                                          refusal.words(), schedule.program, program.name()),
                              refusal.value(), refusal.place(), file);
    }
}

}  // namespace tutti::app
