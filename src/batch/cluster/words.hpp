#pragma once

#include "batch/task.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace tutti::batch::cluster {

/// What ranks say to each other: JSON objects, one per message. A worker begins with Hello, and rank 0
/// answers with Welcome or closes. Then rank 0 says Begin any number of times and End; the worker tells
/// TaskEvent (batch/message.hpp), and kBeat when there is none.

/// A worker: who it is, and that it knows the secret.
struct Hello {
    std::string secret;
    unsigned rank = 0;
    unsigned cores = 1;  ///< threads at a time
    std::string host{};
};

/// Rank 0: what holds for all tasks.
struct Welcome {
    std::string folder;               ///< where rank 0 is, which its paths are relative to
    std::optional<unsigned> cores{};  ///< in place of the worker's own choice
    Limits limits{};
};

/// Rank 0: a task to do.
struct Begin {
    std::size_t number = 0;
    Task task;
};

inline constexpr std::string_view kBeat = R"({"beat":true})";
inline constexpr std::string_view kEnd = R"({"end":true})";

[[nodiscard]] std::string text_of(const Hello& hello);
[[nodiscard]] std::string text_of(const Welcome& welcome);
[[nodiscard]] std::string text_of(const Begin& begin);

/// Throw InputError for anything else.
[[nodiscard]] Hello hello_in(std::string_view text);
[[nodiscard]] Welcome welcome_in(std::string_view text);
[[nodiscard]] Begin begin_in(std::string_view text);

}  // namespace tutti::batch::cluster
