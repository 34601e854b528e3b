#pragma once

#include "run/shared_memory.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace tutti::run {

/// A team of processes of one user on one machine that anybody started: they find each other by the name of
/// their job. Process 0 makes the memory and hands it to the others over a socket whose name is in no folder
/// and is gone with it, so nothing is left behind however they end.
struct TeamName {
    std::string job;
    std::uint32_t process = 0, processes = 1;
    std::chrono::milliseconds patience{60'000};  ///< for the others to come
};

/// Returns when the memory is there; whether all have joined, the first meeting tells. `check` is called now
/// and then, and may throw. Throws InputError if the numbers do not make a team, LimitError if the others do
/// not come in time.
[[nodiscard]] SharedMemory memory_of_team(const TeamName& name, const std::function<void()>& check);

}  // namespace tutti::run
