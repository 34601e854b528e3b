#pragma once

#include "core/error.hpp"

namespace tutti::plan {

/// A file that cannot be read as a plan: an InputError that also has the verdict's code ("xml",
/// "bad-integer", …; the list is in src/verify/plan/README.md).
class PlanError : public InputError {
  public:
    PlanError(std::string code, std::string message, std::string place = {}, std::string file = {})
        : InputError(std::move(message), std::move(place), std::move(file)), code_(std::move(code)) {}
    [[nodiscard]] const std::string& code() const { return code_; }

  private:
    std::string code_;
};

}  // namespace tutti::plan
