#include "app/made_for.hpp"

#include "app/schedule_output.hpp"
#include "io/instance_json.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace tutti::app {

std::vector<std::string> notes_on_origin(const std::string& file, const io::OpenSchedule& schedule,
                                         const Instance& instance) {
    std::vector<std::string> notes;
    const bool nameless = schedule.instance == io::kStdinName || instance.name() == io::kStdinName;
    if (schedule.instance != instance.name() && !nameless) {
        notes.push_back(fmt::format("{} was made for the instance '{}'; this one is '{}'", file,
                                    schedule.instance, instance.name()));
    }
    const std::size_t links = instance.topology().links().size();
    if (schedule.stream &&
        (schedule.stream->chunks != instance.chunks() || schedule.stream->links != links)) {
        notes.push_back(fmt::format("{} was made for {} chunks and {} links; the instance has {} and {}",
                                    file, schedule.stream->chunks, schedule.stream->links, instance.chunks(),
                                    links));
    }
    return notes;
}

std::vector<std::string> notes_on_invalid(const std::string& file, const io::OpenSchedule& schedule,
                                          const Instance& instance, const std::string& instance_file) {
    namespace fs = std::filesystem;
    std::vector<std::string> notes = notes_on_origin(file, schedule, instance);
    const std::string beside = instance_beside(file);
    std::error_code unknown;
    const bool is_other = file != "-" && fs::is_regular_file(beside, unknown) &&
                          !fs::equivalent(beside, instance_file, unknown);
    if (is_other) notes.push_back(fmt::format("{} lies beside it; try that instance", beside));
    return notes;
}

}  // namespace tutti::app
