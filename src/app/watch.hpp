#pragma once

#include "core/stop.hpp"

#include <atomic>
#include <functional>
#include <optional>
#include <string>

namespace tutti::app {

/// What a call needs of its caller: whom to tell how the work goes, and what ends it early.
struct Watch {
    /// Told one line at a time, without a newline. May be empty.
    std::function<void(const std::string&)> say{};
    const std::atomic<bool>* interrupted = nullptr;  ///< raised to end the work early; may be null

    /// Ends after so many seconds, or when interrupted.
    [[nodiscard]] Stop stop(std::optional<double> seconds = {}) const {
        return Stop(seconds ? std::optional(Stop::Seconds(*seconds)) : std::nullopt, interrupted);
    }
    [[nodiscard]] bool was_interrupted() const { return interrupted != nullptr && interrupted->load(); }
};

}  // namespace tutti::app
