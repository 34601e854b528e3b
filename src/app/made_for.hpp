#pragma once

#include "core/instance.hpp"
#include "io/schedule_stream.hpp"

#include <string>
#include <vector>

namespace tutti::app {

/// Notes on a schedule that names another instance, or whose stream has other numbers of chunks or links. It
/// may still be valid for this instance.
[[nodiscard]] std::vector<std::string> notes_on_origin(const std::string& file,
                                                       const io::OpenSchedule& schedule,
                                                       const Instance& instance);

/// The same for a schedule that is not valid for the instance; and the instance that lies beside it, which
/// synth writes where it varied the one it was given, unless that is the one in `instance_file`.
[[nodiscard]] std::vector<std::string> notes_on_invalid(const std::string& file,
                                                        const io::OpenSchedule& schedule,
                                                        const Instance& instance,
                                                        const std::string& instance_file);

}  // namespace tutti::app
