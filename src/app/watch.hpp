#pragma once

#include "core/stop.hpp"

#include <atomic>
#include <functional>
#include <optional>
#include <string>

namespace tutti::app {

/// What a call gets from its caller: a callback for progress, and a way to stop it.
struct Watch {
    /// Called with one line of progress at a time, without a newline. May be empty.
    std::function<void(const std::string&)> say{};
    const std::atomic<bool>* interrupted = nullptr;  ///< raised to end the work early; may be null

    /// A stop after that many seconds, or when interrupted.
    [[nodiscard]] Stop stop(std::optional<double> seconds = {}) const {
        return Stop(seconds ? std::optional(Stop::Seconds(*seconds)) : std::nullopt, interrupted);
    }
    [[nodiscard]] bool was_interrupted() const { return interrupted != nullptr && interrupted->load(); }
};

}  // namespace tutti::app
