#pragma once

#include "models/backend.hpp"
#include "models/encode/question.hpp"
#include "models/routing.hpp"

#include <string>

namespace tutti::test {

/// The first backend that solves linear programs; null, with a message, where none is built in.
[[nodiscard]] const models::Backend* linear_backend();

/// What the question answers, in words: "found" (a valid schedule within the horizon), "none", or what is
/// wrong.
[[nodiscard]] std::string answer_to(const models::Routing& routing, const models::Question& question,
                                    models::Units64 horizon, const models::Backend& backend,
                                    bool presolve = true);

}  // namespace tutti::test
