#pragma once

#include "models/backend.hpp"

#include <chrono>

namespace tutti::models {

/// A solver's answer before it is checked; `solver` is its name in messages.
struct Claim {
    Ended ended = Ended::Failed;
    std::vector<std::int64_t> values = {};   ///< if it has found any
    std::optional<std::int64_t> bound = {};  ///< on the objective
    std::string words = {};
};

/// The checked answer: values that do not solve the program make it Failed, with the constraint that they
/// break; objective and bound are filled in. A program without objective is Optimal once it has a solution.
[[nodiscard]] Answer checked(std::string_view solver, const Program& program, Claim claim);

/// Seconds since it was made.
class Stopwatch {
  public:
    [[nodiscard]] double seconds() const {
        return std::chrono::duration<double>(Stop::Clock::now() - begin_).count();
    }

  private:
    Stop::Clock::time_point begin_ = Stop::Clock::now();
};

}  // namespace tutti::models
