#pragma once

#include "plan/condition.hpp"

#include <memory>
#include <string>

namespace tutti::app {

/// A condition by which plans are judged, and its file.
struct NamedCondition {
    std::string file{};
    std::shared_ptr<const plan::Condition> condition{};  ///< null: there is none
};

/// Where the condition of a plan lies: for "dir/algo.xml" that is "dir/algo.condition.json".
[[nodiscard]] std::string condition_beside(const std::string& plan);

/// Throws InputError.
[[nodiscard]] NamedCondition read_condition(const std::string& file);

}  // namespace tutti::app
