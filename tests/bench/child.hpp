#pragma once

#include "core/stop.hpp"

#include <cstddef>
#include <functional>
#include <string>

namespace tutti::bench {

/// What became of a child process: what it said, or else how it died.
struct ChildEnd {
    std::string said;
    std::string death;  ///< empty: it ended as it should
};

/// Does the work in a process of its own, so that a crash, a hang or a flood of memory costs one figure and
/// not the table. Killed after so many seconds by the clock.
[[nodiscard]] ChildEnd in_child(const std::function<std::string()>& work, Stop::Seconds most,
                                std::size_t most_bytes);

/// This process and its children on one core, the last that it may use. Returns its number, or -1 if that
/// cannot be.
int pin_to_one_core();

}  // namespace tutti::bench
